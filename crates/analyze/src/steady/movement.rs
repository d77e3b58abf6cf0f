//! Whether a rate rose or fell over a window too short for a judgement of its steadiness.

use crate::stats::moment::{batch_means, mean};

use super::level::trend;

/// Fewest points in which a movement is distinguished from noise.
const FEWEST: usize = 8;

/// Standard errors of the line's change beyond which it is no chance, p < 0.01.
const SIGNIFICANT: f64 = 2.58;

/// Parts that all have to follow each other upwards, or downwards, in a movement that does not end: 2 of the 720 orders
/// of six parts do.
const PARTS: usize = 6;

/// Change that is worth a word, a share.
const SMALL: f64 = 0.05;

/// Change from which a monotonic rate raises a finding, a share.
const LARGE: f64 = 0.125;

/// Smallest change, as a share, at which parts without a common rate raise a finding, for any values between them. It
/// is five standard deviations of noise of 6 %, because one order in ten of ten points separates the thirds.
const APART: f64 = 0.30;
/// Effect of an end on the mean of the window, a share: a tenth of the window at seven tenths of the rate.
const OFF: f64 = 0.03;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Movement {
    /// Mean of the last third by the mean of the first, less 1.
    pub change: f64,
    /// Whether each sixth of the window is higher than the one before, or each is lower.
    pub steadily: bool,
    /// Whether each point of the last third is higher than all of the first, or each is lower.
    pub apart: bool,
    /// An end of the window at which the rate was another.
    pub(crate) end: Option<End>,
}

/// The begin or the end of a window that has no rate in common with the rest of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct End {
    pub first: bool,
    /// Its points: all until the first that the rest could have.
    pub points: usize,
    pub rate: f64,
    /// Mean of all others.
    pub level: f64,
}

impl Movement {
    pub fn shows(&self) -> bool {
        self.change.abs() > SMALL || self.end.is_some()
    }

    /// Whether it misleads: then the mean does not describe any part of the window.
    pub fn misleads(&self) -> bool {
        self.all_through() || self.end.is_some()
    }

    /// Whether it is large and never turned back, or so large that the first third and the last have nothing in common.
    pub(crate) fn all_through(&self) -> bool {
        self.steadily && self.change.abs() > LARGE || self.parts()
    }

    /// Whether the thirds have nothing in common.
    fn parts(&self) -> bool {
        self.apart && self.change.abs() > APART
    }
}

/// The movement of a series; `None` if noise explains it, below 8 points, or without work.
pub fn movement(series: &[f64]) -> Option<Movement> {
    let third = (series.len() >= FEWEST).then_some(series.len() / 3)?;
    let (ahead, behind) = (&series[..third], &series[series.len() - third..]);
    let (first, last) = (mean(ahead)?, mean(behind)?);
    let change = (first > 0.0).then(|| last / first - 1.0)?;
    let batches = batch_means(series, series.len() / PARTS);
    let steadily = batches.windows(2).all(|pair| pair[1] > pair[0]) || batches.windows(2).all(|pair| pair[1] < pair[0]);
    let moved = Movement { change, steadily, apart: separable(ahead, behind), end: end(series) };
    // A stepped rise is not a line: its residuals are correlated, and the error of the line covers everything.
    let on_a_line = trend(series)
        .is_some_and(|line| line.change.abs() > SIGNIFICANT * line.error && change.signum() == line.change.signum());
    // Too few points for a line need no line where each is beyond the one before.
    let in_order = series.len() < 2 * PARTS && steadily && change.abs() > LARGE;
    (on_a_line || in_order || moved.parts() || moved.end.is_some()).then_some(moved)
}

/// Whether each of `these` is higher than all of `others`, or each is lower.
fn separable(these: &[f64], others: &[f64]) -> bool {
    let ((lowest, highest), (low, high)) = (extremes(these), extremes(others));
    lowest > high || highest < low
}

fn extremes(of: &[f64]) -> (f64, f64) {
    of.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)))
}

/// Warm-up at the begin of the window, or a change before its end.
fn end(series: &[f64]) -> Option<End> {
    let backwards: Vec<f64> = series.iter().rev().copied().collect();
    let last = || initial_end(&backwards).map(|end| End { first: false, ..end });
    initial_end(series).or_else(last)
}

/// The begin of `series` where its first points have no rate in common with the last two thirds, and others are between.
fn initial_end(series: &[f64]) -> Option<End> {
    let rest = &series[series.len() / 3..];
    let (low, high) = extremes(rest);
    let points = series.iter().take_while(|rate| !(low..=high).contains(*rate)).count();
    let (rate, level) = (mean(&series[..points])?, mean(&series[points..]).filter(|level| *level > 0.0)?);
    let off = |ahead: &[f64]| {
        let far = (mean(ahead)? / mean(rest).filter(|mean| *mean > 0.0)? - 1.0).abs();
        Some(far > APART && far * ahead.len() as f64 > OFF * series.len() as f64 && separable(ahead, rest))
    };
    let moved = (1..=points.min(series.len() / PARTS)).any(|ahead| off(&series[..ahead]) == Some(true));
    moved.then_some(End { first: true, points, rate, level })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of each second of a real run on a disk that recovered from something outside of it.
    #[test]
    fn a_rate_that_grew_fourfold_by_leaps_is_reported() {
        let leaps = [
            5504.0, 6336.0, 6144.0, 5376.0, 3712.0, 5696.0, 6464.0, 5568.0, 6784.0, 6528.0, 6720.0, 8576.0, 9600.0,
            9088.0, 13184.0, 16960.0, 17920.0, 20864.0, 23424.0, 20992.0, 26496.0, 28416.0, 28800.0, 29632.0, 27840.0,
            28224.0, 28416.0, 21504.0, 17088.0, 18304.0,
        ];
        let moved = movement(&leaps).unwrap();
        assert!(moved.misleads() && !moved.steadily && moved.change > 3.0, "{moved:?}");
        let fell: Vec<_> = leaps.iter().rev().copied().collect();
        assert!(movement(&fell).is_some_and(|moved| moved.misleads() && moved.change < 0.0));
        let swings: Vec<_> = (0..30).map(|i| if i % 2 == 0 { 6e3 } else { 24e3 }).collect();
        assert!(movement(&swings).is_none_or(|moved| !moved.misleads()));
    }

    /// The blocks of each second of a real run after a build: the disk was slow at first.
    #[test]
    fn a_window_that_begins_before_the_warm_up_ends_is_reported() {
        let warming = [
            9344.0, 10688.0, 10944.0, 11904.0, 14784.0, 17728.0, 22528.0, 28416.0, 35520.0, 39488.0, 39680.0, 41472.0,
            41472.0, 40960.0, 41920.0, 41280.0, 42944.0, 42688.0, 42944.0, 42560.0, 41152.0, 41344.0, 39616.0, 40896.0,
            41280.0, 41472.0, 41216.0, 39104.0, 41728.0, 41408.0,
        ];
        let moved = movement(&warming).unwrap();
        let end = moved.end.unwrap();
        assert!(moved.misleads() && !moved.all_through() && end.first && end.points == 9, "{moved:?}");
        assert!((end.rate - 17_984.0).abs() < 1.0 && (end.level - 41_267.8).abs() < 1.0, "{end:?}");
        let last: Vec<_> = warming.iter().rev().copied().collect();
        assert!(movement(&last).and_then(|moved| moved.end).is_some_and(|end| !end.first && end.points == 9));
        // The same window without them is level.
        assert!(movement(&warming[9..]).is_none_or(|moved| !moved.misleads()));
        // A single slow slice does not count, nor does a begin that resembles other slices.
        let mut once = [4e4; 30];
        once[0] = 1e4;
        let mut again = warming;
        again[20] = 9e3;
        for series in [once, again] {
            assert!(movement(&series).is_none_or(|moved| moved.end.is_none()), "{series:?}");
        }
    }
}
