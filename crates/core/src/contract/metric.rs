//! Metrics and their readers.

use serde::{Deserialize, Serialize};

use crate::contract::error::Result;
use crate::record::latency::SampledLatencies;

/// Kind of a metric's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// Only grows (until its source restarts); a rate is the difference of two samples by their time.
    Counter,
    /// A value of the moment at which it was read.
    Gauge,
}

/// One named series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// The source's own name, or the name of a [`Counter`].
    pub name: String,
    /// Unit of the raw value: `blocks`, `bytes`, `us`, `1`…
    pub unit: String,
    /// Counter or gauge.
    pub kind: MetricKind,
    /// Meaning in one sentence.
    pub help: String,
}

impl Metric {
    /// A counter.
    pub fn counter(name: impl Into<String>, unit: &str, help: &str) -> Self {
        Self { name: name.into(), unit: unit.to_owned(), kind: MetricKind::Counter, help: help.to_owned() }
    }

    /// A gauge.
    pub fn gauge(name: impl Into<String>, unit: &str, help: &str) -> Self {
        Self { name: name.into(), unit: unit.to_owned(), kind: MetricKind::Gauge, help: help.to_owned() }
    }
}

stored_names! {
    /// A counter from which figures are computed: every engine and host maps some of its own to these. Code that reads
    /// or writes such a counter uses the variant. A few have a name of a server or of the kernel.
    pub enum Counter {
        /// Block requests to the database's own cache, hit or miss.
        LogicalReads = "logical_reads",
        /// Blocks that the database requested from the operating system or device.
        PhysicalReads = "physical_reads",
        /// Of these, blocks that were read into its cache before a request for them.
        ReadsAhead = "physical_reads_prefetched",
        /// Of these, blocks that were read past its cache.
        ReadsDirect = "physical_reads_direct",
        /// Read requests that a cache of the storage itself served.
        StorageCacheReads = "flash_cache_reads",
        /// Bytes that storage sent after it had filtered rows itself.
        FilteredBytes = "smart_scan_bytes",
        /// Read requests of the database for one or more blocks each.
        ReadRequests = "reads",
        /// Blocks that scans visited through a ring of a few buffers, past the rest of the database's cache.
        RingVisits = "ring_visits",
        /// Reads of one block for which a session waited.
        SingleReads = "single_block_reads",
        /// Time sessions waited for them, us.
        SingleReadTimeUs = "single_block_read_time",
        /// Requests by which the database wrote, of one block or more each; its log apart.
        WriteRequests = "write_requests",
        /// Time that sessions were busy, on a CPU or waiting, us.
        BusyTimeUs = "busy_time",
        /// Blocks the database gave to the operating system or device.
        PhysicalWrites = "physical_writes",
        /// Of these, blocks that sessions wrote themselves.
        SessionWrites = "session_writes",
        /// Of these, blocks that checkpoints wrote.
        CheckpointWrites = "checkpoint_writes",
        /// Of these, blocks that background writers wrote ahead of need.
        BackgroundWrites = "background_writes",
        /// Bytes of redo, WAL or log.
        LogBytes = "log_bytes",
        /// Writes of the log to the operating system or device.
        LogWrites = "log_writes",
        /// Requests of the database to make its log durable.
        LogSyncs = "log_syncs",
        /// Requests of the database to make any of its files durable, the log included.
        Syncs = "syncs",
        /// Records of the log.
        LogRecords = "log_records",
        /// Of these, images of whole blocks.
        LogImages = "log_images",
        /// Time that syncs of the log took, us.
        LogSyncTimeUs = "log_sync_time",
        /// Bytes of the log passed to the operating system or device, padding included.
        LogWriteBytes = "log_write_bytes",
        /// Time the database spent waiting for its reads, us.
        ReadTimeUs = "read_time",
        /// Waits of sessions for the log to be on storage, one a commit that waits.
        CommitWaits = "redo_synch_writes",
        /// Time sessions waited for their commits, us, where no wait events show it.
        CommitTimeUs = "commit_time",
        /// Transactions committed.
        Commits = "commits",
        /// Bytes the server's processes caused to be fetched from storage.
        ProcessReadBytes = "process_read_bytes",
        /// Server processes that work only for the run's sessions; a gauge.
        SessionProcesses = "session_processes",
        /// Bytes that these caused to be fetched from storage.
        SessionReadBytes = "session_read_bytes",
        /// Blocks read for the run's database only.
        DatabaseReads = "database_reads",
        /// Bytes the server's processes caused to be sent to storage.
        ProcessWriteBytes = "process_write_bytes",
        /// User CPU of the server's processes, us.
        ServerCpuUserUs = "server_cpu_user",
        /// System CPU of the server's processes, us.
        ServerCpuSystemUs = "server_cpu_system",
        /// CPU of the server's processes, where user and system are not distinguishable, us.
        ServerCpuUs = "server_cpu",
        /// CPU of mindful itself, us.
        ClientCpuUs = "client_cpu",
        /// The most memory that mindful itself held so far, bytes; a gauge.
        ClientPeakBytes = "client_peak_memory",
        /// CPU of the whole host that was busy (user, nice, system, irq, softirq), us.
        HostCpuBusyUs = "host_cpu_busy",
        /// CPU of the whole host, busy or idle, us.
        HostCpuTotalUs = "host_cpu_total",
        /// Time stolen by the hypervisor, us.
        HostCpuStealUs = "host_cpu_steal",
        /// Read requests completed by the device that holds the data.
        DeviceReads = "device_reads",
        /// Bytes read by the device that holds the data.
        DeviceReadBytes = "device_read_bytes",
        /// Time reads spent at the device, us.
        DeviceReadTimeUs = "device_read_time",
        /// Write requests completed by the device that holds the data.
        DeviceWrites = "device_writes",
        /// Bytes written by the device that holds the data.
        DeviceWriteBytes = "device_write_bytes",
        /// Write requests completed by the device that holds the log.
        LogDeviceWrites = "log_device_writes",
        /// Bytes written by the device that holds the log.
        LogDeviceWriteBytes = "log_device_write_bytes",
        /// Bytes that the journal of the log's file system wrote, on the device of the log.
        LogJournalBytes = "log_journal_bytes",
        /// Flush requests completed by the device that holds the log.
        LogDeviceFlushes = "log_device_flushes",
        /// Time these flushes took, us.
        LogDeviceFlushTimeUs = "log_device_flush_time",
        /// Requests in time at the device (for the queue length), us.
        DeviceQueueTimeUs = "device_queue_time",
        /// CPU of the whole host in user mode, us.
        HostCpuUserUs = "user",
        /// CPU of the whole host in user mode at low priority, us.
        HostCpuNiceUs = "nice",
        /// CPU of the kernel's own threads, us: they serve the I/O of all processes.
        KernelThreadsUs = "kernel_threads_cpu",
        /// CPU of the whole host in the kernel, interrupts apart, us.
        HostCpuSystemUs = "system",
        /// CPU of the whole host in interrupts, us.
        HostCpuIrqUs = "irq",
        /// CPU of the whole host in soft interrupts, us.
        HostCpuSoftirqUs = "softirq",
        /// Time that the control group's CPUs were held back, summed over CPUs, us.
        ThrottledUs = "cpu_throttled_time",
        /// Periods in which the control group had used up its CPU before the end.
        ThrottledPeriods = "cpu_throttled_periods",
        /// Pages brought back from swap.
        PagesSwappedIn = "pswpin",
        /// Times somebody dropped the page cache.
        PageCacheDrops = "drop_pagecache",
        /// Processes that the kernel killed because memory ran out.
        OomKills = "oom_kill",
        /// Time that the sessions' threads were on a CPU, us.
        SessionCpuUs = "session_cpu",
        /// Time that the sessions' threads waited for a CPU, us.
        SessionQueueUs = "session_run_queue",
        /// Time in which the sessions' threads were watched, us.
        SessionTimeUs = "session_time",
        /// CPU of the thread that reads counters at boundaries, us.
        ObserverCpuUs = "observer_cpu",
        /// CPU of the thread that reads counters once they have settled, us.
        SettledObserverCpuUs = "settled_observer_cpu",
        /// CPU of the thread that times requests at the device, us.
        TraceCpuUs = "trace_cpu",
        /// CPU of mindful's thread that samples the server's waits, us.
        SamplingCpuUs = "sampling_cpu",
        /// CPU of the server process that answers it, us.
        MonitorCpuUs = "monitor_cpu",
        /// Events of requests read from the kernel's trace.
        TraceEvents = "trace_events",
        /// Events of requests that found the trace's buffer full.
        TraceLost = "trace_lost",
        /// Times the server's waits were sampled.
        Samplings = "samplings",
        /// Reads that the server had under way, summed over the samples.
        ReadsInFlight = "reads_in_flight",
        /// Samples of the reads that the server had under way.
        ReadsLooks = "reads_looks",
        /// Samples in which the server's own maintenance was active.
        MaintenanceSamples = "server/autovacuum",
        /// Other sessions of the server that were at work, summed over the samplings.
        OthersSamples = "server/others",
        /// Maintenance runs of the server that ended on mindful's tables.
        MaintenanceRuns = "autovacuum_count",
        /// Blocks read by the server's own maintenance.
        MaintenanceReads = "autovacuum_reads",
        /// Blocks written by the server's own maintenance.
        MaintenanceWrites = "autovacuum_writes",
        /// Checkpoints that were due to the clock.
        TimedCheckpoints = "num_timed",
        /// Checkpoints that were due to the log's room or to a command, and not to the clock.
        ForcedCheckpoints = "num_requested",
    }
}

impl PartialEq<Counter> for String {
    fn eq(&self, counter: &Counter) -> bool {
        self == counter.name()
    }
}

stored_names! {
    /// A source of a host, as it is called in a run.
    pub enum HostSource {
        /// Latencies of single requests at the device, by [`crate::record::latency::DeviceRequest`].
        BlockTrace = "block_trace",
        /// Control groups.
        Cgroup = "cgroup",
        /// Resources of mindful itself.
        Client = "client",
        /// Resources of the thread that reads settled counters.
        ClientSettled = "client-settled",
        /// Block devices, by [`MetricFamily`].
        Diskstats = "diskstats",
        /// Memory.
        Meminfo = "meminfo",
        /// Processes that are not the run's.
        Neighbours = "neighbours",
        /// Interfaces, by [`MetricFamily`].
        Network = "network",
        /// A host elsewhere, as its Prometheus node_exporter reports it.
        NodeExporter = "node_exporter",
        /// Pressure stall information.
        Pressure = "pressure",
        /// The server's processes.
        Processes = "processes",
        /// The scheduler's account of the sessions' threads.
        SessionThreads = "session_threads",
        /// CPUs; for a single one see [`MetricFamily::CpuBusy`].
        Stat = "stat",
        /// Pages.
        Vmstat = "vmstat",
        /// Limits of a cloud's volumes, by [`VOLUME_LIMITS`].
        VolumeCaps = "volume_caps",
    }
}

impl HostSource {
    /// Whether the source called `name` counts for a whole host, or for mindful on it, for every system under test.
    pub fn is_of_whole_host(name: &str) -> bool {
        let of_server = [Self::Processes, Self::SessionThreads];
        Self::ALL.iter().any(|source| source.name() == name && !of_server.contains(source))
    }
}

/// A counter that each of several things of a host has, by a name that is made of the thing's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricFamily {
    /// Time that one CPU was busy, us; by its number.
    CpuBusy,
    /// Bytes that an interface received so far.
    Received,
    /// Bytes that an interface sent so far.
    Sent,
    /// Bytes per second that an interface can carry in one direction.
    Speed,
    /// Read requests that a block device completed, whether the data lies on it or below it.
    ReadsCompleted,
    /// Sectors that a block device read.
    SectorsRead,
    /// Flush requests that a block device completed.
    FlushesCompleted,
    /// Time of the discard requests that a block device completed.
    DiscardMs,
    /// Any other field of the thing: `sda.reads_merged`.
    Field(&'static str),
}

impl MetricFamily {
    /// The text before and after the name of the thing.
    const fn around(self) -> [&'static str; 3] {
        match self {
            Self::CpuBusy => ["cpu", "", "_busy"],
            Self::Received => ["", ".", "received"],
            Self::Sent => ["", ".", "sent"],
            Self::Speed => ["", ".", "speed"],
            Self::ReadsCompleted => ["", ".", "reads_completed"],
            Self::SectorsRead => ["", ".", "sectors_read"],
            Self::FlushesCompleted => ["", ".", "flushes_completed"],
            Self::DiscardMs => ["", ".", "discard_ms"],
            Self::Field(name) => ["", ".", name],
        }
    }

    /// The metric name for `thing`.
    pub fn metric_name(self, thing: impl std::fmt::Display) -> String {
        let [before, between, behind] = self.around();
        format!("{before}{thing}{between}{behind}")
    }

    /// The thing that the counter `name` belongs to; `None` for a counter of another family.
    pub fn find_thing(self, name: &str) -> Option<&str> {
        let [before, between, behind] = self.around();
        name.strip_prefix(before)?.strip_suffix(behind)?.strip_suffix(between)
    }
}

/// Bytes of a sector in the kernel's counters, for every device.
pub const SECTOR_BYTES: f64 = 512.0;

/// Time during which a limit held the volume back, us: the counter's name and the limit's. For a device the counter is
/// `DEVICE.NAME`.
pub const VOLUME_LIMITS: [(&str, &str); 4] = [
    ("over_volume_iops", "the volume's limit of IOPS"),
    ("over_volume_bytes", "the volume's limit of throughput"),
    ("over_instance_iops", "the instance's limit of IOPS"),
    ("over_instance_bytes", "the instance's limit of throughput"),
];
/// Limits per second of a control group at a device: the counter's name and its unit of work.
pub const GROUP_LIMITS: [(&str, &str); 4] = [
    ("group_reads", "read requests"),
    ("group_read_bytes", "bytes read"),
    ("group_writes", "write requests"),
    ("group_write_bytes", "bytes written"),
];
/// The suffix of the limit gauge's name, after the name of the counter.
pub const LIMIT_SUFFIX: &str = "_limit";

/// CPU that one process used for some time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessCpu {
    /// Process id.
    pub pid: u32,
    /// The kernel's name of it: arbitrary bytes of its owner, as text.
    pub name: String,
    /// CPU that it used, us.
    pub cpu_us: f64,
    /// Bytes that it fetched from storage and sent there, where the kernel lets them be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_bytes: Option<[f64; 2]>,
}

/// When within a slice a sampler is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// At the boundary of two slices: sources that are always current, such as `/proc`.
    Boundary,
    /// In the middle of the following slice, or after all sessions are done: sources that sessions publish when a slice
    /// ends. The values read then are exactly the values at the boundary.
    Settled,
}

stored_names! {
    /// The extent of the counts of a source.
    pub enum Scope {
        /// The database of the target.
        Database = "database",
        /// All databases of its server.
        Server = "server",
        /// The whole host.
        Host = "host",
    }
}

/// A source of a sampler, with its metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledSource {
    /// Its name, such as `pg_stat_io` or `diskstats`.
    pub name: String,
    /// The metrics, in the order of the values of [`Sampler::read`].
    pub metrics: Vec<Metric>,
    /// The extent of its counts.
    pub scope: Scope,
    /// When to read it.
    pub phase: Phase,
}

impl SampledSource {
    /// A source that counts for this host and is read at boundaries.
    pub fn new(name: impl Into<String>, metrics: impl Into<Vec<Metric>>) -> Self {
        Self { name: name.into(), metrics: metrics.into(), scope: Scope::Host, phase: Phase::Boundary }
    }

    /// The same with another scope and phase.
    #[must_use]
    pub fn with(self, scope: Scope, phase: Phase) -> Self {
        Self { scope, phase, ..self }
    }

    /// A sampler of this source that reads by calling `read`.
    pub fn read_by(self, read: impl FnMut() -> Result<Vec<Option<f64>>> + Send + 'static) -> Box<dyn Sampler> {
        Box::new(FunctionSampler { source: self, read })
    }
}

/// Reads some metrics.
pub trait Sampler: Send {
    /// The source that it reads.
    fn source(&self) -> &SampledSource;

    /// The name of its source.
    fn name(&self) -> &str {
        &self.source().name
    }

    /// The metrics of its source.
    fn metrics(&self) -> &[Metric] {
        &self.source().metrics
    }

    /// Reads all metrics once; `None` for an unknown value, never 0.
    fn read(&mut self) -> Result<Vec<Option<f64>>>;

    /// Latencies timed since the last call, which follows each reading. `None` from a sampler that times nothing.
    fn latencies(&mut self) -> Option<SampledLatencies> {
        None
    }

    /// Processes outside the run that used the most CPU since the last call, the busiest first. Called after each
    /// reading. Empty from a sampler that does not observe other processes.
    fn busiest(&mut self) -> Vec<ProcessCpu> {
        Vec::new()
    }
}

struct FunctionSampler<F> {
    source: SampledSource,
    read: F,
}

impl<F: FnMut() -> Result<Vec<Option<f64>>> + Send> Sampler for FunctionSampler<F> {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        (self.read)()
    }
}
