//! Where more sessions stop helping: curves fitted to a ladder of loads, and the points to read off them.

mod fit;
mod interval;
mod model;
mod slo;

use mindful_core::{Error, Result};
use serde::{Deserialize, Serialize};

pub use fit::{Fit, fit};
pub use interval::resampled;
pub use model::{Model, ModelKind};
pub use slo::{SloPoint, slo_point};

use crate::stats::interval::Interval;

/// Fewest different loads for a choice between the models.
pub const FEWEST_LOADS: usize = 7;

/// Models whose AICc differs by less than this cannot be told apart (Burnham and Anderson 2002).
const UNDECIDED: f64 = 2.0;

/// What was measured at one load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// Sessions.
    pub sessions: u32,
    /// Operations (or blocks) per second.
    pub throughput: f64,
    /// Relative standard error of the throughput, where known.
    pub error: Option<f64>,
    /// 99th percentile of latency, us, where known.
    pub p99_us: Option<f64>,
}

/// How the knee is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// Latency objective for the 99th percentile, us.
    pub p99_target_us: Option<f64>,
    /// Bootstrap resamples for the intervals; 0 leaves them out.
    pub resamples: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Self {
        Self { p99_target_us: None, resamples: 400, seed: 1 }
    }
}

/// What the ladder says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// The model that describes the points best.
    pub model: ModelKind,
    /// A second one that describes them as well.
    pub alternative: Option<ModelKind>,
    /// All fits, the best one first.
    pub fits: Vec<Fit>,
    /// Zero-load latency by capacity, `R0 C`: below it sessions wait for nothing, above it they queue. `None` where
    /// fewer than two points lie past it.
    pub asymptote_sessions: Option<f64>,
    /// Sessions of the best throughput per latency; `None` where it was not reached.
    pub best_power_sessions: Option<f64>,
    /// Most sessions whose 99th percentile meets the objective.
    pub slo_sessions: Option<SloPoint>,
    /// Sessions of the highest throughput, where more of them surely make it fall; `None` also where that would be
    /// past the measured loads.
    pub peak_sessions: Option<f64>,
    /// Highest throughput within the measured loads, per second.
    pub max_per_s: f64,
    /// Latency of one session alone, us.
    pub zero_load_us: f64,
    /// Where the figures above lie, 95 %.
    pub intervals: Intervals,
}

/// Intervals of the knee's figures; `None` where the figure is, or where no bootstrap was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Intervals {
    /// Of [`Knee::asymptote_sessions`].
    pub asymptote_sessions: Option<Interval>,
    /// Of [`Knee::best_power_sessions`].
    pub best_power_sessions: Option<Interval>,
    /// Of [`Knee::peak_sessions`].
    pub peak_sessions: Option<Interval>,
    /// Of [`Knee::max_per_s`].
    pub max_per_s: Option<Interval>,
    /// Of [`Knee::zero_load_us`].
    pub zero_load_us: Option<Interval>,
}

/// Fits the models to `points` (in any order, loads may repeat) and reads the knee off the best one.
///
/// # Errors
/// Fewer than seven different loads, no load of one session, or a throughput that is not above zero: then there is no
/// fit, only the points.
pub fn find(points: &[LoadPoint], search: &Search) -> Result<Knee> {
    let points = checked(points)?;
    let mut fits: Vec<Fit> = ModelKind::ALL.iter().filter_map(|kind| fit(&points, *kind)).collect();
    fits.sort_by(|a, b| a.aicc.total_cmp(&b.aicc));
    // Of models that cannot be told apart the one with fewer parameters is taken.
    if let [first, second, ..] = fits.as_slice() {
        let simpler = second.model.parameters().len() < first.model.parameters().len();
        if simpler && second.aicc - first.aicc < UNDECIDED {
            fits.swap(0, 1);
        }
    }
    let Some(best) = fits.first() else {
        return Err(Error::run("no model fits the ladder's points", "look at the single steps"));
    };
    let alternative = fits.get(1).filter(|f| (f.aicc - best.aicc).abs() < UNDECIDED).map(|f| f.model.kind());
    let most = f64::from(points.iter().map(|p| p.sessions).max().unwrap_or(1));
    let spread = interval::resample(&points, best, search, most);
    let past = |asymptote: &f64| loads(points.iter().filter(|p| f64::from(p.sessions) > *asymptote)) >= 2;
    let asymptote_sessions = best.model.asymptote_sessions().filter(past);
    let best_power_sessions = best.model.best_power_sessions(most);
    let peak = best.model.peak_sessions().filter(|peak| spread.peak_is_sure && *peak < most);
    Ok(Knee {
        model: best.model.kind(),
        alternative,
        asymptote_sessions,
        best_power_sessions,
        slo_sessions: search.p99_target_us.and_then(|target| slo_point(&points, target)),
        peak_sessions: peak,
        max_per_s: best.model.max_within(most),
        zero_load_us: best.model.zero_load_s() * 1e6,
        intervals: Intervals {
            asymptote_sessions: spread.intervals.asymptote_sessions.filter(|_| asymptote_sessions.is_some()),
            best_power_sessions: spread.intervals.best_power_sessions.filter(|_| best_power_sessions.is_some()),
            peak_sessions: spread.intervals.peak_sessions.filter(|_| peak.is_some()),
            ..spread.intervals
        },
        fits,
    })
}

/// Points fit for a fit, by rising load.
fn checked(points: &[LoadPoint]) -> Result<Vec<LoadPoint>> {
    if let Some(bad) = points.iter().find(|p| p.sessions == 0 || !(p.throughput.is_normal() && p.throughput > 0.0)) {
        return Err(Error::run(
            format!("the step of {} sessions did {} operations per second", bad.sessions, bad.throughput),
            "leave it out of the ladder",
        ));
    }
    let mut rising = points.to_vec();
    rising.sort_by(|a, b| a.sessions.cmp(&b.sessions).then(a.throughput.total_cmp(&b.throughput)));
    let (have, first) = (loads(rising.iter()), rising.first().map_or(0, |p| p.sessions));
    if have < FEWEST_LOADS || first > 1 {
        return Err(Error::run(
            format!("{have} different loads from {first} sessions on are too few for a knee"),
            format!("measure at least {FEWEST_LOADS}, with one session and two past saturation among them"),
        ));
    }
    Ok(rising)
}

/// Different loads among points by rising load.
fn loads<'a>(points: impl Iterator<Item = &'a LoadPoint>) -> usize {
    let mut sessions: Vec<u32> = points.map(|p| p.sessions).collect();
    sessions.dedup();
    sessions.len()
}
