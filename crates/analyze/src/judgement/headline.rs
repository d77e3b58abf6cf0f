//! Permitted names of the figure of a run (docs/findings.md).

use mindful_core::result::StepSummary;

pub use crate::figures::blocks::CACHED_YIELD;
use crate::figures::blocks::SINGLE_BLOCK;
use crate::judgement::claims::{Claim, Gates, LARGE_BLOCK, MAX_PAGE_CACHE_SHARE};
pub use crate::judgement::subject::percent;
pub(crate) use crate::judgement::subject::{ALL_CACHED, Subject, Visited, part};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadlineKind {
    /// Reads that storage served, proven at every level.
    Storage,
    /// The database's own cache served almost all reads.
    DatabaseCache,
    /// The operating system's page cache served some or all of the database's read requests.
    PageCache,
    /// So did holes of the files, where nothing was ever written.
    Holes,
    /// The database requested them; their source is not proven.
    Database,
    /// Nothing below the operations is known.
    Operations,
    /// The target simulates its reads: nothing was read.
    Simulated,
    /// Updates that were committed; reads may be among the operations.
    Commits,
}

/// The claim of a quiet device where others write to it.
const NO_FOREIGN_READS: &str = "no foreign reads";
/// The claim of one read a block where a request reads several.
const EACH_READ_ONCE: &str = "each block read once";

/// Statements of a headline about its reads other than the names of the claims.
pub const OTHER_CLAIMS: [&str; 2] = [NO_FOREIGN_READS, EACH_READ_ONCE];

const WRITES: &str = "writes per second (files)";
const ROWS: &str = "rows visited per second";
const BLOCKS: &str = "blocks visited per second";
const CACHED_BLOCKS: &str = "blocks visited per second, from the database cache";
const CACHED_READS: &str = "logical reads per second, from the database cache";
const MIB_READ: &str = "MiB/s of reads";
const MIB_WRITTEN: &str = "MiB/s of writes";
/// Labels of commits: durable, not durable, and unknown.
pub(super) const COMMITS: [&str; 3] =
    ["durable commits per second", "commits per second, not durable", "commits per second"];
const READ_REQUESTS: [&str; 2] = ["read requests per second", "read requests per second (database)"];
const WRITE_REQUESTS: [&str; 2] = ["write requests per second", "write requests per second (database)"];
const DATABASE_BLOCKS: &str = "blocks read per second (database)";
const LOGICAL_READS: &str = "logical reads per second";

/// Every label that a headline can have.
pub fn labels() -> Vec<String> {
    let fixed =
        [WRITES, ROWS, BLOCKS, CACHED_BLOCKS, CACHED_READS, MIB_READ, MIB_WRITTEN, DATABASE_BLOCKS, LOGICAL_READS];
    let kinds = [
        HeadlineKind::Storage,
        HeadlineKind::PageCache,
        HeadlineKind::Holes,
        HeadlineKind::Database,
        HeadlineKind::Simulated,
    ];
    let of_reads = kinds
        .into_iter()
        .flat_map(|kind| (0_u8..8).map(move |bits| label(kind, bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)));
    let fixed = fixed.into_iter().chain(READ_REQUESTS).chain(WRITE_REQUESTS).chain(COMMITS).map(str::to_owned);
    let mut all: Vec<String> = fixed.chain(of_reads).collect();
    all.sort();
    all.dedup();
    all
}

#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    pub kind: HeadlineKind,
    /// In words a reader believes: `storage IOPS`.
    pub label: String,
    pub per_s: f64,
    pub why: String,
}

impl Headline {
    fn new(kind: HeadlineKind, label: impl Into<String>, per_s: f64, why: impl Into<String>) -> Self {
        Self { kind, label: label.into(), per_s, why: why.into() }
    }
}

/// The headline of a step; `None` without a window. With foreign writes the device is not quiet.
pub(crate) fn headline(step: &StepSummary, gates: &Gates, subject: Subject, foreign_writes: bool) -> Option<Headline> {
    let visited = step.blocks_visited_per_s.filter(|_| !subject.imported || step.physical_reads_per_s.is_some());
    let Some(visited) = visited else { return imported(step, subject.block_bytes) };
    let (Some(reads), Some(y)) = (step.physical_reads_per_s, gates.method_yield) else {
        let writes = step.physical_writes_per_s.filter(|_| subject.on_files());
        let (label, per_s, why) = match writes {
            Some(writes) => (WRITES, writes, "nothing was read"),
            _ if subject.visited == Visited::Rows => {
                (ROWS, visited, "it is not known where they are: no storage is measured")
            }
            _ => (BLOCKS, visited, "the target does not report physical reads"),
        };
        return Some(Headline::new(HeadlineKind::Operations, label, per_s, why));
    };
    // Files have no cache of their own.
    if y < CACHED_YIELD && !subject.on_files() {
        return Some(Headline::new(
            HeadlineKind::DatabaseCache,
            CACHED_BLOCKS,
            visited,
            format!(
                "the database's cache served {} of the blocks visited: nothing below it is measured",
                percent(1.0 - y)
            ),
        ));
    }
    let kind = match gates.page_cache_share {
        _ if subject.simulated => HeadlineKind::Simulated,
        _ if gates.pass() => HeadlineKind::Storage,
        Some(_) if gates.explained_by_holes() => HeadlineKind::Holes,
        Some(phi) if phi > MAX_PAGE_CACHE_SHARE => HeadlineKind::PageCache,
        _ => HeadlineKind::Database,
    };
    // Single blocks are counted; where scans or large reads are among them, only bytes are comparable.
    let several = subject.sorted && step.read_requests_per_s.is_some_and(|requests| reads > requests * SINGLE_BLOCK);
    let in_bytes = step.ops.scan.is_some() || several;
    let mib = subject.block_bytes.filter(|_| in_bytes).map(|bytes| bytes as f64 / f64::from(1 << 20));
    let why = match (kind, gates.page_cache_share) {
        (HeadlineKind::Simulated, _) => "the target simulates its reads: no storage is measured".to_owned(),
        (HeadlineKind::Storage, _) => {
            let device = if foreign_writes { NO_FOREIGN_READS } else { Claim::DeviceQuiet.name() };
            let blocks = if mib.is_some() { EACH_READ_ONCE } else { Claim::OneReadPerBlock.name() };
            format!("{}, {device}, {blocks}", Claim::PageCacheOutOfTheWay.name())
        }
        (HeadlineKind::Holes, Some(phi)) => {
            let holes = percent(gates.holes_share);
            format!("storage did not serve {} of the reads: {holes} of the files are holes", part(phi))
        }
        (HeadlineKind::PageCache, Some(phi)) => {
            let read = if subject.on_files() { "was read" } else { "the database read" };
            let holes = gates.holes().map(|holes| format!(", and {} of the files are holes", percent(holes)));
            let holes = holes.unwrap_or_default();
            format!("the page cache served {} of what {read}{holes}: this is not a storage figure", part(phi))
        }
        _ => gates.doubts().join("; "),
    };
    let all = gates.page_cache_share.is_some_and(|phi| phi > ALL_CACHED);
    Some(Headline::new(kind, label(kind, all, mib.is_some(), subject.on_files()), reads * mib.unwrap_or(1.0), why))
}

/// The headline of another tool's result: requests and blocks are counted separately there, operations are not.
fn imported(step: &StepSummary, block_bytes: Option<u64>) -> Option<Headline> {
    let cached = step.hit_ratio.is_some_and(|hits| hits > 1.0 - CACHED_YIELD);
    if let Some(logical) = step.logical_reads_per_s.filter(|_| cached) {
        let why = format!("the database's cache served {} of them", percent(step.hit_ratio.unwrap_or(1.0)));
        return Some(Headline::new(HeadlineKind::DatabaseCache, CACHED_READS, logical, why));
    }
    let why = "as another tool measured it: it does not show whether storage served all of it";
    let writes = step.write_requests_per_s.filter(|rate| *rate > 0.0);
    // A job that only writes has a rate of reads too, and it is 0.
    let reads = step.read_requests_per_s.filter(|rate| *rate > 0.0 || writes.is_none());
    let large_mib = block_bytes.filter(|bytes| *bytes >= LARGE_BLOCK).map(|bytes| bytes as f64 / f64::from(1 << 20));
    let in_mib = |rate: Option<f64>| rate.zip(large_mib).map(|(rate, mib)| rate * mib);
    let files = step.physical_reads_per_s.is_none() && step.logical_reads_per_s.is_none();
    let whose = |rate: Option<f64>, [of_files, of_database]: [&'static str; 2]| {
        rate.map(|rate| (if files { of_files } else { of_database }, rate))
    };
    let blocks = step.physical_reads_per_s.map(|rate| (DATABASE_BLOCKS, rate));
    let logical = step.logical_reads_per_s.map(|rate| (LOGICAL_READS, rate));
    let (label, per_s) = in_mib(reads)
        .filter(|_| files)
        .map(|rate| (MIB_READ, rate))
        .or(whose(reads, READ_REQUESTS))
        .or(blocks)
        .or(logical)
        .or(in_mib(writes).filter(|_| files).map(|rate| (MIB_WRITTEN, rate)))
        .or(whose(writes, WRITE_REQUESTS))?;
    Some(Headline::new(HeadlineKind::Database, label, per_s, why))
}

/// The name of reads, as a number or as bytes.
fn label(kind: HeadlineKind, all: bool, in_bytes: bool, on_files: bool) -> String {
    let (whose, source) = if on_files { ("file", "files") } else { ("database", "database") };
    let part = if all { "all" } else { "partly" };
    match (kind, in_bytes) {
        (HeadlineKind::Storage, false) => "storage IOPS (reads)".to_owned(),
        (HeadlineKind::Storage, true) => "storage MiB/s (reads)".to_owned(),
        (HeadlineKind::Simulated, false) => "simulated reads per second".to_owned(),
        (HeadlineKind::Simulated, true) => "MiB/s of simulated reads".to_owned(),
        (HeadlineKind::Holes, false) => format!("{whose} reads per second, {part} from holes"),
        (HeadlineKind::Holes, true) => format!("MiB/s of {whose} reads, {part} from holes"),
        (HeadlineKind::PageCache, false) => format!("{whose} reads per second, {part} from the page cache"),
        (HeadlineKind::PageCache, true) => format!("MiB/s of {whose} reads, {part} from the page cache"),
        (_, false) => format!("physical reads per second ({source})"),
        (_, true) => format!("MiB/s of physical reads ({source})"),
    }
}
