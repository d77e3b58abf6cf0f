//! Whether a step has settled: where its warm-up ends, whether it drifts, swings or jumps, and whether it ran long
//! enough. All series are one point a second.

mod change;
mod cycle;
mod level;
mod movement;
pub mod settling;

use crate::figures::seconds::Seconds;
use crate::stats::moment::{line_slope, mean, variance};

pub use change::{Change, changes};
pub(crate) use cycle::swing;
pub use cycle::{Cover, cover, period_s};
pub use level::{Drift, Shape, Trend, Truncation, drift, mser5, precision, shape, trend};
pub(crate) use movement::End;
pub use movement::{Movement, movement};

/// Checkpoint cycles a window with writes has to hold.
const CYCLES: usize = 2;

/// A hit ratio that moves by less than this over the window (0 to 1) does not count as warming.
const WARMING: f64 = 0.005;

#[derive(Debug, Clone, Copy, Default)]
pub struct Signals<'a> {
    /// Operations (or blocks) per second.
    pub throughput: &'a [f64],
    /// 99th percentile of latency, us; may be empty.
    pub p99_us: &'a [f64],
    /// Share of logical reads that the cache served, 0 to 1; may be empty.
    pub hit_ratio: &'a [f64],
    /// Ends of checkpoints, s from the start of the step; `None` for a step that does not write, or an engine without
    /// checkpoints.
    pub checkpoints_s: Option<&'a [f64]>,
}

impl<'a> Signals<'a> {
    pub(crate) fn from_seconds(seconds: &'a Seconds) -> Self {
        let Seconds { blocks_per_s, p99_us, hit_ratio, .. } = seconds;
        Self { throughput: blocks_per_s, p99_us, hit_ratio, checkpoints_s: None }
    }
}

/// Seconds the shape is judged on, and fewest seconds after the warm-up.
pub const WINDOW_S: usize = 60;
/// Half-width of the interval of the mean throughput that is enough, a share.
pub const PRECISION: f64 = 0.01;
const PRECISION_P99: f64 = 0.05;
/// Change of the level over the window that has to be excluded before a step may end, a share.
const TREND: f64 = 0.03;

/// Limits of the shape of a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criteria {
    /// Largest range of the 10-s means over the window, by their mean.
    pub range: f64,
    /// Largest rise or fall of the least-squares line over the window, by the mean.
    pub excursion: f64,
}

impl Criteria {
    /// For reads.
    pub const STRICT: Self = Self { range: 0.10, excursion: 0.05 };
    /// For steps that write, as SNIA's performance test specification has it.
    pub const SNIA: Self = Self { range: 0.20, excursion: 0.10 };
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    TooShort {
        /// Seconds after the warm-up; 0 where nothing was done in them.
        have_s: usize,
        need_s: usize,
    },
    /// More than half of the step still resembles warm-up.
    WarmingUp,
    CacheWarming {
        /// Change of the hit ratio over the window, 0 to 1.
        change: f64,
    },
    Drift {
        /// Change over the window, a share.
        change: f64,
    },
    /// Throughput goes up and down with a period.
    Cycle {
        period_s: usize,
        /// Range of the 10-s means, a share.
        range: f64,
    },
    /// Throughput goes up and down without a period.
    Swings {
        /// Range of the 10-s means, a share.
        range: f64,
    },
    Change(Change),
    /// The window does not hold enough whole checkpoint cycles.
    Checkpoints {
        whole: usize,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// Whether there is no reason against it.
    pub steady: bool,
    /// Whether the interval of the mean (and of the 99th percentile) is narrow enough to stop. A change of the level
    /// over the window must also be excluded.
    pub precise: bool,
    /// Seconds of warm-up to leave out.
    pub warmup_s: usize,
    /// End of the window, s: where the last whole checkpoint cycle ends, or the end of the signals.
    pub end_s: usize,
    /// Reasons against it, the strongest first.
    pub reasons: Vec<Reason>,
    /// Half of the 95 % interval of the mean, by the mean.
    pub precision: Option<f64>,
    /// Change of the level over the window, beyond its noise.
    pub trend: Option<Trend>,
}

/// Judges a step by its data so far. A driver calls it repeatedly during the step, and stops when it is steady and
/// precise. At the step's cap, the reasons become findings.
pub fn assess(signals: &Signals, criteria: &Criteria) -> Assessment {
    let series = signals.throughput;
    let cut = mser5(series);
    let covered = signals.checkpoints_s.map(|ends| cover(ends, cut.warmup as f64, series.len() as f64));
    let (warmup_s, end_s) = match &covered {
        Some(c) if c.whole >= CYCLES => (c.from_s.ceil() as usize, (c.to_s.floor() as usize).min(series.len())),
        _ => (cut.warmup, series.len()),
    };
    let window = series.get(warmup_s..end_s).unwrap_or_default();
    let mut reasons = Vec::new();
    if series.len() < WINDOW_S {
        reasons.push(Reason::TooShort { have_s: series.len(), need_s: WINDOW_S });
    }
    let hits = signals.hit_ratio.get(warmup_s..end_s.min(signals.hit_ratio.len())).unwrap_or_default();
    reasons.extend(warming(hits));
    if !cut.steady && reasons.is_empty() {
        // A movement that does not end is not a warm-up, and is named.
        reasons = against(series, 0, criteria);
        if reasons.is_empty() {
            reasons.push(Reason::WarmingUp);
        }
    }
    if let Some(c) = covered.filter(|c| c.whole < CYCLES) {
        reasons.push(Reason::Checkpoints { whole: c.whole });
    }
    if reasons.is_empty() {
        reasons = if window.len() < WINDOW_S {
            vec![Reason::TooShort { have_s: window.len(), need_s: WINDOW_S }]
        } else {
            against(window, warmup_s, criteria)
        };
    }
    let p99 = signals.p99_us.get(warmup_s..end_s.min(signals.p99_us.len())).and_then(precision);
    let (precision, trend) = (precision(window), trend(window));
    let level = trend.is_some_and(|trend| trend.bound() <= TREND);
    let narrow = precision.is_some_and(|half| half <= PRECISION) && p99.is_none_or(|half| half <= PRECISION_P99);
    Assessment { steady: reasons.is_empty(), precise: narrow && level, warmup_s, end_s, reasons, precision, trend }
}

fn warming(hit_ratio: &[f64]) -> Option<Reason> {
    let found = drift(hit_ratio)?;
    let change = found.change * mean(hit_ratio)?;
    (found.significant && change > WARMING).then_some(Reason::CacheWarming { change })
}

/// Reasons against a window that begins at `warmup_s`, from its shape. A jump looks like a drift and a cycle like
/// jumps, so only the best explanation of the window is reported.
pub(crate) fn against(window: &[f64], warmup_s: usize, criteria: &Criteria) -> Vec<Reason> {
    let Some(shape) = shape(&window[window.len().saturating_sub(WINDOW_S)..]) else {
        return idle(window);
    };
    let range = level::range(window).unwrap_or(shape.range);
    let swings = shape.range > criteria.range || shape.excursion > criteria.excursion;
    if let Some(period_s) = period_s(window).filter(|_| range > criteria.range || swings) {
        return vec![Reason::Cycle { period_s, range }];
    }
    let mut jumps = changes(window);
    match drift(window).filter(Drift::is_drift) {
        Some(drift) if jumps.is_empty() || line_describes_better(window, &jumps) => {
            vec![Reason::Drift { change: drift.change }]
        }
        _ if jumps.is_empty() && swings => vec![Reason::Swings { range: shape.range.max(shape.excursion) }],
        _ => {
            // The largest one is the strongest evidence.
            jumps.sort_by(|a, b| b.size().total_cmp(&a.size()));
            jumps.into_iter().map(|c| Reason::Change(Change { at_s: c.at_s + warmup_s, ..c })).collect()
        }
    }
}

/// A window without a shape is one in which nothing was done.
fn idle(window: &[f64]) -> Vec<Reason> {
    let have_s = if mean(window).is_some_and(|m| m > 0.0) { window.len() } else { 0 };
    vec![Reason::TooShort { have_s, need_s: WINDOW_S }]
}

/// Whether a straight line describes the window better than levels with jumps, by `n ln(squares)` and penalties. The
/// penalty is `ln n` for the slope and `3 ln n` for each jump; without it, enough jumps would describe any ramp.
fn line_describes_better(window: &[f64], jumps: &[Change]) -> bool {
    let slope = line_slope(window);
    let flat: Vec<f64> = window.iter().enumerate().map(|(i, v)| v - slope * i as f64).collect();
    let boundaries: Vec<usize> = [0].into_iter().chain(jumps.iter().map(|j| j.at_s)).chain([window.len()]).collect();
    let between: f64 = boundaries.windows(2).map(|b| squares(&window[b[0]..b[1]])).sum();
    let n = window.len() as f64;
    n * squares(&flat).ln() + n.ln() < n * between.ln() + 3.0 * jumps.len() as f64 * n.ln()
}

fn squares(values: &[f64]) -> f64 {
    variance(values).unwrap_or(0.0) * values.len().saturating_sub(1) as f64
}
