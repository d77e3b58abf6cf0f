//! What has to be done so that a step does not pay for what came before it.

use std::time::{Duration, Instant};

use mindful_core::Result;
use mindful_core::engine::Stop;
use mindful_core::event::{Events, note};
use mysql::Conn;
use mysql::prelude::Queryable;

use crate::error::{Failure, lacks_right};
use crate::link::Link;
use crate::status;

/// How long purge and page cleaner may take over what is left.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Transactions that purge may leave: an idle server keeps some tens, and they are nothing beside a step's reads.
const HISTORY_LEFT: f64 = 128.0;
/// One that has left as many for so long works at nothing.
const STANDS: Duration = Duration::from_secs(2);

/// Writes everything back that belongs to `tables`, and does `work` while nobody changes them. `None` where the role
/// lacks the right to it.
pub fn exported<T>(
    conn: &mut Conn,
    tables: &[String],
    work: impl FnOnce(&mut Conn) -> Result<T, Failure>,
) -> Result<Option<T>, Failure> {
    match conn.query_drop(format!("FLUSH TABLES {} FOR EXPORT", tables.join(", "))) {
        Err(error) if lacks_right(&error) => return Ok(None),
        flushed => flushed?,
    }
    let done = work(conn);
    conn.query_drop("UNLOCK TABLES")?;
    done.map(Some)
}

/// Lets purge finish, so that no step pays for row versions that are of no use to anyone, and writes back all pages of
/// `tables`: reads write nothing then.
pub fn before_reads(link: &Link, tables: &[String], events: &dyn Events, stop: &Stop) -> Result<()> {
    if tables.is_empty() {
        return Ok(());
    }
    link.run("settling what updates left", |conn| {
        if !purged(conn, stop)? {
            note(events, "purge is not done with what updates left: its reads and writes are in the figures");
        }
        if exported(conn, tables, |_| Ok(()))?.is_none() {
            note(events, "no right to FLUSH TABLES … FOR EXPORT (RELOAD): the server writes back in its own time");
        }
        Ok(())
    })
}

/// Waits until purge has nothing left to do; whether it came to that.
fn purged(conn: &mut Conn, stop: &Stop) -> Result<bool, Failure> {
    let begun = Instant::now();
    let mut last = (f64::MAX, begun);
    loop {
        // Where nobody tells how long the history is, nothing is waited for.
        let left = status::history(conn)?.unwrap_or(0.0);
        if left < last.0 {
            last = (left, Instant::now());
        }
        if left <= HISTORY_LEFT || last.1.elapsed() > STANDS {
            return Ok(left <= HISTORY_LEFT);
        }
        if begun.elapsed() > PATIENCE || stop.requested() {
            return Ok(false);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}
