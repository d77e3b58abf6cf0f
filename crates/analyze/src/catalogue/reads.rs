//! Reads, from the database to the device.

use mindful_core::contract::metric::shared;

use super::figure::{Figure, GROWTH, Unit};

/// Blocks that sessions visited.
pub const BLOCKS_VISITED_PER_S: Figure = Figure::of_step(
    "blocks_visited_per_s",
    Unit::BlocksPerSecond,
    "blocks that operations of the window visited, as sessions counted them / duration_s",
    &[],
    |s| s.summary.blocks_visited_per_s,
);

/// Requests to the database's cache.
pub const LOGICAL_READS_PER_S: Figure =
    Figure::of_step("logical_reads_per_s", Unit::BlocksPerSecond, GROWTH, &[shared::LOGICAL_READS], |s| {
        s.summary.logical_reads_per_s
    });

/// Blocks the database read.
pub const PHYSICAL_READS_PER_S: Figure =
    Figure::of_step("physical_reads_per_s", Unit::BlocksPerSecond, GROWTH, &[shared::PHYSICAL_READS], |s| {
        s.summary.physical_reads_per_s
    });

/// Read requests at the device.
pub const DEVICE_READS_PER_S: Figure =
    Figure::of_step("device_reads_per_s", Unit::PerSecond, GROWTH, &[shared::DEVICE_READS], |s| {
        s.summary.device_reads_per_s
    });

/// Share of logical reads that the database's cache served.
pub const HIT_RATIO: Figure = Figure::of_step(
    "hit_ratio",
    Unit::Share,
    "1 - physical reads / logical reads",
    &[shared::PHYSICAL_READS, shared::LOGICAL_READS],
    |s| s.summary.hit_ratio,
);

/// Mean time of a read as the database saw it.
pub const READ_LATENCY_MEAN_US: Figure = Figure::of_step(
    "read_latency_mean_us",
    Unit::Microseconds,
    "time the database waited for reads / physical reads; only where every read fetches one block",
    &[shared::READ_TIME_US, shared::PHYSICAL_READS],
    |s| s.summary.read_latency_mean_us,
);

pub(super) const FIGURES: &[Figure] = &[
    Figure::of_step(
        "scan_direct_share",
        Unit::Share,
        "blocks visited through the ring of a scan / blocks that scans visited, at most 1",
        &[shared::RING_VISITS],
        |s| s.summary.scan_direct_share,
    ),
    BLOCKS_VISITED_PER_S,
    LOGICAL_READS_PER_S,
    PHYSICAL_READS_PER_S,
    Figure::of_step(
        "process_reads_per_s",
        Unit::BlocksPerSecond,
        "growth of the counter by time, by the length of a block",
        &[shared::PROCESS_READ_BYTES],
        |s| s.summary.process_reads_per_s,
    ),
    DEVICE_READS_PER_S,
    Figure::of_step(
        "page_cache_share",
        Unit::Share,
        "1 - process reads / physical reads",
        &[shared::PROCESS_READ_BYTES, shared::PHYSICAL_READS],
        |s| s.summary.page_cache_share,
    ),
    Figure::of_step(
        "foreign_share",
        Unit::Share,
        "1 - bytes read by the server's processes / bytes read by the device",
        &[shared::PROCESS_READ_BYTES, shared::DEVICE_READ_BYTES],
        |s| s.gates.foreign_share,
    )
    .explained_only(),
    Figure::of_step("method_yield", Unit::Share, "physical reads / blocks visited", &[shared::PHYSICAL_READS], |s| {
        s.gates.method_yield
    })
    .explained_only(),
    HIT_RATIO,
    READ_LATENCY_MEAN_US,
];
