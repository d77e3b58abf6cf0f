//! Bytes of log per updated block, compared with what the engine expects.

use mindful_core::contract::metric::Counter;
use mindful_core::plan::units::format_rounded;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::workload::{Commit, OpKind, Redo};

use crate::figures::counters::Counters;
use crate::figures::work::Work;

/// Fewest updated blocks for a meaningful mean: the server's own log records are few compared with them.
const FEWEST_BLOCKS: f64 = 2_000.0;

/// Log per updated block, bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LogBand {
    pub per_block: f64,
    pub low: f64,
    /// Most expected, images of whole blocks included.
    pub high: f64,
}

impl LogBand {
    /// Log of `step` per updated block, with the engine's expectation; `None` if either is unknown.
    pub(super) fn from_step(run: &Run, step: &StepRecord, work: &Work, counters: &Counters) -> Option<Self> {
        let expected = run.description.as_ref()?.expected_log.as_ref()?;
        let updated = work.kind(OpKind::Update).blocks;
        let workload = step.head.workload.as_ref()?;
        if updated < FEWEST_BLOCKS || (expected.once_a_transaction && workload.commit != Commit::Each) {
            return None;
        }
        let per_s = updated / work.seconds;
        let [low, high] = match workload.redo {
            Redo::Light => expected.light,
            Redo::Heavy => expected.heavy,
        };
        // Where images are not counted, each block may have had one.
        let images = expected.images.as_ref().map_or(0.0, |images| {
            counters.rate_of_named(&images.counter).map_or(1.0, |rate| rate / per_s) * images.bytes
        });
        let per_block = counters.rate(Counter::LogBytes)? / per_s;
        Some(Self { per_block, low, high: high + images })
    }

    /// The finding for a value outside of the band; `log` is the system's name of its log.
    pub(super) fn finding(self, log: &str) -> Option<Finding> {
        let Self { per_block, low, high } = self;
        (per_block < low || per_block > high).then(|| {
            let text = format!(
                "The {log} for each updated block differs from the amount that such updates write. Other sessions write {log}, \
                 updates leave their block, or updates change nothing. Look for other sessions."
            );
            let [per_block, low, high] = [per_block, low, high].map(format_rounded);
            let evidence = format!("{per_block} bytes per updated block, {low} to {high} expected");
            codes::LOG_BAND.finding(text, evidence)
        })
    }
}
