//! The log in figures: from commits to the device that they wait for.

use serde::{Deserialize, Serialize};

use super::figure::{GROWTH, summary_of_figures};

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
