//! Writes, log and commits.

use mindful_core::metric::shared;

use super::{Figure, GROWTH};

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        name: "physical_writes_per_s",
        formula: GROWTH,
        sources: &[shared::PHYSICAL_WRITES],
        value: |s| s.summary.physical_writes_per_s,
    },
    Figure {
        name: "write_requests_per_s",
        formula: GROWTH,
        sources: &[shared::WRITE_REQUESTS],
        value: |s| s.summary.write_requests_per_s,
    },
    Figure {
        name: "log_bytes_per_s",
        formula: GROWTH,
        sources: &[shared::LOG_BYTES],
        value: |s| s.summary.log_bytes_per_s,
    },
    Figure { name: "commits_per_s", formula: GROWTH, sources: &[shared::COMMITS], value: |s| s.summary.commits_per_s },
];
