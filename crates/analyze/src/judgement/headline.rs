//! What the figure of a run may be called (docs/findings.md).

use mindful_core::contract::metric::shared;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::StepSummary;

use crate::figures::blocks;
pub use crate::figures::blocks::CACHED_YIELD;
use crate::figures::blocks::SINGLE_BLOCK;
use crate::figures::counters::Counters;
use crate::figures::floors::{Between, Floor};
use crate::io_job;

/// Largest page-cache share with which reads are storage reads.
pub const MAX_PAGE_CACHE_SHARE: f64 = 0.05;
/// Page-cache share above which it served all: what is missing is less than is reported it.
pub(crate) const ALL_CACHED: f64 = 0.999;
/// Largest share of device traffic that others may cause.
pub(crate) const MAX_FOREIGN_SHARE: f64 = 0.05;
/// Fewest physical reads by blocks visited: below, the database's cache served a part.
pub(crate) const MIN_YIELD: f64 = 0.9;
/// Most physical reads by blocks visited: above, something else than the method reads.
pub(crate) const MAX_YIELD: f64 = 1.15;
/// Foreign traffic below this is not worth a word, bytes/s: a journal, a log.
const QUIET_BYTES_PER_S: f64 = 64.0 * 1024.0;
/// Foreign traffic below this share of what the database read is not worth a word either.
const QUIET_SHARE: f64 = 0.01;

/// Length from which on a block is large: its rate says less than its bytes.
const LARGE_BLOCK: u64 = 128 << 10;

/// The ratios that decide, and what stands below.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gates {
    /// Page-cache share `phi = 1 - PIO_proc / PIO_db`.
    pub page_cache_share: Option<f64>,
    /// `1 - process bytes / device bytes` for reads.
    pub foreign_share: Option<f64>,
    /// Yield of the method, `y = PIO_db / blocks visited`. An update of a file writes its blocks and reads none.
    pub method_yield: Option<f64>,
    /// Blocks that a read request fetched, where all that was asked for is single blocks; `None` where requests are not
    /// reported.
    pub blocks_per_request: Option<f64>,
    /// What stands between the device that serves and what stores.
    pub between: Between,
}

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// What an operation visited.
    pub visited: Visited,
    /// Length of a block, bytes, where it is known.
    pub block_bytes: Option<u64>,
    /// Whether the access path sorts blocks, so that one request may read several.
    pub sorted: bool,
    /// Whether the target simulates its reads.
    pub simulated: bool,
    /// Whether another tool measured it.
    pub imported: bool,
}

/// What an operation visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visited {
    /// Blocks of bare files, with no database and no cache of one before them.
    FileBlocks,
    DatabaseBlocks,
    /// Rows of a database; nothing is claimed of the blocks that they stand in.
    Rows,
}

impl Visited {
    fn in_run(run: &Run) -> Self {
        match blocks::no_layout(run) {
            _ if io_job::on_files(run) => Self::FileBlocks,
            Some(_) => Self::Rows,
            None => Self::DatabaseBlocks,
        }
    }
}

impl Subject {
    fn on_files(self) -> bool {
        self.visited == Visited::FileBlocks
    }

    /// What `step` of `run` read.
    pub fn of(run: &Run, step: &StepRecord) -> Self {
        let sorted = step.head.workload.as_ref().is_some_and(|workload| !workload.access.is_index());
        let simulated = run.description.as_ref().is_some_and(|description| description.simulated);
        let block_bytes = blocks::of_step(run, &step.head).filter(|bytes| *bytes > 0);
        let imported = run.head.imported.is_some();
        Self { visited: Visited::in_run(run), block_bytes, sorted, simulated, imported }
    }
}

impl Gates {
    /// The ratios of a step.
    pub fn of(step: &StepSummary, counters: &Counters, subject: Subject, between: Between) -> Self {
        let database_bytes = step.physical_reads_per_s.unwrap_or(0.0) * subject.block_bytes.unwrap_or(0) as f64;
        let written = step.physical_writes_per_s.filter(|_| subject.on_files()).unwrap_or(0.0);
        let visited = step.blocks_visited_per_s.map(|rate| rate - written).filter(|rate| *rate > 0.0);
        let single = !subject.sorted && step.ops.scan.is_none();
        let requests = step.read_requests_per_s.filter(|requests| single && *requests > 0.0);
        Self {
            page_cache_share: step.page_cache_share,
            foreign_share: foreign_share(counters, database_bytes),
            method_yield: step.physical_reads_per_s.zip(visited).map(|(reads, blocks)| reads / blocks),
            blocks_per_request: step.physical_reads_per_s.zip(requests).map(|(reads, requests)| reads / requests),
            between,
        }
    }

    /// Whether all pass, and nothing is seen below that is no storage; an unknown one does not, but for requests, which some
    /// servers do not count.
    pub(crate) fn pass(&self) -> bool {
        self.between == Between::Nothing
            && self.page_cache_share.is_some_and(|phi| phi <= MAX_PAGE_CACHE_SHARE)
            && self.foreign_share.is_some_and(|share| share <= MAX_FOREIGN_SHARE)
            && self.method_yield.is_some_and(|y| (MIN_YIELD..=MAX_YIELD).contains(&y))
            && self.blocks_per_request.is_none_or(|blocks| blocks <= SINGLE_BLOCK)
    }
}

/// Share of the device's read bytes that the server's processes did not cause; 0 when these others are next to nothing
/// beside what the database read.
fn foreign_share(counters: &Counters, database_bytes_per_s: f64) -> Option<f64> {
    let device = counters.rate(shared::DEVICE_READ_BYTES)?;
    let others = device - counters.rate(shared::PROCESS_READ_BYTES)?;
    let quiet = QUIET_BYTES_PER_S.max(QUIET_SHARE * database_bytes_per_s);
    Some(if others < quiet { 0.0 } else { (others / device).clamp(0.0, 1.0) })
}

/// What a headline figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Reads that storage served, proven at every level.
    Storage,
    /// The database's own cache served practically all.
    DatabaseCache,
    /// The operating system's page cache served a part of what the database asked for, or all.
    PageCache,
    /// The database asked for them; where they came from is not proven.
    Database,
    /// Nothing below the operations is known.
    Operations,
    /// The target simulates its reads: nothing was read.
    Simulated,
}

/// The figure that stands for a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// What it is.
    pub kind: Kind,
    /// In words a reader believes: `storage IOPS`.
    pub label: String,
    /// The figure, per second.
    pub per_s: f64,
    /// Why it is called that.
    pub why: String,
}

impl Headline {
    fn new(kind: Kind, label: impl Into<String>, per_s: f64, why: impl Into<String>) -> Self {
        Self { kind, label: label.into(), per_s, why: why.into() }
    }
}

/// The headline of a step; `None` without a window.
pub fn headline(step: &StepSummary, gates: &Gates, subject: Subject) -> Option<Headline> {
    let visited = step.blocks_visited_per_s.filter(|_| !subject.imported || step.physical_reads_per_s.is_some());
    let Some(visited) = visited else { return imported(step, subject.block_bytes) };
    let (Some(reads), Some(y)) = (step.physical_reads_per_s, gates.method_yield) else {
        let writes = step.physical_writes_per_s.filter(|_| subject.on_files());
        let (label, per_s, why) = match writes {
            Some(writes) => ("writes per second (files)", writes, "nothing was read"),
            _ if subject.visited == Visited::Rows => {
                ("rows visited per second", visited, "nothing is claimed of where they lie: no storage is measured")
            }
            _ => ("blocks visited per second", visited, "the target tells no physical reads"),
        };
        return Some(Headline::new(Kind::Operations, label, per_s, why));
    };
    // Files have no cache of their own.
    if y < CACHED_YIELD && !subject.on_files() {
        return Some(Headline::new(
            Kind::DatabaseCache,
            "blocks visited per second, from the database cache",
            visited,
            format!(
                "the database's cache served {} of the blocks visited: nothing below it is measured",
                percent(1.0 - y)
            ),
        ));
    }
    let kind = match gates.page_cache_share {
        _ if subject.simulated => Kind::Simulated,
        _ if gates.pass() => Kind::Storage,
        Some(phi) if phi > MAX_PAGE_CACHE_SHARE => Kind::PageCache,
        _ => Kind::Database,
    };
    // Single blocks are counted; where scans or large reads are among them, only bytes are comparable.
    let several = subject.sorted && step.read_requests_per_s.is_some_and(|requests| reads > requests * SINGLE_BLOCK);
    let in_bytes = step.ops.scan.is_some() || several;
    let mib = subject.block_bytes.filter(|_| in_bytes).map(|bytes| bytes as f64 / f64::from(1 << 20));
    let why = match (kind, gates.page_cache_share) {
        (Kind::Simulated, _) => "the target simulates its reads: no storage is measured".to_owned(),
        (Kind::Storage, _) if mib.is_some() => {
            "page cache out of the way, device quiet, each block read once".to_owned()
        }
        (Kind::Storage, _) => "page cache out of the way, device quiet, one physical read per block".to_owned(),
        (Kind::PageCache, Some(phi)) => {
            let read = if subject.on_files() { "was read" } else { "the database read" };
            format!("the page cache served {} of what {read}: this is no storage figure", part(phi))
        }
        _ => doubts(gates).join("; "),
    };
    let all = gates.page_cache_share.is_some_and(|phi| phi > ALL_CACHED);
    Some(Headline::new(kind, label(kind, all, mib.is_some(), subject.on_files()), reads * mib.unwrap_or(1.0), why))
}

/// The headline of another tool's result: requests and blocks are counted separately there, operations are not.
fn imported(step: &StepSummary, block_bytes: Option<u64>) -> Option<Headline> {
    let cached = step.hit_ratio.is_some_and(|hits| hits > 1.0 - CACHED_YIELD);
    if let Some(logical) = step.logical_reads_per_s.filter(|_| cached) {
        let why = format!("the database's cache served {} of them", percent(step.hit_ratio.unwrap_or(1.0)));
        return Some(Headline::new(
            Kind::DatabaseCache,
            "logical reads per second, from the database cache",
            logical,
            why,
        ));
    }
    let why = "as another tool measured it: it does not show whether storage served all of it";
    let writes = step.write_requests_per_s.filter(|rate| *rate > 0.0);
    // A job that only writes has a rate of reads too, and it is 0.
    let reads = step.read_requests_per_s.filter(|rate| *rate > 0.0 || writes.is_none());
    let large_mib = block_bytes.filter(|bytes| *bytes >= LARGE_BLOCK).map(|bytes| bytes as f64 / f64::from(1 << 20));
    let in_mib = |rate: Option<f64>| rate.zip(large_mib).map(|(rate, mib)| rate * mib);
    let files = step.physical_reads_per_s.is_none() && step.logical_reads_per_s.is_none();
    let whose = |rate: Option<f64>, of_files: &'static str, of_database: &'static str| {
        rate.map(|rate| (if files { of_files } else { of_database }, rate))
    };
    let blocks = step.physical_reads_per_s.map(|rate| ("blocks read per second (database)", rate));
    let logical = step.logical_reads_per_s.map(|rate| ("logical reads per second", rate));
    let (label, per_s) = in_mib(reads)
        .filter(|_| files)
        .map(|rate| ("MiB/s of reads", rate))
        .or(whose(reads, "read requests per second", "read requests per second (database)"))
        .or(blocks)
        .or(logical)
        .or(in_mib(writes).filter(|_| files).map(|rate| ("MiB/s of writes", rate)))
        .or(whose(writes, "write requests per second", "write requests per second (database)"))?;
    Some(Headline::new(Kind::Database, label, per_s, why))
}

/// What reads are called, in number or in bytes.
fn label(kind: Kind, all: bool, in_bytes: bool, on_files: bool) -> String {
    let (whose, source) = if on_files { ("file", "files") } else { ("database", "database") };
    let part = if all { "all" } else { "partly" };
    match (kind, in_bytes) {
        (Kind::Storage, false) => "storage IOPS (reads)".to_owned(),
        (Kind::Storage, true) => "storage MiB/s (reads)".to_owned(),
        (Kind::Simulated, false) => "simulated reads per second".to_owned(),
        (Kind::Simulated, true) => "MiB/s of simulated reads".to_owned(),
        (Kind::PageCache, false) => format!("{whose} reads per second, {part} from the page cache"),
        (Kind::PageCache, true) => format!("MiB/s of {whose} reads, {part} from the page cache"),
        (_, false) => format!("physical reads per second ({source})"),
        (_, true) => format!("MiB/s of physical reads ({source})"),
    }
}

/// Why reads may not be called storage IOPS although the page cache did not serve them, as far as is known.
fn doubts(gates: &Gates) -> Vec<String> {
    let mut doubts = Vec::new();
    match gates.method_yield {
        Some(y) if y < MIN_YIELD => {
            doubts.push(format!("the database's cache served {} of the blocks", percent(1.0 - y)));
        }
        Some(y) if y > MAX_YIELD => {
            doubts.push(format!("{y:.2} reads for each block visited: others read, or reads are not single blocks"));
        }
        _ => {}
    }
    if let Some(blocks) = gates.blocks_per_request.filter(|blocks| *blocks > SINGLE_BLOCK) {
        doubts.push(format!("{blocks:.2} blocks a read request: not all were read one by one"));
    }
    if gates.page_cache_share.is_none() {
        doubts.push("whether the page cache served them cannot be seen".to_owned());
    }
    match gates.foreign_share {
        None => {
            doubts.push("the device is not seen".to_owned());
        }
        Some(share) if share > MAX_FOREIGN_SHARE => {
            doubts.push(format!("others caused {} of the device's reads", percent(share)));
        }
        Some(_) => {}
    }
    doubts.extend(below(&gates.between));
    doubts
}

fn below(between: &Between) -> Option<String> {
    match between {
        Between::Nothing => None,
        Between::Cache { share, floors } => {
            let [Floor { devices, .. }, _] = &**floors;
            Some(format!("a cache below the file system served {} of what {devices} was asked for", part(*share)))
        }
        Between::PageCache(device) => {
            Some(format!("{device} reads its file through the page cache, and how much that served is not known"))
        }
        Between::Memory(device) => Some(format!("{device} is memory")),
        Between::Unseen { device, why } => Some(format!("nothing is seen below the file of {device}: {why}")),
    }
}

/// What the page cache served: a share of it, or all.
pub(crate) fn part(phi: f64) -> String {
    if phi > ALL_CACHED { "all".to_owned() } else { percent(phi) }
}

/// A share as text with a digit that matters.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let whole = (value - value.round()).abs() < 1e-6;
    match value.abs() {
        size if whole || size >= 99.95 => format!("{value:.0} %"),
        size if size < 0.1 => format!("{value:.2} %"),
        _ => format!("{value:.1} %"),
    }
}
