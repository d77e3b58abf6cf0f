//! Metrics and their readers.

use serde::{Deserialize, Serialize};

use crate::contract::error::Result;
use crate::record::latency::SampledLatencies;

/// How a metric moves.
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
    /// The name the source itself gives it, or one of [`shared`].
    pub name: String,
    /// Unit of the raw value: `blocks`, `bytes`, `us`, `1`…
    pub unit: String,
    /// Counter or gauge.
    pub kind: MetricKind,
    /// What it counts, in a sentence.
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

/// A counter that figures are made of, by the name it is stored under. The code that writes it and the code that reads
/// it share the constant, so that neither can be renamed alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Counter(&'static str);

impl Counter {
    /// The name it is stored under.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl std::fmt::Display for Counter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.0)
    }
}

impl From<Counter> for String {
    fn from(counter: Counter) -> Self {
        counter.0.to_owned()
    }
}

impl PartialEq<Counter> for String {
    fn eq(&self, counter: &Counter) -> bool {
        self == counter.0
    }
}

/// Counters that every engine and host maps a few of its own to.
pub mod shared {
    use super::Counter;

    /// Block requests to the database's own cache, hit or miss.
    pub const LOGICAL_READS: Counter = Counter("logical_reads");
    /// Blocks the database asked the operating system or device for.
    pub const PHYSICAL_READS: Counter = Counter("physical_reads");
    /// Of these, blocks that were read into its cache before anyone asked for them.
    pub const READS_AHEAD: Counter = Counter("physical_reads_prefetched");
    /// Of these, blocks that were read past its cache.
    pub const READS_DIRECT: Counter = Counter("physical_reads_direct");
    /// Read requests that a cache of the storage itself served.
    pub const STORAGE_CACHE_READS: Counter = Counter("flash_cache_reads");
    /// Bytes that storage sent after it had filtered rows itself.
    pub const FILTERED_BYTES: Counter = Counter("smart_scan_bytes");
    /// Requests by which it asked for them, of one block or more each.
    pub const READ_REQUESTS: Counter = Counter("reads");
    /// Blocks that scans visited through a ring of a few buffers, past the rest of the database's cache.
    pub const RING_VISITS: Counter = Counter("ring_visits");
    /// Reads of one block for which a session waited.
    pub const SINGLE_READS: Counter = Counter("single_block_reads");
    /// Time sessions waited for them, us.
    pub const SINGLE_READ_TIME_US: Counter = Counter("single_block_read_time");
    /// Requests by which the database wrote, of one block or more each; its log apart.
    pub const WRITE_REQUESTS: Counter = Counter("write_requests");
    /// Time that sessions were busy, on a CPU or waiting, us.
    pub const BUSY_TIME_US: Counter = Counter("busy_time");
    /// Blocks the database gave to the operating system or device.
    pub const PHYSICAL_WRITES: Counter = Counter("physical_writes");
    /// Of these, blocks that sessions wrote themselves.
    pub const SESSION_WRITES: Counter = Counter("session_writes");
    /// Of these, blocks that checkpoints wrote.
    pub const CHECKPOINT_WRITES: Counter = Counter("checkpoint_writes");
    /// Of these, blocks that background writers wrote ahead of need.
    pub const BACKGROUND_WRITES: Counter = Counter("background_writes");
    /// Bytes of redo, WAL or log.
    pub const LOG_BYTES: Counter = Counter("log_bytes");
    /// Writes of the log to the operating system or device.
    pub const LOG_WRITES: Counter = Counter("log_writes");
    /// Times the database asked the operating system to make its log durable.
    pub const LOG_SYNCS: Counter = Counter("log_syncs");
    /// Records of the log.
    pub const LOG_RECORDS: Counter = Counter("log_records");
    /// Of these, images of whole blocks.
    pub const LOG_IMAGES: Counter = Counter("log_images");
    /// Time that syncs of the log took, us.
    pub const LOG_SYNC_TIME_US: Counter = Counter("log_sync_time");
    /// Bytes of the log given to the operating system or device, padding included.
    pub const LOG_WRITE_BYTES: Counter = Counter("log_write_bytes");
    /// Time the database spent waiting for its reads, us.
    pub const READ_TIME_US: Counter = Counter("read_time");
    /// Waits of sessions for the log to be on storage, one a commit that waits.
    pub const COMMIT_WAITS: Counter = Counter("redo_synch_writes");
    /// Transactions committed.
    pub const COMMITS: Counter = Counter("commits");
    /// Bytes the server's processes caused to be fetched from storage.
    pub const PROCESS_READ_BYTES: Counter = Counter("process_read_bytes");
    /// Server processes that work for the run's sessions alone; a gauge.
    pub const SESSION_PROCESSES: Counter = Counter("session_processes");
    /// Bytes that these caused to be fetched from storage.
    pub const SESSION_READ_BYTES: Counter = Counter("session_read_bytes");
    /// Blocks that the run's database had to read, those of other databases left out.
    pub const DATABASE_READS: Counter = Counter("database_reads");
    /// Bytes the server's processes caused to be sent to storage.
    pub const PROCESS_WRITE_BYTES: Counter = Counter("process_write_bytes");
    /// User CPU of the server's processes, us.
    pub const SERVER_CPU_USER_US: Counter = Counter("server_cpu_user");
    /// System CPU of the server's processes, us.
    pub const SERVER_CPU_SYSTEM_US: Counter = Counter("server_cpu_system");
    /// CPU of the server's processes, where user and system are not distinguishable, us.
    pub const SERVER_CPU_US: Counter = Counter("server_cpu");
    /// CPU of mindful itself, us.
    pub const CLIENT_CPU_US: Counter = Counter("client_cpu");
    /// The most memory that mindful itself held so far, bytes; a gauge.
    pub const CLIENT_PEAK_BYTES: Counter = Counter("client_peak_memory");
    /// CPU of the whole host that was busy (user, nice, system, irq, softirq), us.
    pub const HOST_CPU_BUSY_US: Counter = Counter("host_cpu_busy");
    /// CPU of the whole host, busy or idle, us.
    pub const HOST_CPU_TOTAL_US: Counter = Counter("host_cpu_total");
    /// Time stolen by the hypervisor, us.
    pub const HOST_CPU_STEAL_US: Counter = Counter("host_cpu_steal");
    /// Read requests completed by the device that holds the data.
    pub const DEVICE_READS: Counter = Counter("device_reads");
    /// Bytes read by the device that holds the data.
    pub const DEVICE_READ_BYTES: Counter = Counter("device_read_bytes");
    /// Time reads spent at the device, us.
    pub const DEVICE_READ_TIME_US: Counter = Counter("device_read_time");
    /// Write requests completed by the device that holds the data.
    pub const DEVICE_WRITES: Counter = Counter("device_writes");
    /// Bytes written by the device that holds the data.
    pub const DEVICE_WRITE_BYTES: Counter = Counter("device_write_bytes");
    /// Write requests completed by the device that holds the log.
    pub const LOG_DEVICE_WRITES: Counter = Counter("log_device_writes");
    /// Bytes written by the device that holds the log.
    pub const LOG_DEVICE_WRITE_BYTES: Counter = Counter("log_device_write_bytes");
    /// Flush requests completed by the device that holds the log.
    pub const LOG_DEVICE_FLUSHES: Counter = Counter("log_device_flushes");
    /// Time these flushes took, us.
    pub const LOG_DEVICE_FLUSH_TIME_US: Counter = Counter("log_device_flush_time");
    /// Requests in time at the device (for the queue length), us.
    pub const DEVICE_QUEUE_TIME_US: Counter = Counter("device_queue_time");
    /// CPU of the whole host in user mode, us.
    pub const HOST_CPU_USER_US: Counter = Counter("user");
    /// CPU of the whole host in user mode at low priority, us.
    pub const HOST_CPU_NICE_US: Counter = Counter("nice");
    /// CPU of the kernel's own threads, us: they serve everybody's I/O.
    pub const KERNEL_THREADS_US: Counter = Counter("kernel_threads_cpu");
    /// CPU of the whole host in the kernel, interrupts apart, us.
    pub const HOST_CPU_SYSTEM_US: Counter = Counter("system");
    /// CPU of the whole host in interrupts, us.
    pub const HOST_CPU_IRQ_US: Counter = Counter("irq");
    /// CPU of the whole host in soft interrupts, us.
    pub const HOST_CPU_SOFTIRQ_US: Counter = Counter("softirq");
    /// Time that the control group's CPUs were held back, summed over CPUs, us.
    pub const THROTTLED_US: Counter = Counter("cpu_throttled_time");
    /// Periods in which the control group had used up its CPU before the end.
    pub const THROTTLED_PERIODS: Counter = Counter("cpu_throttled_periods");
    /// Pages brought back from swap.
    pub const PAGES_SWAPPED_IN: Counter = Counter("pswpin");
    /// Times somebody dropped the page cache.
    pub const PAGE_CACHE_DROPS: Counter = Counter("drop_pagecache");
    /// Processes that the kernel killed for want of memory.
    pub const OOM_KILLS: Counter = Counter("oom_kill");
    /// Time that the sessions' threads were on a CPU, us.
    pub const SESSION_CPU_US: Counter = Counter("session_cpu");
    /// Time that the sessions' threads waited for a CPU, us.
    pub const SESSION_QUEUE_US: Counter = Counter("session_run_queue");
    /// Time in which the sessions' threads were watched, us.
    pub const SESSION_TIME_US: Counter = Counter("session_time");
    /// CPU of the thread that reads counters at boundaries, us.
    pub const OBSERVER_CPU_US: Counter = Counter("observer_cpu");
    /// CPU of the thread that reads counters once they have settled, us.
    pub const SETTLED_OBSERVER_CPU_US: Counter = Counter("settled_observer_cpu");
    /// CPU of the thread that times requests at the device, us.
    pub const TRACE_CPU_US: Counter = Counter("trace_cpu");
    /// CPU of mindful's thread that asks the server for its waits, us.
    pub const SAMPLING_CPU_US: Counter = Counter("sampling_cpu");
    /// CPU of the server process that answers it, us.
    pub const MONITOR_CPU_US: Counter = Counter("monitor_cpu");
    /// Events of requests read from the kernel's trace.
    pub const TRACE_EVENTS: Counter = Counter("trace_events");
    /// Events of requests that found the trace's buffer full.
    pub const TRACE_LOST: Counter = Counter("trace_lost");
    /// Times the server's waits were sampled.
    pub const SAMPLINGS: Counter = Counter("samplings");
    /// Reads that the server had under way, summed over the samples.
    pub const READS_IN_FLIGHT: Counter = Counter("reads_in_flight");
    /// Samples of the reads that the server had under way.
    pub const READS_LOOKS: Counter = Counter("reads_looks");
    /// Samplings that saw the server's own maintenance at work.
    pub const MAINTENANCE_SAMPLES: Counter = Counter("server/autovacuum");
    /// Other sessions of the server that were at work, summed over the samplings.
    pub const OTHERS_SAMPLES: Counter = Counter("server/others");
    /// Runs of the server's own maintenance that ended on mindful's tables.
    pub const MAINTENANCE_RUNS: Counter = Counter("autovacuum_count");
    /// Blocks that the server's own maintenance read.
    pub const MAINTENANCE_READS: Counter = Counter("autovacuum_reads");
    /// Blocks that the server's own maintenance wrote.
    pub const MAINTENANCE_WRITES: Counter = Counter("autovacuum_writes");
    /// Checkpoints that were due to the clock.
    pub const TIMED_CHECKPOINTS: Counter = Counter("num_timed");
    /// Checkpoints that were due to the log's room or to a command, and not to the clock.
    pub const FORCED_CHECKPOINTS: Counter = Counter("num_requested");
}

/// The sources of a host, as they are called in a run.
pub mod source {
    /// Latencies of single requests at the device, of the kinds [`crate::record::latency::at_device`].
    pub const BLOCK_TRACE: &str = "block_trace";
    /// Control groups.
    pub const CGROUP: &str = "cgroup";
    /// What mindful itself uses.
    pub const CLIENT: &str = "client";
    /// The same of the thread that reads what has settled.
    pub const CLIENT_SETTLED: &str = "client-settled";
    /// Block devices, by [`super::block_device`].
    pub const DISKSTATS: &str = "diskstats";
    /// Memory.
    pub const MEMINFO: &str = "meminfo";
    /// Processes that are not the run's.
    pub const NEIGHBOURS: &str = "neighbours";
    /// Interfaces, by [`super::network`].
    pub const NETWORK: &str = "network";
    /// A host elsewhere, as its Prometheus node_exporter reports it.
    pub const NODE_EXPORTER: &str = "node_exporter";
    /// Pressure stall information.
    pub const PRESSURE: &str = "pressure";
    /// The server's processes.
    pub const PROCESSES: &str = "processes";
    /// The scheduler's account of the sessions' threads.
    pub const SESSION_THREADS: &str = "session_threads";
    /// CPUs; for a single one see [`super::CPU_BUSY`].
    pub const STAT: &str = "stat";
    /// Pages.
    pub const VMSTAT: &str = "vmstat";
    /// Limits of a cloud's volumes, by [`super::limits`].
    pub const VOLUME_CAPS: &str = "volume_caps";

    /// Those that count for a whole host, or for mindful on it, whichever system under test they are asked about.
    pub const HOST_SOURCES: [&str; 13] = [
        BLOCK_TRACE,
        CGROUP,
        CLIENT,
        CLIENT_SETTLED,
        DISKSTATS,
        MEMINFO,
        NEIGHBOURS,
        NETWORK,
        NODE_EXPORTER,
        PRESSURE,
        STAT,
        VMSTAT,
        VOLUME_CAPS,
    ];
}

/// A counter that each of several things of a host has, by a name that is made of the thing's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricFamily {
    before: &'static str,
    between: &'static str,
    behind: &'static str,
}

impl MetricFamily {
    /// One that is a field of the thing: `sda.reads_completed`.
    pub const fn field(name: &'static str) -> Self {
        Self { before: "", between: ".", behind: name }
    }

    /// The name under which that of `thing` is stored.
    pub fn metric_name(self, thing: impl std::fmt::Display) -> String {
        format!("{}{thing}{}{}", self.before, self.between, self.behind)
    }

    /// The thing that the counter `name` belongs to; `None` for a counter of another family.
    pub fn find_thing(self, name: &str) -> Option<&str> {
        name.strip_prefix(self.before)?.strip_suffix(self.behind)?.strip_suffix(self.between)
    }
}

/// Time that one CPU of the host was busy, us; by its number.
pub const CPU_BUSY: MetricFamily = MetricFamily { before: "cpu", between: "", behind: "_busy" };

/// What the interfaces of a host carry.
pub mod network {
    use super::MetricFamily;

    /// Bytes received so far.
    pub const RECEIVED: MetricFamily = MetricFamily::field("received");
    /// Bytes sent so far.
    pub const SENT: MetricFamily = MetricFamily::field("sent");
    /// Bytes per second that it can carry in one direction.
    pub const SPEED: MetricFamily = MetricFamily::field("speed");
}

/// What the kernel counts of each block device, whether the data lies on it or below it.
pub mod block_device {
    use super::MetricFamily;

    /// Read requests completed.
    pub const READS: MetricFamily = MetricFamily::field("reads_completed");
    /// Sectors read.
    pub const SECTORS_READ: MetricFamily = MetricFamily::field("sectors_read");
    /// Flush requests completed.
    pub const FLUSHES: MetricFamily = MetricFamily::field("flushes_completed");
    /// Bytes of a sector in the kernel's counters, whatever the device says.
    pub const SECTOR_BYTES: f64 = 512.0;
}

/// Limits that storage is held by, where they are counted: of each device the counter is `DEVICE.NAME`.
pub mod limits {
    /// The time that each limit of a volume held it, us: the counter's name, and what the limit is called.
    pub const VOLUME_LIMITS: [(&str, &str); 4] = [
        ("over_volume_iops", "the volume's limit of IOPS"),
        ("over_volume_bytes", "the volume's limit of throughput"),
        ("over_instance_iops", "the instance's limit of IOPS"),
        ("over_instance_bytes", "the instance's limit of throughput"),
    ];
    /// What a control group may do a second at a device: the counter's name, and what it counts.
    pub const GROUP_LIMITS: [(&str, &str); 4] = [
        ("group_reads", "read requests"),
        ("group_read_bytes", "bytes read"),
        ("group_writes", "write requests"),
        ("group_write_bytes", "bytes written"),
    ];
    /// The suffix of the limit gauge's name, after the name of the counter.
    pub const GAUGE_SUFFIX: &str = "_limit";
}

/// CPU that one process used for some time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessCpu {
    /// Its id.
    pub pid: u32,
    /// What the kernel calls it: any bytes of its owner's choice, as text.
    pub name: String,
    /// CPU it used, us.
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
    /// In the middle of the following slice, or once all sessions are done: sources that sessions publish when a slice
    /// ends. The values read then are exactly those at the boundary.
    Settled,
}

/// What a source counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The database of the target.
    Database,
    /// All databases of its server.
    Server,
    /// The whole host.
    Host,
}

impl Scope {
    /// Its name, as columns bear it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Server => "server",
            Self::Host => "host",
        }
    }
}

/// Reads some metrics.
pub trait Sampler: Send {
    /// What it counts for: this host, unless the database or the server counts.
    fn scope(&self) -> Scope {
        Scope::Host
    }

    /// Name of the source, such as `pg_stat_io` or `diskstats`.
    fn name(&self) -> &str;

    /// The metrics, in the order of the values of [`Sampler::read`].
    fn metrics(&self) -> &[Metric];

    /// When to read it.
    fn phase(&self) -> Phase {
        Phase::Boundary
    }

    /// Reads all metrics once; `None` where a value is not to be had. Never 0 for unknown.
    fn read(&mut self) -> Result<Vec<Option<f64>>>;

    /// Latencies it timed since it was asked last; asked after each reading. `None` from a sampler that times nothing.
    fn latencies(&mut self) -> Option<SampledLatencies> {
        None
    }

    /// Processes outside the run that used the most CPU since the last call, the busiest first; asked after each
    /// reading. Empty from a sampler that does not observe other processes.
    fn busiest(&mut self) -> Vec<ProcessCpu> {
        Vec::new()
    }
}
