//! Where more sessions stop helping: curves fitted to a ladder of loads, and the points to read off them.

mod answer;
mod fit;
mod interval;
mod load;
mod model;
mod slo;

use mindful_core::result::KneeFigure;
use mindful_core::{Error, Result, plan::units};

pub use answer::Knee;
pub(crate) use fit::{Fit, fit};
pub(crate) use interval::resampled;
pub use load::{LoadPoint, Search};
pub use model::{Model, ModelKind};
pub(crate) use slo::slo_sessions;

/// Fewest different loads for a choice between the models.
pub(crate) const FEWEST_LOADS: usize = 7;

/// Models with AICc values closer than this cannot be distinguished (Burnham and Anderson 2002).
const UNDECIDED: f64 = 2.0;

/// Fits the models to `points` (in any order, loads may repeat) and reads the knee off the best one.
///
/// # Errors
/// Fewer than seven different loads, no load of one session, or a throughput that is not above zero: then there is no
/// fit, only the points.
pub fn find(points: &[LoadPoint], search: &Search) -> Result<Knee> {
    let points = checked(points)?;
    let mut fits: Vec<Fit> = ModelKind::ALL.iter().filter_map(|kind| fit(&points, *kind)).collect();
    fits.sort_by(|a, b| a.aicc.total_cmp(&b.aicc));
    // Of models that cannot be distinguished the one with fewer parameters is taken.
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
    let is_known = |figure| match figure {
        KneeFigure::AsymptoteSessions => asymptote_sessions.is_some(),
        KneeFigure::BestPowerSessions => best_power_sessions.is_some(),
        KneeFigure::PeakSessions => peak.is_some(),
        KneeFigure::MaxPerS => true,
    };
    Ok(Knee {
        model: best.model.kind(),
        alternative,
        asymptote_sessions,
        best_power_sessions,
        slo_sessions: search.p99_target_us.and_then(|target| slo_sessions(&points, target)),
        peak_sessions: peak,
        max_per_s: best.model.max_within(most),
        zero_load_us: best.model.zero_load_s() * 1e6,
        intervals: spread.intervals.into_iter().filter(|(figure, _)| is_known(*figure)).collect(),
        fits,
    })
}

/// Points fit for a fit, by rising load.
fn checked(points: &[LoadPoint]) -> Result<Vec<LoadPoint>> {
    if let Some(bad) = points.iter().find(|p| p.sessions == 0 || !(p.throughput.is_normal() && p.throughput > 0.0)) {
        return Err(Error::run(
            format!(
                "the step of {} did {} operations per second",
                units::format_counted(bad.sessions, "session"),
                bad.throughput
            ),
            "leave it out of the ladder",
        ));
    }
    let mut rising = points.to_vec();
    rising.sort_by(|a, b| a.sessions.cmp(&b.sessions).then(a.throughput.total_cmp(&b.throughput)));
    let (have, first) = (loads(rising.iter()), rising.first().map_or(0, |p| p.sessions));
    if have < FEWEST_LOADS || first > 1 {
        let from = units::format_counted(first, "session");
        return Err(Error::run(
            match have {
                0 => "no load has a throughput".to_owned(),
                1 => format!("one load, of {from}, is too few"),
                _ => format!("{have} different loads from {from} on are too few"),
            },
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
