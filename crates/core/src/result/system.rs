//! What the target and its host did meanwhile: waits, limits, the device, CPUs.

use serde::{Deserialize, Serialize};

/// Waits that the database itself counted by how long they took, in buckets that each reach to twice the one before: a
/// percentile is the middle of its bucket. All null where it did not, or nobody asked it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitSummary {
    /// Waits for one block.
    pub reads: Option<u64>,
    /// Their median, us.
    pub read_p50_us: Option<f64>,
    /// Their 95th percentile, us.
    pub read_p95_us: Option<f64>,
    /// Their 99th percentile, us; null below 1,000 of them.
    pub read_p99_us: Option<f64>,
    /// Writes of the log.
    pub log_writes: Option<u64>,
    /// Their median, us.
    pub log_write_p50_us: Option<f64>,
    /// Their 99th percentile, us; null below 1,000 of them.
    pub log_write_p99_us: Option<f64>,
}

/// How long limits of the storage were reached in the window: of volumes that tell it (Amazon's), us, and of the server's
/// control group. Null where nobody tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapSummary {
    /// Over the volume's limit of IOPS, us.
    pub volume_iops_us: Option<f64>,
    /// Over the volume's limit of throughput, us.
    pub volume_bytes_us: Option<f64>,
    /// Over the instance's limit of IOPS, us.
    pub instance_iops_us: Option<f64>,
    /// Over the instance's limit of throughput, us.
    pub instance_bytes_us: Option<f64>,
    /// What the control group did by what it may, 0 to 1; the largest of its limits of I/O.
    pub group_share: Option<f64>,
}

/// Latencies of single requests at the device, from the kernel's events of a sample of them: from issue to completion,
/// without the time in the scheduler's queue. All null where requests cannot be timed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceSummary {
    /// One of so many requests was timed.
    pub one_of: Option<u64>,
    /// Reads timed in the window.
    pub reads_timed: Option<u64>,
    /// Median of reads, us.
    pub read_p50_us: Option<f64>,
    /// 99th percentile of reads, us; null below 1,000 of them.
    pub read_p99_us: Option<f64>,
    /// Writes timed in the window.
    pub writes_timed: Option<u64>,
    /// Median of writes, us.
    pub write_p50_us: Option<f64>,
    /// 99th percentile of writes, us; null below 1,000 of them.
    pub write_p99_us: Option<f64>,
}

/// CPU in figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuSummary {
    /// Cores' worth of CPU the server's processes used.
    pub db_cores: Option<f64>,
    /// Share of the host's CPU that was busy, 0 to 1.
    pub host_busy_share: Option<f64>,
    /// Cores' worth of CPU mindful itself used.
    pub client_cores: Option<f64>,
    /// Server CPU by physical reads, us.
    pub db_us_per_physical_read: Option<f64>,
    /// Server CPU by logical reads, us.
    pub db_us_per_logical_read: Option<f64>,
    /// Cores' worth of CPU the server's processes used in user mode.
    #[serde(default)]
    pub db_user_cores: Option<f64>,
    /// Cores' worth of CPU they used in the kernel.
    #[serde(default)]
    pub db_system_cores: Option<f64>,
    /// Cores' worth of CPU of the whole host in the kernel, interrupts apart.
    #[serde(default)]
    pub host_kernel_cores: Option<f64>,
    /// Cores' worth of CPU of the whole host in interrupts and soft interrupts.
    #[serde(default)]
    pub host_interrupt_cores: Option<f64>,
    /// Share of the host's CPU time that the hypervisor gave to others, 0 to 1.
    #[serde(default)]
    pub steal_share: Option<f64>,
    /// Server CPU by commits, us; what reads cost included.
    #[serde(default)]
    pub db_us_per_commit: Option<f64>,
    /// What a physical read adds to the server CPU of a logical one, us; null without a cached run to compare with.
    #[serde(default)]
    pub db_us_per_physical_read_marginal: Option<f64>,
    /// Physical reads per second by cores of the server; null where scans or large reads are among them.
    #[serde(default)]
    pub iops_per_core: Option<f64>,
    /// Cores of the server for 100,000 physical reads per second; null where the one before is.
    #[serde(default)]
    pub cores_per_100k_iops: Option<f64>,
    /// Cores' worth of CPU that mindful used to watch: reading counters, timing requests, asking for wait events.
    #[serde(default)]
    pub watching_cores: Option<f64>,
    /// Server CPU that sampling wait events took, by all server CPU, 0 to 1.
    #[serde(default)]
    pub wait_sampling_share: Option<f64>,
}
