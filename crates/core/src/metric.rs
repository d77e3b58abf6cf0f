//! Metrics and those who read them.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::latency::Sampled;

/// How a metric moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// Only grows (until its source restarts); a rate is the difference of two samples by their time.
    Counter,
    /// Stands for itself at the moment it was read.
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

/// Names every engine and host maps a few of its counters to. All are counters.
pub mod shared {
    /// Block requests to the database's own cache, hit or miss.
    pub const LOGICAL_READS: &str = "logical_reads";
    /// Blocks the database asked the operating system or device for.
    pub const PHYSICAL_READS: &str = "physical_reads";
    /// Requests by which it asked for them, of one block or more each.
    pub const READ_REQUESTS: &str = "reads";
    /// Blocks that scans visited through a ring of a few buffers, past the rest of the database's cache.
    pub const RING_VISITS: &str = "ring_visits";
    /// Blocks the database gave to the operating system or device.
    pub const PHYSICAL_WRITES: &str = "physical_writes";
    /// Of these, blocks that sessions wrote themselves.
    pub const SESSION_WRITES: &str = "session_writes";
    /// Of these, blocks that checkpoints wrote.
    pub const CHECKPOINT_WRITES: &str = "checkpoint_writes";
    /// Of these, blocks that background writers wrote ahead of need.
    pub const BACKGROUND_WRITES: &str = "background_writes";
    /// Bytes of redo, WAL or log.
    pub const LOG_BYTES: &str = "log_bytes";
    /// Writes of the log to the operating system or device.
    pub const LOG_WRITES: &str = "log_writes";
    /// Time the database spent waiting for its reads, us.
    pub const READ_TIME_US: &str = "read_time";
    /// Transactions committed.
    pub const COMMITS: &str = "commits";
    /// Bytes the server's processes caused to be fetched from storage.
    pub const PROCESS_READ_BYTES: &str = "process_read_bytes";
    /// Bytes the server's processes caused to be sent to storage.
    pub const PROCESS_WRITE_BYTES: &str = "process_write_bytes";
    /// User CPU of the server's processes, us.
    pub const SERVER_CPU_USER_US: &str = "server_cpu_user";
    /// System CPU of the server's processes, us.
    pub const SERVER_CPU_SYSTEM_US: &str = "server_cpu_system";
    /// CPU of mindful itself, us.
    pub const CLIENT_CPU_US: &str = "client_cpu";
    /// CPU of the whole host that was busy (user, nice, system, irq, softirq), us.
    pub const HOST_CPU_BUSY_US: &str = "host_cpu_busy";
    /// CPU of the whole host, busy or idle, us.
    pub const HOST_CPU_TOTAL_US: &str = "host_cpu_total";
    /// Time stolen by the hypervisor, us.
    pub const HOST_CPU_STEAL_US: &str = "host_cpu_steal";
    /// Read requests completed by the device that holds the data.
    pub const DEVICE_READS: &str = "device_reads";
    /// Bytes read by the device that holds the data.
    pub const DEVICE_READ_BYTES: &str = "device_read_bytes";
    /// Time reads spent at the device, us.
    pub const DEVICE_READ_TIME_US: &str = "device_read_time";
    /// Write requests completed by the device that holds the data.
    pub const DEVICE_WRITES: &str = "device_writes";
    /// Bytes written by the device that holds the data.
    pub const DEVICE_WRITE_BYTES: &str = "device_write_bytes";
    /// Requests in time at the device (for the queue length), us.
    pub const DEVICE_QUEUE_TIME_US: &str = "device_queue_time";
}

/// When within a slice a sampler is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// At the border of two slices: sources that are always current, such as `/proc`.
    Border,
    /// In the middle of the following slice, or once all sessions are done: sources that sessions publish when a slice
    /// ends. What is read then stands exactly as it was at the border.
    Settled,
}

/// Reads some metrics.
pub trait Sampler: Send {
    /// Name of the source, such as `pg_stat_io` or `diskstats`.
    fn name(&self) -> &str;

    /// The metrics, in the order of the values of [`Sampler::read`].
    fn metrics(&self) -> &[Metric];

    /// When to read it.
    fn phase(&self) -> Phase {
        Phase::Border
    }

    /// Reads all metrics once; `None` where a value is not to be had. Never 0 for unknown.
    fn read(&mut self) -> Result<Vec<Option<f64>>>;

    /// Latencies it timed since it was asked last; asked after each reading. `None` from a sampler that times nothing.
    fn latencies(&mut self) -> Option<Sampled> {
        None
    }
}
