//! Work between steps, so that a step does not pay for an earlier one.

use std::time::{Duration, Instant};

use mindful_core::Result;
use mindful_core::contract::event::{Events, emit_note};
use mindful_core::contract::stop_flag::StopFlag;

use crate::connect::Conn;
use crate::connect::link::Link;
use crate::error::Failure;
use crate::observe::status;

/// Time limit of purge and page cleaner.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

const HISTORY_LEFT: f64 = 128.0;
/// Time without progress after which purge is idle: it checks twice a second.
const PURGE_STANDS: Duration = Duration::from_secs(2);

const DIRTY: &str = "Innodb_buffer_pool_pages_dirty";
/// Pages that may stay dirty: the server keeps some of its own.
const DIRTY_LEFT: f64 = 4.0;
/// Time without progress after which the page cleaner is idle, even on a busy device.
const CLEANER_STANDS: Duration = Duration::from_secs(10);

/// Writes back all pages of `tables`, and runs `work` while they do not change. `None` if the role lacks the privilege.
pub(crate) fn exported<T>(
    conn: &mut Conn,
    tables: &[String],
    work: impl FnOnce(&mut Conn) -> Result<T, Failure>,
) -> Result<Option<T>, Failure> {
    match conn.query_drop(format!("FLUSH TABLES {} FOR EXPORT", tables.join(", "))) {
        Err(failure) if failure.lacks_right() => return Ok(None),
        flushed => flushed?,
    }
    let done = work(conn);
    conn.query_drop("UNLOCK TABLES")?;
    done.map(Some)
}

/// Lets purge finish, so that no step pays for obsolete row versions, and writes back all pages of `tables`: reads then
/// cause no writes. On a `private` server the undo log and all other dirty pages are written back as well.
pub(crate) fn before_reads(
    link: &Link,
    tables: &[String],
    private: bool,
    events: &dyn Events,
    stop: &StopFlag,
) -> Result<()> {
    if tables.is_empty() {
        return Ok(());
    }
    link.run_on_tables("settling after updates", |conn| {
        match purge_left(conn, private, stop)? {
            Some(left) if left <= HISTORY_LEFT => {}
            Some(_) => {
                emit_note(events, "purge has not finished after the updates: its reads and writes are in the figures");
            }
            None => emit_note(
                events,
                "the role may not read the backlog of purge, so mindful does not wait for it: GRANT PROCESS ON *.* to the role",
            ),
        }
        if exported(conn, tables, |_| Ok(()))?.is_none() {
            emit_note(
                events,
                "the role may not FLUSH TABLES … FOR EXPORT, so the server writes back in its own time: \
                 GRANT RELOAD ON *.* to the role",
            );
        }
        if private { written_back(conn, stop) } else { Ok(()) }
    })
}

/// Makes the page cleaner write back all dirty pages, by a limit of 0.
fn written_back(conn: &mut Conn, stop: &StopFlag) -> Result<(), Failure> {
    let sql = "SELECT @@GLOBAL.innodb_max_dirty_pages_pct, @@GLOBAL.innodb_max_dirty_pages_pct_lwm";
    let Some((most, low)) = conn.query_first::<(f64, f64)>(sql)? else { return Ok(()) };
    // MySQL lowers the second with the first.
    conn.query_drop("SET GLOBAL innodb_max_dirty_pages_pct = 0")?;
    let dirty = || Ok(status::read(conn, &[DIRTY])?.get(DIRTY).copied());
    let waited = fallen_to(DIRTY_LEFT, CLEANER_STANDS, stop, dirty);
    conn.query_drop(format!("SET GLOBAL innodb_max_dirty_pages_pct = {most}"))?;
    conn.query_drop(format!("SET GLOBAL innodb_max_dirty_pages_pct_lwm = {low}"))?;
    waited.map(drop)
}

/// Waits until purge has finished; returns the number of transactions left, `None` if the role may not see it. On a
/// `private` server, which has no other work, the wait lasts until nothing is left: purge reaches the last transactions
/// half a second late, and then reads hundreds of pages.
fn purge_left(conn: &mut Conn, private: bool, stop: &StopFlag) -> Result<Option<f64>, Failure> {
    let goal = if private { 0.0 } else { HISTORY_LEFT };
    fallen_to(goal, PURGE_STANDS, stop, || status::history(conn))
}

/// Polls until `left` has fallen to `goal`, or has not fallen for the time `stands`; returns the rest.
fn fallen_to(
    goal: f64,
    stands: Duration,
    stop: &StopFlag,
    mut left: impl FnMut() -> Result<Option<f64>, Failure>,
) -> Result<Option<f64>, Failure> {
    let begun = Instant::now();
    let mut least = (f64::MAX, begun);
    loop {
        let Some(now) = left()? else { return Ok(None) };
        if now < least.0 {
            least = (now, Instant::now());
        }
        let over = now <= goal || least.1.elapsed() > stands || begun.elapsed() > PATIENCE;
        if over || stop.is_requested() {
            return Ok(Some(now));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}
