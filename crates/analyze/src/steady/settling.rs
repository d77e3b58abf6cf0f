//! Whether a step in progress is steady so far, when it is checked, and which check ends it (docs/method.md, Steady state).

use std::time::Duration;

use mindful_core::contract::metric::Counter;
use mindful_core::record::run::{Series, StepRecord};

use crate::figures::seconds::Seconds;
use crate::figures::window::Window;
use crate::steady::{Assessment, Change, Criteria, Reason, Signals, WINDOW_S, against, assess};

const EVERY_S: usize = 10;

#[derive(Debug, Clone, Copy, Default)]
pub struct Looks {
    last_s: usize,
    agreed: bool,
}

impl Looks {
    /// Whether to judge a step now, after `seen_s` seconds of it.
    pub fn due(&self, seen_s: usize) -> bool {
        seen_s >= WINDOW_S && seen_s >= self.last_s + EVERY_S
    }

    /// Takes the result of a check after so many seconds; true if it ends the step. Among many checks one passes by
    /// chance, so two checks in a row must find the whole window steady and precise.
    pub fn push(&mut self, seen_s: usize, found: &Assessment) -> bool {
        let agrees = found.steady && found.precise;
        let ends = agrees && self.agreed;
        (self.last_s, self.agreed) = (seen_s, agrees);
        ends
    }
}

/// Counters that grow by one when a checkpoint ends.
const CHECKPOINTS: [Counter; 2] = [Counter::TimedCheckpoints, Counter::ForcedCheckpoints];

/// Judges the first `slices` slices of `step`; the window has to be at least `least` long.
pub fn settled(step: &StepRecord, slices: u32, least: Duration) -> Assessment {
    let (seconds, criteria) = (Seconds::from_slices(step, 0..slices), criteria(step));
    let checkpoints = if writes(step) { checkpoints(step, slices) } else { None };
    let signals = Signals { checkpoints_s: checkpoints.as_deref(), ..Signals::from_seconds(&seconds) };
    let mut found = assess(&signals, &criteria);
    let long_enough = Duration::from_secs(found.end_s.saturating_sub(found.warmup_s) as u64) >= least;
    found.precise = found.precise && long_enough;
    found
}

/// Judges a step that came to its cap. If the rest after the warm-up is too short to show why, the whole step is
/// judged.
pub fn at_cap(step: &StepRecord, slices: u32, least: Duration) -> Assessment {
    let mut found = settled(step, slices, least);
    if let [Reason::TooShort { .. }] = found.reasons[..] {
        let reasons = against(&Seconds::from_slices(step, 0..slices).blocks_per_s, 0, &criteria(step));
        if !reasons.is_empty() {
            found.reasons = reasons;
        }
    }
    found
}

/// Jumps of throughput inside `window`, in order of time; none if a drift or a cycle describes it better.
/// [`Change::at_s`] counts slices since the window began.
pub fn jumps(step: &StepRecord, window: &Window) -> Vec<Change> {
    let reasons = against(&Seconds::from_step(step, window).blocks_per_s, 0, &criteria(step));
    let change = |reason| if let Reason::Change(change) = reason { Some(change) } else { None };
    let mut jumps: Vec<Change> = reasons.into_iter().filter_map(change).collect();
    jumps.sort_by_key(|jump| jump.at_s);
    jumps
}

fn writes(step: &StepRecord) -> bool {
    step.head.workload.as_ref().is_some_and(|workload| !workload.update_pct.is_none())
}

pub(crate) fn criteria(step: &StepRecord) -> Criteria {
    if writes(step) { Criteria::SNIA } else { Criteria::STRICT }
}

/// Ends of checkpoints: the boundary at which their counters had grown. `None` if not counted.
fn checkpoints(step: &StepRecord, slices: u32) -> Option<Vec<f64>> {
    let counts = |series: &Series| -> Option<Vec<(u32, f64)>> {
        let places: Vec<usize> = (0..series.metrics.len())
            .filter(|i| CHECKPOINTS.iter().any(|counter| series.metrics[*i].name == *counter))
            .collect();
        let count = |values: &[Option<f64>]| places.iter().map(|i| values[*i]).sum::<Option<f64>>();
        let readings = series.readings.iter().filter(|reading| reading.boundary <= slices);
        let counts = readings.filter_map(|reading| Some((reading.boundary, count(&reading.values)?))).collect();
        (!places.is_empty()).then_some(counts)
    };
    let counts = step.series.iter().find_map(counts)?;
    let grew = counts.windows(2).filter(|pair| pair[1].1 > pair[0].1);
    Some(grew.map(|pair| f64::from(pair[1].0)).collect())
}
