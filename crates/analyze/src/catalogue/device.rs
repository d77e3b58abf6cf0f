//! Single requests, timed at the device.

use mindful_core::contract::metric::shared;

use super::figure::{Figure, Unit};

pub(super) const FIGURES: &[Figure] = &[
    Figure::of_step(
        "device.one_of",
        Unit::Count,
        "one of so many requests was timed at the device, chosen by its sector; the smallest share of the window",
        &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        |s| s.summary.device.one_of.map(|one_of| one_of as f64),
    ),
    Figure::of_step(
        "device.reads_timed",
        Unit::Count,
        "reads of which the kernel reported both issue and completion, in the window",
        &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        |s| s.summary.device.reads_timed.map(|timed| timed as f64),
    ),
    Figure::of_step(
        "device.read_p50_us",
        Unit::Microseconds,
        "time from issue to completion that half of the timed reads do not exceed",
        &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        |s| s.summary.device.read_p50_us,
    ),
    Figure::of_step(
        "device.read_p99_us",
        Unit::Microseconds,
        "time from issue to completion that 99 % of the timed reads do not exceed",
        &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        |s| s.summary.device.read_p99_us,
    ),
    Figure::of_step(
        "device.writes_timed",
        Unit::Count,
        "writes of which the kernel reported both issue and completion, in the window",
        &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        |s| s.summary.device.writes_timed.map(|timed| timed as f64),
    ),
    Figure::of_step(
        "device.write_p50_us",
        Unit::Microseconds,
        "time from issue to completion that half of the timed writes do not exceed",
        &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        |s| s.summary.device.write_p50_us,
    ),
    Figure::of_step(
        "device.write_p99_us",
        Unit::Microseconds,
        "time from issue to completion that 99 % of the timed writes do not exceed",
        &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        |s| s.summary.device.write_p99_us,
    ),
];
