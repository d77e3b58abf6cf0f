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

const DIRTY: &str = "Innodb_buffer_pool_pages_dirty";
/// Pages that may stay dirty: the server keeps some of its own.
const DIRTY_LEFT: f64 = 4.0;
/// How long the page cleaner may take over them.
const CLEANING: Duration = Duration::from_secs(10);

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
/// `tables`: reads write nothing then. On a `private` server the undo log and what else is dirty is written back as well.
pub fn before_reads(link: &Link, tables: &[String], private: bool, events: &dyn Events, stop: &Stop) -> Result<()> {
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
        if private { written_back(conn, stop) } else { Ok(()) }
    })
}

/// Has the page cleaner write back all that is dirty, as it does where none may be.
fn written_back(conn: &mut Conn, stop: &Stop) -> Result<(), Failure> {
    let sql = "SELECT @@GLOBAL.innodb_max_dirty_pages_pct, @@GLOBAL.innodb_max_dirty_pages_pct_lwm";
    let Some((most, low)) = conn.query_first::<(f64, f64), _>(sql)? else { return Ok(()) };
    // MySQL lowers the second with the first.
    conn.query_drop("SET GLOBAL innodb_max_dirty_pages_pct = 0")?;
    let begun = Instant::now();
    let waited = loop {
        match status::read(conn, &[DIRTY]) {
            Ok(read) if read.get(DIRTY).is_some_and(|dirty| *dirty > DIRTY_LEFT) => {}
            Ok(_) => break Ok(()),
            Err(error) => break Err(error),
        }
        if begun.elapsed() > CLEANING || stop.requested() {
            break Ok(());
        }
        std::thread::sleep(LOOK_AGAIN);
    };
    conn.query_drop(format!("SET GLOBAL innodb_max_dirty_pages_pct = {most}"))?;
    conn.query_drop(format!("SET GLOBAL innodb_max_dirty_pages_pct_lwm = {low}"))?;
    waited
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
