//! The lock of a namespace: a run holds it exclusively or with `--shared`; a load and a cleanup always hold it
//! exclusively. It is an advisory lock of the control connection, so it ends with mindful on every path.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use mindful_core::Result;
use mindful_sql::dataset::run_lock::{self, LINGERS, RETRY};
use tokio_postgres::Client;

use crate::connect::link::Link;
use crate::connect::{Connection, pooled};
use crate::error::Failure;
use crate::names::Namespace;

#[derive(Default)]
pub(crate) struct RunLock(Mutex<Option<Held>>);

struct Held {
    by: Weak<Connection>,
    pid: i32,
}

impl RunLock {
    /// Holds a share of the lock while the control connection is open; refuses if others hold one too, unless `shared`.
    pub(crate) fn hold(&self, link: &Link, namespace: &Namespace, shared: bool) -> Result<()> {
        let control = link.control()?;
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        link.run("locking the namespace", async {
            let pid: i32 = control.query_one("SELECT pg_backend_pid()", &[]).await?.get(0);
            let same = held.as_ref().filter(|held| held.by.upgrade().is_some_and(|by| Arc::ptr_eq(&by, &control)));
            match same {
                Some(held) if held.pid == pid => return Ok(()),
                Some(_) => return Err(pooled().into()),
                None if shared => acquire(&control, include_str!("../../sql/lock/share.sql"), namespace).await?,
                None => {
                    acquire(&control, include_str!("../../sql/lock/alone.sql"), namespace).await?;
                    // The share is taken before the exclusive lock is released, so no other process comes between.
                    acquire(&control, include_str!("../../sql/lock/share.sql"), namespace).await?;
                    release(&control, namespace).await?;
                }
            }
            *held = Some(Held { by: Arc::downgrade(&control), pid });
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
    let control = link.control()?;
    link.run("locking the namespace", acquire(&control, include_str!("../../sql/lock/alone.sql"), namespace))?;
    let done = work();
    // A connection that is gone has left its locks.
    let _ = link.run("unlocking the namespace", release(&control, namespace));
    done
}

/// The server processes of others that use the namespace, as a list of their numbers.
pub(crate) async fn others(client: &Client, namespace: &Namespace) -> Result<Option<String>, tokio_postgres::Error> {
    Ok(client.query_one(include_str!("../../sql/lock/others.sql"), &[&namespace.name]).await?.get("pids"))
}

async fn acquire(client: &Client, sql: &str, namespace: &Namespace) -> Result<(), Failure> {
    let begun = Instant::now();
    loop {
        if client.query_one(sql, &[&namespace.name]).await?.get("taken") {
            return Ok(());
        }
        if begun.elapsed() > LINGERS {
            break;
        }
        tokio::time::sleep(RETRY).await;
    }
    let by = others(client, namespace).await?.map_or_else(String::new, |pids| format!(" (server process {pids})"));
    Err(run_lock::in_use_error(&format!("namespace {}{by}", namespace.quoted())).into())
}

async fn release(client: &Client, namespace: &Namespace) -> Result<(), Failure> {
    client.query_one(include_str!("../../sql/lock/release.sql"), &[&namespace.name]).await?;
    Ok(())
}
