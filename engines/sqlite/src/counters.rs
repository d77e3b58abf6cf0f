//! SQLite's own counters, which each session publishes when a slice ends.

use mindful_core::contract::description::{ExpectedLog, LogImages};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mindful_core::contract::metric::{Counter, Metric, Phase, SampledSource, Sampler, Scope};
use rusqlite::{Connection, ffi};

/// Header of a page in the log, bytes.
pub(crate) const FRAME_HEADER: u64 = 24;

#[derive(Debug, Default)]
pub(crate) struct Totals {
    hit: AtomicU64,
    miss: AtomicU64,
    write: AtomicU64,
    spill: AtomicU64,
    commits: AtomicU64,
    writer_wait_us: AtomicU64,
    commit_us: AtomicU64,
}

impl Totals {
    /// Adds the counts of `connection` since the last call, and its session's own counts.
    pub(crate) fn publish(&self, connection: &Connection, commits: u64, commit_us: u64, writer_wait_us: u64) {
        let add = |total: &AtomicU64, by| total.fetch_add(by, Ordering::Release);
        add(&self.hit, drain(connection, ffi::SQLITE_DBSTATUS_CACHE_HIT));
        add(&self.miss, drain(connection, ffi::SQLITE_DBSTATUS_CACHE_MISS));
        add(&self.write, drain(connection, ffi::SQLITE_DBSTATUS_CACHE_WRITE));
        add(&self.spill, drain(connection, ffi::SQLITE_DBSTATUS_CACHE_SPILL));
        add(&self.commits, commits);
        add(&self.commit_us, commit_us);
        add(&self.writer_wait_us, writer_wait_us);
    }
}

pub(crate) fn forget(connection: &Connection) {
    for counter in [ffi::SQLITE_DBSTATUS_CACHE_HIT, ffi::SQLITE_DBSTATUS_CACHE_MISS] {
        drain(connection, counter);
    }
}

/// Reads a counter of the connection and sets it back, so that its 32 bits never overflow.
#[expect(unsafe_code, reason = "sqlite3_db_status has no safe wrapper, and no pragma returns its counters")]
fn drain(connection: &Connection, counter: i32) -> u64 {
    let (mut current, mut highest) = (0, 0);
    // rusqlite 0.41 has `Statement::get_status`, which does not count pages, and nothing for `sqlite3_db_status`.
    // SAFETY: the handle is open as long as `connection` lives, and is used on its own thread; both pointers are to
    // locals of the type the call writes.
    unsafe { ffi::sqlite3_db_status(connection.handle(), counter, &raw mut current, &raw mut highest, 1) };
    u64::try_from(current).unwrap_or(0)
}

fn metrics() -> Vec<Metric> {
    vec![
        Metric::counter("cache_hit", "blocks", "Pages found in the sessions' own caches (SQLITE_DBSTATUS_CACHE_HIT)"),
        Metric::counter("cache_miss", "blocks", "Pages read from the file or its log (SQLITE_DBSTATUS_CACHE_MISS)"),
        Metric::counter("cache_write", "blocks", "Pages written to the log (SQLITE_DBSTATUS_CACHE_WRITE)"),
        Metric::counter("cache_spill", "blocks", "Pages written before their commit (SQLITE_DBSTATUS_CACHE_SPILL)"),
        Metric::counter("writer_wait", "us", "Time sessions waited for another writer"),
        Metric::counter(Counter::LogicalReads, "blocks", "cache_hit and cache_miss together"),
        Metric::counter(Counter::PhysicalReads, "blocks", "cache_miss"),
        Metric::counter(Counter::PhysicalWrites, "blocks", "cache_write; what checkpoints copy later is not counted"),
        Metric::counter(Counter::LogBytes, "bytes", "cache_write times the length of a page and its frame header"),
        Metric::counter(Counter::LogRecords, "1", "cache_write: a frame of the log is a page"),
        Metric::counter(Counter::LogImages, "1", "cache_write: each frame is a whole page"),
        Metric::counter(Counter::Commits, "1", "Transactions committed"),
        Metric::counter(Counter::CommitTimeUs, "us", "Time sessions waited for COMMIT: writes and syncs of the WAL"),
    ]
}

pub(crate) fn sampler(totals: &Arc<Totals>, page_bytes: u64) -> Box<dyn Sampler> {
    let t = Arc::clone(totals);
    SampledSource::new("sqlite3_db_status", metrics()).with(Scope::Database, Phase::Settled).read_by(move || {
        let total = |total: &AtomicU64| total.load(Ordering::Acquire);
        let (hit, miss, write, spill) = (total(&t.hit), total(&t.miss), total(&t.write), total(&t.spill));
        let log = write * (page_bytes + FRAME_HEADER);
        let values = [
            hit,
            miss,
            write,
            spill,
            total(&t.writer_wait_us),
            hit + miss,
            miss,
            write,
            log,
            write,
            write,
            total(&t.commits),
            total(&t.commit_us),
        ];
        Ok(values.into_iter().map(|value| Some(value as f64)).collect())
    })
}

/// Log that an updated block should cost, from the format of SQLite's write-ahead log
/// (sqlite.org/fileformat2.html#walformat).
///
/// A commit writes each page that its transaction changed, as one frame: the page and a header of 24 bytes. Rows fill a
/// page each and keep their length, and no changing column is indexed. So an update changes only the page of its row:
/// light and heavy redo both cost one frame. Nothing else is logged, not even the first page of the file.
///
/// A page that is updated twice in a transaction is written once, so only transactions of one operation have a band.
/// Pages evicted from the cache before their commit may be written again; `cache_spill` contains their number.
///
/// The band is for pages of `page_bytes`. Its width allows for operations that a window cuts.
pub(crate) fn expected_log(page_bytes: u64) -> ExpectedLog {
    let frame = (page_bytes + FRAME_HEADER) as f64;
    let band = [frame * 0.8, frame * 1.25];
    let images = Some(LogImages { counter: "cache_spill".to_owned(), bytes: frame });
    ExpectedLog { light: band, heavy: band, images, once_a_transaction: true }
}
