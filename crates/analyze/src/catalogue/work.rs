//! What sessions did, and how long that took.

use super::figure::{Figure, Unit};

/// Mean latency of an operation.
pub const MEAN_US: Figure = Figure::of_operation(
    "mean_us",
    Unit::Microseconds,
    "exact sum of the latencies of all sessions / operations",
    |op| op.mean_us,
);

/// Median latency of an operation.
pub const P50_US: Figure = Figure::of_operation(
    "p50_us",
    Unit::Microseconds,
    "latency that half of the operations do not exceed; histograms of all sessions and seconds merged, \
                  unknown with fewer than ten operations beyond it",
    |op| op.p50_us,
);

/// 99th percentile of the latency of an operation.
pub const P99_US: Figure = Figure::of_operation(
    "p99_us",
    Unit::Microseconds,
    "latency that 99 % of the operations do not exceed; histograms of all sessions and seconds merged, \
                  unknown with fewer than ten operations beyond it",
    |op| op.p99_us,
);

pub(super) const FIGURES: &[Figure] = &[
    Figure::of_step(
        "update_pct_realised",
        Unit::Percent,
        "100 x updates / operations of all kinds, in the window",
        &[],
        |s| s.summary.update_pct_realised,
    ),
    Figure::of_step(
        "duration_s",
        Unit::Seconds,
        "min(last boundary, first stop of a session) - max(first boundary after the warm-up, last start)",
        &[],
        |s| s.summary.duration_s,
    ),
    Figure::of_step(
        "start_skew_ms",
        Unit::Milliseconds,
        "latest minus earliest begin of a session's first slice",
        &[],
        |s| s.summary.start_skew_ms,
    ),
    Figure::of_operation(
        "count",
        Unit::Count,
        "operations of the window; of a slice that a boundary of the window cuts, the share inside",
        |op| Some(op.count as f64),
    ),
    Figure::of_operation(
        "per_s",
        Unit::PerSecond,
        "operations of the window / duration_s; selects, or updates where there are no selects",
        |op| Some(op.per_s),
    ),
    MEAN_US,
    P50_US,
    Figure::of_operation(
        "p95_us",
        Unit::Microseconds,
        "latency that 95 % of the operations do not exceed; histograms of all sessions and seconds merged, \
                  unknown with fewer than ten operations beyond it",
        |op| op.p95_us,
    ),
    P99_US,
    Figure::of_operation(
        "p999_us",
        Unit::Microseconds,
        "latency that 99.9 % of the operations do not exceed; histograms of all sessions and seconds merged, \
                  unknown with fewer than ten operations beyond it",
        |op| op.p999_us,
    ),
    Figure::of_operation("max_us", Unit::Microseconds, "exact longest latency of the window", |op| op.max_us),
    Figure::of_step(
        "choices.operations",
        Unit::Count,
        "operations whose choices were tallied, of all slices after the warm-up",
        &[],
        |s| s.summary.choices.as_ref().map(|choices| choices.operations as f64),
    )
    .explained_only(),
    Figure::of_step(
        "little",
        Unit::Share,
        "|sessions not thinking - operations per second x mean time| / sessions not thinking; a loop in the database \
                  counts into the time",
        &[],
        |s| s.evidence.little_breach,
    )
    .explained_only(),
];
