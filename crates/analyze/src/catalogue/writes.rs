//! Writes, log and commits.

use mindful_core::contract::metric::shared;

use super::figure::{Figure, GROWTH, Unit};

pub(super) const FIGURES: &[Figure] = &[
    Figure::of_step("physical_writes_per_s", Unit::BlocksPerSecond, GROWTH, &[shared::PHYSICAL_WRITES], |s| {
        s.summary.physical_writes_per_s
    }),
    Figure::of_step("log_bytes_per_s", Unit::BytesPerSecond, GROWTH, &[shared::LOG_BYTES], |s| {
        s.summary.log_bytes_per_s
    }),
    Figure::of_step("commits_per_s", Unit::PerSecond, GROWTH, &[shared::COMMITS], |s| s.summary.commits_per_s),
];
