//! What sessions did, and how long that took.

use mindful_analyze::StepAnalysis;
use mindful_core::result::OpSummary;

use super::Figure;

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        name: "count",
        formula: "operations of the window; of a slice that a border of the window cuts, the share inside",
        sources: &[],
        value: |s| op(s).map(|op| op.count as f64),
    },
    Figure {
        name: "operations",
        formula: "operations whose choices were tallied, of all slices after the warm-up",
        sources: &[],
        value: |s| s.summary.choices.as_ref().map(|choices| choices.operations as f64),
    },
    Figure {
        name: "duration_s",
        formula: "min(last border, first stop of a session) - max(first border after the warm-up, last start)",
        sources: &[],
        value: |s| s.summary.duration_s,
    },
    Figure {
        name: "start_skew_ms",
        formula: "latest minus earliest begin of a session's first slice",
        sources: &[],
        value: |s| s.summary.start_skew_ms,
    },
    Figure {
        name: "update_pct_realised",
        formula: "100 x updates / operations of all kinds, in the window",
        sources: &[],
        value: |s| s.summary.update_pct_realised,
    },
    Figure {
        name: "per_s",
        formula: "operations of the window / duration_s; selects, or updates where there are no selects",
        sources: &[],
        value: |s| op(s).map(|op| op.per_s),
    },
    Figure {
        name: "mean_us",
        formula: "exact sum of the latencies of all sessions / operations",
        sources: &[],
        value: |s| op(s)?.mean_us,
    },
    Figure {
        name: "p50_us",
        formula: "latency that half of the operations do not exceed; histograms of all sessions and seconds merged, \
                  unknown with fewer than ten operations beyond it",
        sources: &[],
        value: |s| op(s)?.p50_us,
    },
    Figure {
        name: "p95_us",
        formula: "latency that 95 % of the operations do not exceed; histograms of all sessions and seconds merged, \
                  unknown with fewer than ten operations beyond it",
        sources: &[],
        value: |s| op(s)?.p95_us,
    },
    Figure {
        name: "p99_us",
        formula: "latency that 99 % of the operations do not exceed; histograms of all sessions and seconds merged, \
                  unknown with fewer than ten operations beyond it",
        sources: &[],
        value: |s| op(s)?.p99_us,
    },
    Figure {
        name: "p999_us",
        formula: "latency that 99.9 % of the operations do not exceed; histograms of all sessions and seconds merged, \
                  unknown with fewer than ten operations beyond it",
        sources: &[],
        value: |s| op(s)?.p999_us,
    },
    Figure { name: "max_us", formula: "exact longest latency of the window", sources: &[], value: |s| op(s)?.max_us },
    Figure {
        name: "little",
        formula: "|sessions not thinking - operations per second x mean time| / sessions not thinking; a loop in the database \
                  counts into the time",
        sources: &[],
        value: |s| s.evidence.little_breach,
    },
];

/// The kind of operation whose figures are told.
fn op(step: &StepAnalysis) -> Option<&OpSummary> {
    step.summary.ops.main()
}
