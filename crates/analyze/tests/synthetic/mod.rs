//! Signals whose truth is known: what a run's seconds and a ladder's points would look like.

#![allow(dead_code, clippy::allow_attributes, reason = "each test uses its part")]

use mindful_analyze::compare::RunValue;
use mindful_analyze::stats::distribution::t_two_sided;
use mindful_analyze::stats::moment::{mean, variance};
use mindful_analyze::stats::random::Random;

/// First-order autoregressive noise of mean 0 and deviation 1, from its stationary state.
pub fn noise(random: &mut Random, points: usize, phi: f64) -> Vec<f64> {
    let mut level = random.normal();
    (0..points)
        .map(|_| {
            let now = level;
            level = phi * level + (1.0 - phi * phi).sqrt() * random.normal();
            now
        })
        .collect()
}

/// How runs are made.
#[derive(Debug, Clone, Copy)]
pub struct Runs {
    /// Runs a side.
    pub a_side: usize,
    /// Seconds of each.
    pub seconds: usize,
    /// Deviation within a run, relative.
    pub within: f64,
    /// Deviation between runs, relative.
    pub between: f64,
    /// Autocorrelation from second to second.
    pub phi: f64,
}

impl Runs {
    /// One side whose true level is `level`.
    pub fn side(&self, random: &mut Random, level: f64) -> Vec<RunValue> {
        (0..self.a_side).map(|_| self.run(random, level)).collect()
    }

    fn run(&self, random: &mut Random, level: f64) -> RunValue {
        let of_run = level * (1.0 + self.between * random.normal());
        let series: Vec<f64> =
            noise(random, self.seconds, self.phi).iter().map(|e| of_run * (1.0 + self.within * e)).collect();
        RunValue { value: mean(&series).unwrap_or(f64::NAN), series }
    }
}

/// Two-sided p of Welch's t test, each side's points worth `shares` of their number: the test that misleads on seconds.
pub fn welch(a: &[f64], b: &[f64], shares: [f64; 2]) -> f64 {
    let part = |side: &[f64], share: f64| {
        let worth = (side.len() as f64 * share).max(2.0);
        (variance(side).unwrap_or(0.0) / worth, worth - 1.0)
    };
    let ((of_a, free_a), (of_b, free_b)) = (part(a, shares[0]), part(b, shares[1]));
    let freedom = (of_a + of_b).powi(2) / (of_a * of_a / free_a + of_b * of_b / free_b);
    t_two_sided((mean(a).unwrap_or(0.0) - mean(b).unwrap_or(0.0)) / (of_a + of_b).sqrt(), freedom)
}
