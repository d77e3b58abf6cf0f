//! The lock of a namespace: a run holds it exclusively or with `--shared`; a load and a cleanup always hold it
//! exclusively. It consists of named locks of the control connection, so it ends with mindful on every path.
//!
//! Named locks cannot be shared. So there is one for entering or working exclusively, and a slot for each run.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mindful_core::{Error, Result};
use mindful_sql::dataset::run_lock::{self, LINGERS, RETRY};
use mysql_common::row::Row;
use mysql_common::value::convert::from_value;

use crate::connect::Conn;
use crate::connect::link::Link;
use crate::error::Failure;
use crate::names::Namespace;

const SLOTS: usize = 16;

/// The part of the lock that a run of this process holds: the slot of a control connection.
#[derive(Default)]
pub(crate) struct RunLock(Mutex<Option<usize>>);

impl RunLock {
    /// Holds a slot while the control connection is open; refuses if others have one too, unless `shared`.
    pub(crate) fn hold(&self, link: &Link, namespace: &Namespace, shared: bool) -> Result<()> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        link.run("locking the namespace", |conn| {
            // The connection may be another by now, on a restarted server.
            if let Some(slot) = *held
                && is_own(conn, namespace, slot)?
            {
                return Ok(());
            }
            enter(conn, namespace)?;
            let slot = match in_peace(conn, namespace, shared) {
                Ok(()) => slot(conn, namespace),
                Err(refused) => Err(refused),
            };
            release(conn, namespace)?;
            *held = Some(slot?);
            Ok(())
        })
    }
}

/// Does `work`, which changes the content of the namespace, while no other process uses it.
pub(crate) fn with_exclusive_lock<T>(
    link: &Link,
    namespace: &Namespace,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    link.run("locking the namespace", |conn| {
        enter(conn, namespace)?;
        in_peace(conn, namespace, false).inspect_err(|_| {
            // The refusal is reported, even if the release fails.
            let _ = release(conn, namespace);
        })
    })?;
    let done = work();
    // A connection that is gone has left its locks.
    let _ = link.run("unlocking the namespace", |conn| release(conn, namespace));
    done
}

pub(crate) fn others(conn: &mut Conn, namespace: &Namespace) -> Result<Option<String>, Failure> {
    let own = conn.connection_id();
    let looks: Vec<String> =
        (0..=SLOTS).map(|slot| format!("IS_USED_LOCK('{}')", name(namespace, (slot > 0).then_some(slot)))).collect();
    let row: Option<Row> = conn.query_first(format!("SELECT {}", looks.join(", ")))?;
    let users = row.map(Row::unwrap).unwrap_or_default().into_iter().filter_map(from_value);
    let mut users: Vec<u32> = users.filter(|user| *user != own).collect();
    users.sort_unstable();
    users.dedup();
    let list = users.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    Ok(Some(list).filter(|list| !list.is_empty()))
}

/// Waits a little until no run has a slot.
fn in_peace(conn: &mut Conn, namespace: &Namespace, shared: bool) -> Result<(), Failure> {
    if shared {
        return Ok(());
    }
    let begun = Instant::now();
    while let Some(users) = others(conn, namespace)? {
        if begun.elapsed() > LINGERS {
            return Err(in_use(namespace, &users).into());
        }
        std::thread::sleep(RETRY);
    }
    Ok(())
}

fn enter(conn: &mut Conn, namespace: &Namespace) -> Result<(), Failure> {
    if acquire(conn, &name(namespace, None), LINGERS.as_secs())? {
        return Ok(());
    }
    let users = others(conn, namespace)?.unwrap_or_default();
    Err(in_use(namespace, &users).into())
}

fn slot(conn: &mut Conn, namespace: &Namespace) -> Result<usize, Failure> {
    for slot in 1..=SLOTS {
        if acquire(conn, &name(namespace, Some(slot)), 0)? {
            return Ok(slot);
        }
    }
    Err(Error::target(format!("{SLOTS} runs use the namespace {}", namespace.quoted()), "wait until one ends").into())
}

fn acquire(conn: &mut Conn, name: &str, seconds: u64) -> Result<bool, Failure> {
    let taken: Option<Option<u8>> = conn.query_first(format!("SELECT GET_LOCK('{name}', {seconds})"))?;
    Ok(taken.flatten() == Some(1))
}

fn is_own(conn: &mut Conn, namespace: &Namespace, slot: usize) -> Result<bool, Failure> {
    let user: Option<Option<u32>> =
        conn.query_first(format!("SELECT IS_USED_LOCK('{}')", name(namespace, Some(slot))))?;
    Ok(user.flatten() == Some(conn.connection_id()))
}

fn release(conn: &mut Conn, namespace: &Namespace) -> Result<(), Failure> {
    conn.query_drop(format!("SELECT RELEASE_LOCK('{}')", name(namespace, None)))
}

fn in_use(namespace: &Namespace, users: &str) -> Error {
    let by = if users.is_empty() { String::new() } else { format!(" (connection {users})") };
    run_lock::in_use_error(&format!("namespace {}{by}", namespace.quoted()))
}

/// The lock of the whole, or a slot. A name has at most 64 letters, as a database has, so it holds a sum of that.
fn name(namespace: &Namespace, slot: Option<usize>) -> String {
    // FNV-1a: names that differ in their letters differ here.
    let sum = namespace
        .name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let slot = slot.map_or(String::new(), |slot| format!(" {slot}"));
    format!("mindful {sum:016x}{slot}")
}
