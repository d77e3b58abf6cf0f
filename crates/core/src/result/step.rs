//! A step in figures.

use serde::{Deserialize, Serialize};

use super::figure::{FigureRow, Figures, GROWTH, summary_of_figures};
use super::finding::{Finding, Validity};
use super::part::{BySession, ChoicesSummary, ObservedSource, RankSummary};
use super::system::{CapSummary, CpuSummary, DeviceSummary, LogSummary, WaitSummary};
use crate::record::head::Point;
use crate::workload::{Compatibility, OpKind};

summary_of_figures! {
/// One step in figures.
#[derive(Default)]
pub struct StepSummary {
    /// Its place in a sweep.
    #[serde(default, skip_serializing_if = "Point::is_plain")]
    point: Point,
    /// Sessions.
    sessions: Option<u32> = figure(Count, "as the plan has it", []),
    /// Schemas in use.
    schemas: Option<u32> = figure(Count, "as the plan has it", []),
    /// Blocks in use in each schema.
    scale: Option<u64> = figure(
        Blocks,
        "blocks of each schema that may be visited, as the plan has it",
        [], "scale_blocks"
    ),
    /// I/Os that each session keeps in flight: blocks, or large reads if it reads no blocks; null for a database.
    iodepth: Option<u32> = figure(
        Count,
        "operations that the plan keeps in flight in each session; unknown if one at a time",
        []
    ),
    /// Length of each of them in bytes; null for a database.
    block_bytes: Option<u64> = figure(Bytes, "length of a block, as the target reports it or the plan has it", []),
    /// Blocks a read visits.
    work_unit: Option<u64> = figure(Blocks, "as the plan has it", [], "work_unit_blocks"),
    /// Share of updates in the plan, percent.
    update_pct: Option<f64> = figure(Percent, "as the plan has it", []),
    /// The arithmetic of the operations: `mindful`, or an older kit's.
    like: Compatibility,
    /// When updates committed and whether they waited for the log; null without updates, and for files, which have no
    /// log.
    commit: Option<String>,
    /// Realised choices; null where the engine does not tally them.
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<ChoicesSummary>,
    /// The limit that was reached: `device latency`, `CPU`, `undecided`; null without a window. Names are the same for
    /// all engines.
    limited_by: Option<String>,
    /// Share of updates as it came out, percent.
    update_pct_realised: Option<f64> = figure(Percent, "100 x updates / operations of all kinds, in the window", []),
    /// Length of the measured window, s.
    duration_s: Option<f64> = figure(
        Seconds,
        "min(last boundary, first stop of a session) - max(first boundary after the warm-up, last start)",
        []
    ),
    /// Latest minus earliest start of a session, ms.
    start_skew_ms: Option<f64> = figure(Milliseconds, "latest minus earliest begin of a session's first slice", []),
    /// Each session; null when one never reported.
    by_session: Option<BySession>,
    /// Sessions inside their slices on average; null where another tool drove them.
    sessions_working: Option<f64> = figure(
        Count,
        "time in slices, summed over all sessions / duration_s; of a slice that a boundary of the window cuts, the share \
         inside",
        []
    ),
    /// Sessions that thought on average.
    sessions_thinking: Option<f64> = figure(Count, "time spent thinking, summed over all sessions / duration_s", []),
    /// The ranks that took it together, or only the one that this part belongs to; empty for a run of one process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ranks: Vec<RankSummary>,
    /// Each target, where there are several: the step is their sum. Empty where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    targets: Vec<TargetSummary>,
    /// By kind of operation.
    ops: OpsSummary = nested,
    /// Share of scanned blocks that went past the database's cache, through a ring of a few buffers, 0 to 1: 1 is
    /// direct, 0 cached; null without scans or if the database does not report it.
    scan_direct_share: Option<f64> = figure(
        Share,
        "blocks visited through the ring of a scan / blocks that scans visited, at most 1",
        [RingVisits]
    ),
    /// Blocks visited per second.
    blocks_visited_per_s: Option<f64> = figure(
        BlocksPerSecond,
        "blocks that operations of the window visited, as sessions counted them / duration_s",
        []
    ),
    /// Requests to the database's cache per second.
    logical_reads_per_s: Option<f64> = figure(BlocksPerSecond, GROWTH, [LogicalReads]),
    /// Blocks the database read per second.
    physical_reads_per_s: Option<f64> = figure(BlocksPerSecond, GROWTH, [PhysicalReads]),
    /// Blocks' worth of bytes that the server's processes fetched from storage per second.
    process_reads_per_s: Option<f64> = figure(
        BlocksPerSecond,
        "growth of the counter by time, by the length of a block",
        [ProcessReadBytes]
    ),
    /// Read requests completed by the device per second.
    device_reads_per_s: Option<f64> = figure(PerSecond, GROWTH, [DeviceReads]),
    /// Share of physical reads that the page cache served, 0 to 1.
    page_cache_share: Option<f64> = figure(
        Share,
        "1 - process reads / physical reads; of own sessions where their processes are known",
        [ProcessReadBytes, PhysicalReads, SessionReadBytes, DatabaseReads]
    ),
    /// Share of logical reads that the database's cache served, 0 to 1.
    hit_ratio: Option<f64> = figure(Share, "1 - physical reads / logical reads", [PhysicalReads, LogicalReads]),
    /// Mean time of a physical read as the database saw it, us.
    read_latency_mean_us: Option<f64> = figure(
        Microseconds,
        "time the database waited for reads / physical reads; only where every read fetches one block",
        [ReadTimeUs, PhysicalReads]
    ),
    /// Waits that the database counted by duration.
    waits: WaitSummary = nested,
    /// Latencies of single requests at the device.
    device: DeviceSummary = nested,
    /// Limits that held the storage.
    caps: CapSummary = nested,
    /// Blocks the database wrote per second.
    physical_writes_per_s: Option<f64> = figure(BlocksPerSecond, GROWTH, [PhysicalWrites]),
    /// Bytes of log per second.
    log_bytes_per_s: Option<f64> = figure(BytesPerSecond, GROWTH, [LogBytes]),
    /// Commits per second: of updates, where each commits; else of all transactions that the database counted.
    commits_per_s: Option<f64> = figure(
        PerSecond,
        "updates / duration_s where each update commits; else the growth of the counter by time, at most the updates",
        [Commits]
    ),
    /// The log, and the duration of its syncs.
    log: LogSummary = nested,
    /// CPU.
    cpu: CpuSummary = nested,
    /// Peak memory of mindful up to the end of the window, bytes; null with several ranks.
    client_peak_bytes: Option<f64> = figure(
        Bytes,
        "peak memory of mindful up to the end of the window (VmHWM)",
        [ClientPeakBytes]
    ),
    /// Requests by which the database read them per second, of one block or more each.
    read_requests_per_s: Option<f64> = figure(PerSecond, GROWTH, [ReadRequests]),
    /// Blocks that one read request of the database fetched on average; null if it does not count requests.
    blocks_per_read: Option<f64> = figure(
        Blocks,
        "physical reads / read requests; unknown below 10 requests a second",
        [PhysicalReads, ReadRequests]
    ),
    /// Requests that were at the device on average, waiting or served, reads and writes.
    device_in_flight: Option<f64> = figure(
        Count,
        "time that requests spent at the device, its queue included / time",
        [DeviceQueueTimeUs]
    ),
    /// Reads that the database itself had under way on average, handed to the system and not yet back; null if it does
    /// not report them (PostgreSQL before 18, a role without pg_read_all_stats).
    database_in_flight: Option<f64> = figure(
        Count,
        "reads that the database had under way, summed over samples / samples",
        [ReadsInFlight, ReadsLooks]
    ),
    /// Requests by which the database wrote per second, its log apart.
    write_requests_per_s: Option<f64> = figure(PerSecond, GROWTH, [WriteRequests]),
    /// Work per unit of the price's currency.
    per_price: PerPrice = nested,
    /// Each source of counters with all of its metrics; empty where no counters were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    observed: Vec<ObservedSource>,
}
}

summary_of_figures! {
/// Work per unit of the price's currency; null without a price, and for unknown work.
#[derive(Default)]
pub struct PerPrice {
    /// Operations.
    operations: Option<f64> = figure(PerCurrency, "operations per second x 3600 / price per hour", []),
    /// Requests to the database's cache.
    logical_reads: Option<f64> = figure(
        PerCurrency,
        "logical reads per second x 3600 / price per hour",
        [LogicalReads]
    ),
    /// Blocks the database read.
    physical_reads: Option<f64> = figure(
        PerCurrency,
        "physical reads per second x 3600 / price per hour",
        [PhysicalReads]
    ),
}
}

summary_of_figures! {
/// One kind of operation.
#[derive(Default)]
pub struct OpSummary {
    /// Operations in the window.
    count: u64 = figure(
        Count,
        "operations of the window; of a slice that a boundary of the window cuts, the share inside",
        []
    ),
    /// Operations per second.
    per_s: f64 = figure(
        PerSecond,
        "operations of the window / duration_s; selects, or updates where there are no selects",
        []
    ),
    /// Mean, us.
    mean_us: Option<f64> = figure(Microseconds, "exact sum of the latencies of all sessions / operations", []),
    /// Standard deviation, us.
    deviation_us: Option<f64> = figure(
        Microseconds,
        "standard deviation of the latencies; histograms of all sessions and seconds merged, so within 1 %",
        []
    ),
    /// Median, us.
    p50_us: Option<f64> = figure(
        Microseconds,
        "latency that half of the operations do not exceed; histograms of all sessions and seconds merged, unknown \
         with fewer than ten operations beyond it",
        []
    ),
    /// 95th percentile, us.
    p95_us: Option<f64> = figure(
        Microseconds,
        "latency that 95 % of the operations do not exceed; histograms of all sessions and seconds merged, unknown \
         with fewer than ten operations beyond it",
        []
    ),
    /// 99th percentile, us.
    p99_us: Option<f64> = figure(
        Microseconds,
        "latency that 99 % of the operations do not exceed; histograms of all sessions and seconds merged, unknown \
         with fewer than ten operations beyond it",
        []
    ),
    /// 99.9th percentile, us; null below 10,000 operations.
    p999_us: Option<f64> = figure(
        Microseconds,
        "latency that 99.9 % of the operations do not exceed; histograms of all sessions and seconds merged, \
         unknown with fewer than ten operations beyond it",
        []
    ),
    /// Longest, us.
    max_us: Option<f64> = figure(Microseconds, "exact longest latency of the window", []),
}
}

/// Figures by kind of operation; null for a kind that did not run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpsSummary {
    /// Reads of `work_unit` blocks.
    pub select: Option<OpSummary>,
    /// Updates.
    pub update: Option<OpSummary>,
    /// Full scans.
    pub scan: Option<OpSummary>,
}

impl OpsSummary {
    pub fn get(&self, kind: OpKind) -> Option<&OpSummary> {
        match kind {
            OpKind::Select => self.select.as_ref(),
            OpKind::Update => self.update.as_ref(),
            OpKind::Scan => self.scan.as_ref(),
        }
    }

    /// The kind of operation that represents a step: selects, or updates in a run without selects.
    pub fn main(&self) -> Option<&OpSummary> {
        self.select.as_ref().or(self.update.as_ref())
    }
}

impl Figures for OpsSummary {
    fn figures() -> Vec<FigureRow<Self>> {
        let of_kind = |kind: OpKind| {
            OpSummary::figures().into_iter().map(move |row| row.within(kind.name(), move |ops: &Self| ops.get(kind)))
        };
        OpKind::ALL.into_iter().flat_map(of_kind).collect()
    }
}

/// One of several targets of a run, as if its sessions were a separate run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetSummary {
    /// Target without secrets.
    pub target: String,
    /// Version of the system under test.
    pub engine_version: Option<String>,
    /// Whether its figures may be quoted.
    pub validity: Validity,
    /// Findings: doubts and remarks.
    pub findings: Vec<Finding>,
    /// Its figures.
    pub step: StepSummary,
}
