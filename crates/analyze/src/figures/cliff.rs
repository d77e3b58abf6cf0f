//! A rate that fell to a flat cap: a burst that ended, or flash that ran out of blocks to write to.

use mindful_core::record::run::StepRecord;

use crate::figures::seconds::Seconds;
use crate::figures::window::Window;
use crate::stats::moment::{mean, variation};

/// Fewest slices on either side.
const SHORTEST: usize = 4;
/// The rate after it by the rate before, at most: a smaller fall is not a cliff.
const FALL: f64 = 0.7;
/// Largest standard deviation by mean of the slices after it: a rate at a limit is level.
const FLAT: f64 = 0.08;
/// Each slice before it by the mean after it, at least: a rate that came down little by little was not held.
const ABOVE: f64 = 1.2;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cliff {
    /// Blocks per second until then.
    pub before_per_s: f64,
    pub after_per_s: f64,
    /// Time before it, s from the begin of the window.
    pub before_s: f64,
    pub after_s: f64,
    /// Standard deviation of slices after it, by their mean.
    pub spread: f64,
    /// The boundary of slices from which on the lower rate held.
    pub boundary: u32,
}

impl Cliff {
    /// The cliff of `step` in `window`; `None` if the rate did not fall to a constant one.
    pub(crate) fn find(step: &StepRecord, window: &Window) -> Option<Self> {
        let rates = Seconds::from_step(step, window).blocks_per_s;
        let at = split(&rates)?;
        // The slice in which it fell is of neither rate.
        let (before, after) = (&rates[..at], &rates[at + 1..]);
        let (before_per_s, after_per_s) = (mean(before)?, mean(after)?);
        let spread = variation(after)?;
        let held = before.iter().all(|rate| *rate >= ABOVE * after_per_s);
        let boundary = window.first_boundary + at as u32 + 1;
        let fell_us = *step.boundaries_us.get(boundary as usize - 1)?;
        (after_per_s <= FALL * before_per_s && held && spread <= FLAT).then(|| Self {
            before_per_s,
            after_per_s,
            before_s: fell_us.saturating_sub(window.begin_us) as f64 / 1e6,
            after_s: window.end_us.saturating_sub(fell_us) as f64 / 1e6,
            spread,
            boundary,
        })
    }

    pub(crate) fn lost(&self) -> f64 {
        1.0 - self.after_per_s / self.before_per_s
    }
}

/// The slice at which the two means are furthest apart, by `n1 n2 / n (mean1 - mean2)^2`; it is the first of the second.
fn split(rates: &[f64]) -> Option<usize> {
    let n = rates.len();
    let splits = SHORTEST..n.checked_sub(SHORTEST)?;
    let separation = |at: usize| {
        let apart = mean(&rates[..at]).unwrap_or(0.0) - mean(&rates[at..]).unwrap_or(0.0);
        (at * (n - at)) as f64 * apart * apart
    };
    let best = splits.max_by(|one, other| separation(*one).total_cmp(&separation(*other)))?;
    // If the rate fell late in a slice, that slice still resembles those before it.
    let falls_before = rates[best - 1] < 0.9 * mean(&rates[..best - 1])? && best > SHORTEST;
    Some(if falls_before { best - 1 } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slice_in_which_a_rate_fell_is_found() {
        let of = |mixed: f64| [vec![16e3; 6], vec![mixed], vec![3e3; 9]].concat();
        for (mixed, at) in [(15e3, 7), (14e3, 6), (9.4e3, 6), (4e3, 6)] {
            assert_eq!(split(&of(mixed)), Some(at), "{mixed}");
        }
        assert_eq!(split(&[1.0; 7]), None);
    }
}
