//! Single requests, timed at the device.

use mindful_core::metric::shared;

use super::Figure;

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        name: "one_of",
        formula: "one of so many requests was timed at the device, chosen by its sector; the smallest share of the window",
        sources: &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        value: |s| s.summary.device.one_of.map(|one_of| one_of as f64),
    },
    Figure {
        name: "reads_timed",
        formula: "reads of which the kernel told both issue and completion, in the window",
        sources: &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        value: |s| s.summary.device.reads_timed.map(|timed| timed as f64),
    },
    Figure {
        name: "read_p50_us",
        formula: "time from issue to completion that half of the timed reads do not exceed",
        sources: &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        value: |s| s.summary.device.read_p50_us,
    },
    Figure {
        name: "read_p99_us",
        formula: "time from issue to completion that 99 % of the timed reads do not exceed",
        sources: &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        value: |s| s.summary.device.read_p99_us,
    },
    Figure {
        name: "writes_timed",
        formula: "writes of which the kernel told both issue and completion, in the window",
        sources: &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        value: |s| s.summary.device.writes_timed.map(|timed| timed as f64),
    },
    Figure {
        name: "write_p50_us",
        formula: "time from issue to completion that half of the timed writes do not exceed",
        sources: &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        value: |s| s.summary.device.write_p50_us,
    },
    Figure {
        name: "write_p99_us",
        formula: "time from issue to completion that 99 % of the timed writes do not exceed",
        sources: &[shared::TRACE_EVENTS, shared::TRACE_LOST],
        value: |s| s.summary.device.write_p99_us,
    },
];
