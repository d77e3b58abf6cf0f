//! Waits, as the database counted them by how long they took.

use super::figure::{Figure, Unit};

pub(super) const FIGURES: &[Figure] = &[
    Figure::of_step("waits.reads", Unit::Count, "waits for one block, as the database counted them", &[], |s| {
        s.summary.waits.reads.map(|waits| waits as f64)
    }),
    Figure::of_step(
        "waits.read_p50_us",
        Unit::Microseconds,
        "middle of the bucket in which half of the waits for one block are reached",
        &[],
        |s| s.summary.waits.read_p50_us,
    ),
    Figure::of_step(
        "waits.read_p95_us",
        Unit::Microseconds,
        "middle of the bucket in which 95 % of the waits for one block are reached",
        &[],
        |s| s.summary.waits.read_p95_us,
    ),
    Figure::of_step(
        "waits.read_p99_us",
        Unit::Microseconds,
        "middle of the bucket in which 99 % of the waits for one block are reached",
        &[],
        |s| s.summary.waits.read_p99_us,
    ),
    Figure::of_step("waits.log_writes", Unit::Count, "writes of the log, as the database counted them", &[], |s| {
        s.summary.waits.log_writes.map(|writes| writes as f64)
    }),
    Figure::of_step(
        "waits.log_write_p50_us",
        Unit::Microseconds,
        "middle of the bucket in which half of the writes of the log are reached",
        &[],
        |s| s.summary.waits.log_write_p50_us,
    ),
    Figure::of_step(
        "waits.log_write_p99_us",
        Unit::Microseconds,
        "middle of the bucket in which 99 % of the writes of the log are reached",
        &[],
        |s| s.summary.waits.log_write_p99_us,
    ),
];
