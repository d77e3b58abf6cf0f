//! Measurements of the target and its host during the step: waits, limits, the device, CPUs, and the log from commits to
//! the device that they wait for.

use serde::{Deserialize, Serialize};

use super::figure::{GROWTH, summary_of_figures};

summary_of_figures! {
/// Waits by duration, as the database counted them, in buckets that each reach to twice the one before. A percentile is
/// the middle of its bucket. All null if the database did not count them, or the run did not read them.
#[derive(Default)]
pub struct WaitSummary {
    /// Waits for one block.
    reads: Option<u64> = figure(Count, "waits for one block, as the database counted them", []),
    /// Their median, us.
    read_p50_us: Option<f64> = figure(
        Microseconds,
        "middle of the bucket in which half of the waits for one block are reached",
        []
    ),
    /// Their 95th percentile, us.
    read_p95_us: Option<f64> = figure(
        Microseconds,
        "middle of the bucket in which 95 % of the waits for one block are reached",
        []
    ),
    /// Their 99th percentile, us; null below 1,000 of them.
    read_p99_us: Option<f64> = figure(
        Microseconds,
        "middle of the bucket in which 99 % of the waits for one block are reached",
        []
    ),
    /// Writes of the log.
    log_writes: Option<u64> = figure(Count, "writes of the log, as the database counted them", []),
    /// Their median, us.
    log_write_p50_us: Option<f64> = figure(
        Microseconds,
        "middle of the bucket in which half of the writes of the log are reached",
        []
    ),
    /// Their 99th percentile, us; null below 1,000 of them.
    log_write_p99_us: Option<f64> = figure(
        Microseconds,
        "middle of the bucket in which 99 % of the writes of the log are reached",
        []
    ),
    /// Syncs of the log, or of bare files after writes.
    log_syncs: Option<u64> = figure(Count, "syncs of the log or of bare files, as they were counted", []),
    /// Their median, us.
    log_sync_p50_us: Option<f64> = figure(
        Microseconds,
        "middle of the bucket in which half of the syncs are reached",
        []
    ),
    /// Their 99th percentile, us; null below 1,000 of them.
    log_sync_p99_us: Option<f64> = figure(
        Microseconds,
        "middle of the bucket in which 99 % of the syncs are reached",
        []
    ),
}
}

summary_of_figures! {
/// Time at limits of the storage in the window, us: of volumes that report it (Amazon's) and of the server's control
/// group. Null if no source reports it.
#[derive(Default)]
pub struct CapSummary {
    /// Over the volume's limit of IOPS, us.
    volume_iops_us: Option<f64> = figure(
        Microseconds,
        "time over the volume's limit of IOPS, as the volume reports it (`DEVICE.over_volume_iops`); the longest of \
         several",
        []
    ),
    /// Over the volume's limit of throughput, us.
    volume_bytes_us: Option<f64> = figure(
        Microseconds,
        "time over the volume's limit of throughput (`DEVICE.over_volume_bytes`); the longest of several volumes",
        []
    ),
    /// Over the instance's limit of IOPS, us.
    instance_iops_us: Option<f64> = figure(
        Microseconds,
        "time over the instance's limit of IOPS (`DEVICE.over_instance_iops`); the longest of several volumes",
        []
    ),
    /// Over the instance's limit of throughput, us.
    instance_bytes_us: Option<f64> = figure(
        Microseconds,
        "time over the instance's limit of throughput (`DEVICE.over_instance_bytes`); the longest of several volumes",
        []
    ),
    /// Use of the control group by its limit, 0 to 1; the largest of its limits of I/O.
    group_share: Option<f64> = figure(
        Share,
        "I/O of the server's control group a second / the group's limit (`DEVICE.group_reads` by its limit); \
         the largest of requests and bytes, reads and writes",
        []
    ),
}
}

summary_of_figures! {
/// Latencies of single requests at the device, from the kernel's events of a sample of them: from issue to completion,
/// without the time in the scheduler's queue. All null where requests cannot be timed.
#[derive(Default)]
pub struct DeviceSummary {
    /// One of so many requests was timed.
    one_of: Option<u64> = figure(
        Count,
        "one in this number of requests was timed at the device, chosen by its sector; the smallest share of the window",
        [TraceEvents, TraceLost]
    ),
    /// Reads timed in the window.
    reads_timed: Option<u64> = figure(
        Count,
        "reads in the window for which the kernel reported both issue and completion",
        [TraceEvents, TraceLost]
    ),
    /// Median of reads, us.
    read_p50_us: Option<f64> = figure(
        Microseconds,
        "time from issue to completion that half of the timed reads do not exceed",
        [TraceEvents, TraceLost]
    ),
    /// 99th percentile of reads, us; null below 1,000 of them.
    read_p99_us: Option<f64> = figure(
        Microseconds,
        "time from issue to completion that 99 % of the timed reads do not exceed",
        [TraceEvents, TraceLost]
    ),
    /// Writes timed in the window.
    writes_timed: Option<u64> = figure(
        Count,
        "writes in the window for which the kernel reported both issue and completion",
        [TraceEvents, TraceLost]
    ),
    /// Median of writes, us.
    write_p50_us: Option<f64> = figure(
        Microseconds,
        "time from issue to completion that half of the timed writes do not exceed",
        [TraceEvents, TraceLost]
    ),
    /// 99th percentile of writes, us; null below 1,000 of them.
    write_p99_us: Option<f64> = figure(
        Microseconds,
        "time from issue to completion that 99 % of the timed writes do not exceed",
        [TraceEvents, TraceLost]
    ),
}
}

summary_of_figures! {
/// CPU in figures.
#[derive(Default)]
pub struct CpuSummary {
    /// Cores' worth of CPU the server's processes used.
    db_cores: Option<f64> = figure(
        Cores,
        "user and system CPU of the server's processes / time; of its sessions if only they report it",
        [ServerCpuUserUs, ServerCpuSystemUs]
    ),
    /// Cores' worth of CPU the server's processes used in user mode.
    db_user_cores: Option<f64> = figure(Cores, "user CPU of the server's processes / time", [ServerCpuUserUs]),
    /// Cores' worth of CPU they used in the kernel.
    db_system_cores: Option<f64> = figure(Cores, "system CPU of the server's processes / time", [ServerCpuSystemUs]),
    /// Share of the host's CPU that was busy, 0 to 1.
    host_busy_share: Option<f64> = figure(
        Share,
        "busy CPU time of the host (user, nice, system, irq, softirq) / all CPU time",
        [HostCpuBusyUs, HostCpuTotalUs]
    ),
    /// Cores' worth of CPU of the whole host in the kernel, interrupts apart.
    host_kernel_cores: Option<f64> = figure(
        Cores,
        "CPU of the whole host in the kernel, interrupts apart / time",
        [HostCpuSystemUs]
    ),
    /// Cores' worth of CPU of the whole host in interrupts and soft interrupts.
    host_interrupt_cores: Option<f64> = figure(
        Cores,
        "CPU of the whole host in interrupts and soft interrupts / time",
        [HostCpuIrqUs, HostCpuSoftirqUs]
    ),
    /// Share of the host's CPU time that the hypervisor gave to others, 0 to 1.
    steal_share: Option<f64> = figure(
        Share,
        "CPU time that the hypervisor gave to others / all CPU time of the host",
        [HostCpuStealUs, HostCpuTotalUs]
    ),
    /// Cores' worth of CPU mindful itself used.
    client_cores: Option<f64> = figure(Cores, "CPU time of mindful / time; of several ranks the sum", [ClientCpuUs]),
    /// Cores' worth of CPU that mindful used to watch: reading counters, timing requests, asking for wait events.
    watching_cores: Option<f64> = figure(
        Cores,
        "CPU of the threads that read counters, time requests and sample wait events / time",
        [ObserverCpuUs, SettledObserverCpuUs, TraceCpuUs, SamplingCpuUs]
    ),
    /// Cores' worth of CPU that the sessions reported for their slices; null where they cannot.
    #[serde(default)]
    sessions_cores: Option<f64> = figure(Cores, "CPU of the sessions in their slices / duration_s", []),
    /// Share of the sessions' busy time that their threads were on a CPU, 0 to 1.
    #[serde(default)]
    sessions_on_cpu_share: Option<f64> = figure(
        Share,
        "time of the sessions' threads on a CPU / their time, idle time excluded",
        [SessionCpuUs, SessionTimeUs]
    ),
    /// Share of it that they waited for a CPU, 0 to 1.
    #[serde(default)]
    sessions_in_run_queue_share: Option<f64> = figure(
        Share,
        "time of the sessions' threads in the run queue / their time, idle time excluded",
        [SessionQueueUs, SessionTimeUs]
    ),
    /// Share of it that they were asleep, 0 to 1.
    #[serde(default)]
    sessions_asleep_share: Option<f64> = figure(
        Share,
        "1 - sessions_on_cpu_share - sessions_in_run_queue_share",
        [SessionCpuUs, SessionQueueUs, SessionTimeUs]
    ),
    /// Server CPU that sampling wait events took, by all server CPU, 0 to 1.
    wait_sampling_share: Option<f64> = figure(
        Share,
        "CPU of the server process that answers the sampling of waits / CPU of all the server's processes",
        [MonitorCpuUs, ServerCpuUserUs, ServerCpuSystemUs]
    ),
    /// Server CPU by physical reads, us.
    db_us_per_physical_read: Option<f64> = figure(
        Microseconds,
        "10^6 x db_cores / physical reads per second",
        [ServerCpuUserUs, ServerCpuSystemUs, PhysicalReads]
    ),
    /// Server CPU that a physical read adds to a logical one, us; null without a cached run for comparison.
    db_us_per_physical_read_marginal: Option<f64> = figure(
        Microseconds,
        "(db_us_per_logical_read - the same in a cached run) x logical reads / physical reads; unknown when no \
         cached run of this engine, version and CPU was stored before (--mode lio), when less than 5 % of logical \
         reads are physical, and with updates",
        [ServerCpuUserUs, ServerCpuSystemUs, LogicalReads, PhysicalReads]
    ),
    /// Server CPU by logical reads, us.
    db_us_per_logical_read: Option<f64> = figure(
        Microseconds,
        "10^6 x db_cores / logical reads per second",
        [ServerCpuUserUs, ServerCpuSystemUs, LogicalReads]
    ),
    /// Server CPU by commits, us; includes the cost of reads.
    db_us_per_commit: Option<f64> = figure(
        Microseconds,
        "10^6 x db_cores / commits per second: reads and updates between two commits are in it",
        [ServerCpuUserUs, ServerCpuSystemUs, Commits]
    ),
    /// Physical reads per second by cores of the server; null where scans or large reads are among them.
    iops_per_core: Option<f64> = figure(
        PerSecond,
        "physical reads per second / db_cores",
        [ServerCpuUserUs, ServerCpuSystemUs, PhysicalReads]
    ),
    /// Cores of the server for 100,000 physical reads per second; null where the one before is.
    cores_per_100k_iops: Option<f64> = figure(
        Cores,
        "100,000 x db_cores / physical reads per second",
        [ServerCpuUserUs, ServerCpuSystemUs, PhysicalReads]
    ),
}
}

summary_of_figures! {
/// The log of the updates; null if unknown, and for runs without updates.
#[derive(Default)]
pub struct LogSummary {
    /// Records per second.
    records_per_s: Option<f64> = figure(PerSecond, GROWTH, [LogRecords]),
    /// Images of whole blocks per second.
    images_per_s: Option<f64> = figure(PerSecond, GROWTH, [LogImages]),
    /// Images of whole blocks by records, 0 to 1; at most 1.
    image_share: Option<f64> = figure(
        Share,
        "images of whole blocks / records of the log, at most 1",
        [LogImages, LogRecords]
    ),
    /// Writes of the log per second, as the database made them.
    writes_per_s: Option<f64> = figure(PerSecond, GROWTH, [LogWrites]),
    /// Bytes of the log that the database wrote per second, padding included.
    write_bytes_per_s: Option<f64> = figure(BytesPerSecond, GROWTH, [LogWriteBytes]),
    /// The same as the kernel counted it for the server's processes.
    process_write_bytes_per_s: Option<f64> = figure(
        BytesPerSecond,
        "bytes that the server's processes caused to be written, less the blocks that the database wrote",
        [ProcessWriteBytes, PhysicalWrites]
    ),
    /// Syncs of the log per second, as requested by the database.
    syncs_per_s: Option<f64> = figure(PerSecond, GROWTH, [LogSyncs]),
    /// Commits that one sync made durable on average.
    commits_per_sync: Option<f64> = figure(
        Count,
        "commits per second / syncs of the log per second; if syncs are not counted, flushes of a device with only the log",
        [Commits, LogSyncs, LogDeviceFlushes]
    ),
    /// Bytes of log that one sync made durable on average.
    bytes_per_sync: Option<f64> = figure(
        Bytes,
        "bytes of log / syncs of the log; if syncs are not counted, flushes of a device with only the log",
        [LogBytes, LogSyncs, LogDeviceFlushes]
    ),
    /// Write requests completed by the device of the log per second, by all processes.
    device_writes_per_s: Option<f64> = figure(PerSecond, GROWTH, [LogDeviceWrites]),
    /// Bytes written by the device of the log per second, by all processes.
    device_write_bytes_per_s: Option<f64> = figure(BytesPerSecond, GROWTH, [LogDeviceWriteBytes]),
    /// Bytes that the journal of the log's file system wrote, as the kernel reported each of its transactions.
    journal_bytes_per_s: Option<f64> = figure(
        BytesPerSecond,
        "bytes of the transactions that the journal of the log's file system wrote, as the kernel reported each (ext4, as \
         root); unknown where data lies there, too",
        [LogJournalBytes, TraceLost]
    ),
    /// Bytes that the device of the log wrote beyond the log and the journal of its file system.
    other_bytes_per_s: Option<f64> = figure(
        BytesPerSecond,
        "bytes written by the device of the log less the log that the database wrote, less the journal of its file \
         system; unknown where one of them is, and where data lies there, too",
        [LogDeviceWriteBytes, LogWriteBytes, LogJournalBytes]
    ),
    /// Flushes completed by the device of the log per second.
    device_flushes_per_s: Option<f64> = figure(PerSecond, GROWTH, [LogDeviceFlushes]),
    /// Bytes written by the devices of data and log, by the bytes that updates changed.
    write_amplification: Option<f64> = figure(
        Count,
        "bytes written by the devices of data and log / bytes that updates changed: 16 a block with light redo, 1,008 \
         with heavy",
        [DeviceWriteBytes]
    ),
    /// Share of the database's writes that checkpoints made, 0 to 1.
    checkpoint_write_share: Option<f64> = figure(
        Share,
        "blocks that checkpoints wrote / blocks that the database wrote",
        [CheckpointWrites, PhysicalWrites]
    ),
    /// Share of the database's writes that background writers made, 0 to 1.
    background_write_share: Option<f64> = figure(
        Share,
        "blocks that background writers wrote / blocks that the database wrote",
        [BackgroundWrites, PhysicalWrites]
    ),
    /// Mean time of a sync of the log as the database saw it, us.
    sync_mean_us: Option<f64> = figure(
        Microseconds,
        "time that syncs of the log took / syncs; if they are not timed, by Little's law: sessions sampled in a sync \
         / syncs per second; if syncs are not counted, flushes of a device with only the log",
        [LogSyncTimeUs, LogSyncs, Samplings, LogDeviceFlushes]
    ),
    /// Mean time of a flush at the device of the log, us.
    flush_mean_us: Option<f64> = figure(
        Microseconds,
        "time that flushes took at the device of the log / flushes",
        [LogDeviceFlushTimeUs, LogDeviceFlushes]
    ),
    /// Flushes timed at the device of the log in the window.
    flushes_timed: Option<u64> = figure(
        Count,
        "flushes of the device of the log in the window, with issue and completion reported by the kernel",
        [TraceEvents, TraceLost]
    ),
    /// Median of flushes at the device of the log, us.
    flush_p50_us: Option<f64> = figure(
        Microseconds,
        "time from issue to completion that half of the timed flushes do not exceed",
        [TraceEvents, TraceLost]
    ),
    /// 99th percentile of flushes at the device of the log, us; null below 1,000 of them.
    flush_p99_us: Option<f64> = figure(
        Microseconds,
        "time from issue to completion that 99 % of the timed flushes do not exceed",
        [TraceEvents, TraceLost]
    ),
}
}
