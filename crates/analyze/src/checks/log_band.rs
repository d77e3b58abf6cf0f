//! Bytes of log per updated block, held against what the engine expects (method.md B2.7).

use mindful_core::metric::shared;
use mindful_core::result::{Finding, Severity};
use mindful_core::run::{Run, StepRecord};
use mindful_core::workload::{Commit, OpKind, Redo};

use crate::figures::counters::Counters;
use crate::figures::work::Work;

/// Fewest updated blocks from which the mean says anything: what the server logs about itself is small beside them.
const FEWEST_BLOCKS: f64 = 2_000.0;

/// Log per updated block, bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogBand {
    /// Measured.
    pub per_block: f64,
    /// Least expected.
    pub low: f64,
    /// Most expected, images of whole blocks included.
    pub high: f64,
}

impl LogBand {
    /// What `step` logged for an updated block and what the engine expects; `None` where either is not known.
    ///
    /// The engine tells the facts `log_band_light` and `log_band_heavy` as `LOW..HIGH` bytes, and, where blocks are
    /// logged as a whole now and then, `log_image` as `COUNTER BYTES`: the counter of such images and their largest size.
    /// `log_band_commit` is `each` where a block is logged once a transaction, however often it was updated: then the band
    /// is that of operations which commit alone.
    pub fn of(run: &Run, step: &StepRecord, work: &Work, counters: &Counters) -> Option<Self> {
        let facts = &run.description.as_ref()?.facts;
        let updated = work.kind(OpKind::Update).blocks;
        if updated < FEWEST_BLOCKS {
            return None;
        }
        let commits_alone = step.head.workload.commit == Commit::Each;
        if facts.get("log_band_commit").is_some_and(|when| when == "each") && !commits_alone {
            return None;
        }
        let per_s = updated / work.seconds;
        let name = match step.head.workload.redo {
            Redo::Light => "log_band_light",
            Redo::Heavy => "log_band_heavy",
        };
        let (low, high) = facts.get(name)?.split_once("..")?;
        let images =
            facts.get("log_image").and_then(|image| image.split_once(' ')).map_or(Some(0.0), |(counter, most)| {
                // Where they are not counted, each block may have had one.
                let images = counters.rate(counter).map_or(1.0, |rate| rate / per_s);
                Some(images * most.parse::<f64>().ok()?)
            })?;
        let per_block = counters.rate(shared::LOG_BYTES)? / per_s;
        Some(Self { per_block, low: low.parse().ok()?, high: high.parse::<f64>().ok()? + images })
    }

    /// What a measured value outside of the band means.
    pub fn finding(self) -> Option<Finding> {
        let Self { per_block, low, high } = self;
        (per_block < low || per_block > high).then(|| {
            let text = "The log per updated block is not what such updates write: others write log too, or updates do \
                        not stay in their block, or are none. Look for other sessions, and on PostgreSQL at the share of HOT updates.";
            let evidence = format!("{per_block:.0} bytes an updated block, {low:.0} to {high:.0} expected");
            Finding::new("log-band", Severity::Warning, text, evidence)
        })
    }
}
