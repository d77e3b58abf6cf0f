//! Whether a rate rose or fell over a window too short for a judgement of its steadiness.

use crate::stats::moment::{batch_means, mean};

use super::trend::trend;

/// Fewest points in which a movement is told from noise.
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

/// From the first third of a window to its last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Movement {
    /// Mean of the last third by the mean of the first, less 1.
    pub change: f64,
    /// Whether each sixth of the window is higher than the one before, or each is lower.
    pub steadily: bool,
}

impl Movement {
    /// Whether it is worth a word.
    pub fn shows(&self) -> bool {
        self.change.abs() > SMALL
    }

    /// Whether it is large and never turned back: the mean stands for no part of the window.
    pub fn misleads(&self) -> bool {
        self.steadily && self.change.abs() > LARGE
    }
}

/// The movement of a series; `None` where noise explains it, below 20 points, or where nothing was done.
pub fn movement(series: &[f64]) -> Option<Movement> {
    let third = (series.len() >= FEWEST).then_some(series.len() / 3)?;
    let line = trend(series).filter(|line| line.change.abs() > SIGNIFICANT * line.error)?;
    let (first, last) = (mean(&series[..third])?, mean(&series[series.len() - third..])?);
    let change = (first > 0.0).then(|| last / first - 1.0).filter(|change| change.signum() == line.change.signum())?;
    let parts = batch_means(series, series.len() / PARTS);
    let steadily = parts.windows(2).all(|pair| pair[1] > pair[0]) || parts.windows(2).all(|pair| pair[1] < pair[0]);
    Some(Movement { change, steadily })
}
