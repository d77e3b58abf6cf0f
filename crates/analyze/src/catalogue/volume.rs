//! Reads, writes and log by their requests and their volume.

use mindful_core::contract::metric::shared;

use super::figure::{Figure, GROWTH, Unit};
use crate::step::StepAnalysis;

/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;

/// Read requests of the database.
pub const READ_REQUESTS_PER_S: Figure =
    Figure::of_step("read_requests_per_s", Unit::PerSecond, GROWTH, &[shared::READ_REQUESTS], |s| {
        s.summary.read_requests_per_s
    });

pub(super) const FIGURES: &[Figure] = &[
    READ_REQUESTS_PER_S,
    Figure::of_step(
        "blocks_per_read",
        Unit::Blocks,
        "physical reads / read requests; unknown below 10 requests a second",
        &[shared::PHYSICAL_READS, shared::READ_REQUESTS],
        |s| s.summary.blocks_per_read,
    ),
    Figure::of_step(
        "device_in_flight",
        Unit::Count,
        "time that requests spent at the device, its queue included / time",
        &[shared::DEVICE_QUEUE_TIME_US],
        |s| s.summary.device_in_flight,
    ),
    Figure::of_step(
        "database_in_flight",
        Unit::Count,
        "reads that the database had under way, summed over looks / looks",
        &[shared::READS_IN_FLIGHT, shared::READS_LOOKS],
        |s| s.summary.database_in_flight,
    ),
    Figure::of_step("write_requests_per_s", Unit::PerSecond, GROWTH, &[shared::WRITE_REQUESTS], |s| {
        s.summary.write_requests_per_s
    }),
    Figure::of_step(
        "read_mib_per_s",
        Unit::MibPerSecond,
        "physical reads per second x length of a block",
        &[shared::PHYSICAL_READS],
        |s| mib(s, s.summary.physical_reads_per_s),
    )
    .beside_the_summary(),
    Figure::of_step(
        "write_mib_per_s",
        Unit::MibPerSecond,
        "physical writes per second x length of a block",
        &[shared::PHYSICAL_WRITES],
        |s| mib(s, s.summary.physical_writes_per_s),
    )
    .beside_the_summary(),
    Figure::of_step("log_mib_per_s", Unit::MibPerSecond, "bytes of log per second", &[shared::LOG_BYTES], |s| {
        Some(s.summary.log_bytes_per_s? / MIB)
    })
    .beside_the_summary(),
    Figure::of_step("log_writes_per_s", Unit::PerSecond, GROWTH, &[shared::LOG_WRITES], |s| {
        s.counters.rate(shared::LOG_WRITES)
    })
    .beside_the_summary(),
];

/// MiB per second of `blocks` of the target per second.
fn mib(step: &StepAnalysis, blocks: Option<f64>) -> Option<f64> {
    Some(blocks? * step.block_bytes? as f64 / MIB)
}
