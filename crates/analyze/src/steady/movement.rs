//! Whether a rate rose or fell over a window too short for a judgement of its steadiness.

use crate::stats::moment::{batch_means, mean};

use super::trend::trend;

/// Fewest points in which a movement is distinguished from noise.
const FEWEST: usize = 20;

/// Standard errors of the line's change beyond which it is no chance, p < 0.01.
const SIGNIFICANT: f64 = 2.58;

/// Parts that all have to follow each other upwards, or downwards, in a movement that goes on all the time: of 720
/// orders of six, two do.
const PARTS: usize = 6;

/// Change that is worth a word, a share.
const SMALL: f64 = 0.05;

/// Change from which a rate that never turned back speaks against the run, a share.
const LARGE: f64 = 0.10;

/// Change from which thirds that have no rate in common speak against the run, whatever lies between, a share. Of twenty points
/// without any movement one order of 462 parts them so.
const APART: f64 = 0.30;

/// From the first third of a window to its last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Movement {
    /// Mean of the last third by the mean of the first, less 1.
    pub change: f64,
    /// Whether each sixth of the window is higher than the one before, or each is lower.
    pub steadily: bool,
    /// Whether each point of the last third is higher than all of the first, or each is lower.
    pub apart: bool,
}

impl Movement {
    /// Whether it is worth a word.
    pub fn shows(&self) -> bool {
        self.change.abs() > SMALL
    }

    /// Whether it is large and never turned back, or so large that its ends have nothing in common: the mean stands for no part
    /// of the window.
    pub fn misleads(&self) -> bool {
        self.steadily && self.change.abs() > LARGE || self.parts()
    }

    /// Whether the thirds have nothing in common.
    fn parts(&self) -> bool {
        self.apart && self.change.abs() > APART
    }
}

/// The movement of a series; `None` where noise explains it, below 20 points, or where nothing was done.
pub fn movement(series: &[f64]) -> Option<Movement> {
    let third = (series.len() >= FEWEST).then_some(series.len() / 3)?;
    let (ahead, behind) = (&series[..third], &series[series.len() - third..]);
    let (first, last) = (mean(ahead)?, mean(behind)?);
    let change = (first > 0.0).then(|| last / first - 1.0)?;
    let batches = batch_means(series, series.len() / PARTS);
    let steadily = batches.windows(2).all(|pair| pair[1] > pair[0]) || batches.windows(2).all(|pair| pair[1] < pair[0]);
    let highest = |of: &[f64]| of.iter().copied().fold(f64::MIN, f64::max);
    let lowest = |of: &[f64]| of.iter().copied().fold(f64::MAX, f64::min);
    let apart = lowest(behind) > highest(ahead) || highest(behind) < lowest(ahead);
    let moved = Movement { change, steadily, apart };
    // What rises by leaps is no line: its residuals hang together, and the line's error says that nothing is known.
    let on_a_line = trend(series)
        .is_some_and(|line| line.change.abs() > SIGNIFICANT * line.error && change.signum() == line.change.signum());
    (on_a_line || moved.parts()).then_some(moved)
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
        // Swings as large whose ends have rates in common are no movement.
        let swings: Vec<_> = (0..30).map(|i| if i % 2 == 0 { 6e3 } else { 24e3 }).collect();
        assert!(movement(&swings).is_none_or(|moved| !moved.misleads()));
    }
}
