//! Where more sessions stop helping: curves fitted to a ladder of loads, and the points to read off them.

mod fit;
mod model;

use std::collections::BTreeMap;

use mindful_core::result::{KneeFigure, KneeSummary};
use mindful_core::{Error, Result, plan::units};

pub(crate) use fit::resampled;
pub use fit::{Fit, LoadPoint, Search};
use fit::{by_load, fit, interval};
pub use model::{Model, ModelKind};

use crate::stats::moment::median;

#[derive(Debug, Clone, PartialEq)]
pub struct Knee {
    pub summary: KneeSummary,
    /// All fits, the best one first.
    pub fits: Vec<Fit>,
}

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
        let simpler = second.model.fitted().len() < first.model.fitted().len();
        if simpler && second.aicc - first.aicc < UNDECIDED {
            fits.swap(0, 1);
        }
    }
    let Some(best) = fits.first() else {
        return Err(Error::run("no model fits the ladder's points", "look at the single steps"));
    };
    Ok(Knee { summary: summary(&points, &best.model, &resampled(&points, best, search), search), fits })
}

/// The knee of the best `model` of `points`, with intervals from fits to resamples.
fn summary(points: &[LoadPoint], model: &Model, resampled: &[Model], search: &Search) -> KneeSummary {
    let most = f64::from(points.iter().map(|p| p.sessions).max().unwrap_or(1));
    let past = |asymptote: &f64| loads(points.iter().filter(|p| f64::from(p.sessions) > *asymptote)) >= 2;
    // Throughput certainly falls only if the USL was chosen and the lower end of kappa is above zero.
    let kappa = |model: &Model| (model.kind() == ModelKind::Usl).then(|| model.fitted()[2]);
    let falls = interval(resampled, &kappa).is_some_and(|kappa| kappa.low > 0.0);
    let mut intervals = BTreeMap::new();
    let mut known = |figure: KneeFigure, value: Option<f64>, of_model: &dyn Fn(&Model) -> Option<f64>| {
        if let Some(i) = interval(resampled, of_model).filter(|_| value.is_some()) {
            intervals.insert(figure.name().to_owned(), [i.low, i.high]);
        }
        value
    };
    let asymptote = model.asymptote_sessions().filter(past);
    let peak = model.peak_sessions().filter(|peak| falls && *peak < most);
    let best_power = |m: &Model| Some(m.best_power_sessions(most).unwrap_or(most));
    let max_per_s = |m: &Model| Some(m.max_within(most));
    KneeSummary {
        model: Some(model.kind().name().to_owned()),
        why_not: None,
        asymptote_sessions: known(KneeFigure::AsymptoteSessions, asymptote, &Model::asymptote_sessions),
        best_power_sessions: known(KneeFigure::BestPowerSessions, model.best_power_sessions(most), &best_power),
        slo_sessions: search.p99_target_us.and_then(|target| slo_sessions(points, target)),
        peak_sessions: known(KneeFigure::PeakSessions, peak, &Model::peak_sessions),
        max_per_s: known(KneeFigure::MaxPerS, max_per_s(model), &max_per_s),
        intervals,
    }
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
    let rising = by_load(points);
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

/// Most whole sessions that meet an objective, interpolated on logarithms between the last load that meets it and the first
/// that does not; repeated loads count with their median. `None` if even the smallest load misses it, or no percentile
/// is known.
pub(crate) fn slo_sessions(points: &[LoadPoint], target_us: f64) -> Option<u32> {
    let mut known: Vec<(u32, f64)> = points.iter().filter_map(|p| Some((p.sessions, p.p99_us?))).collect();
    known.retain(|(_, p99)| *p99 > 0.0);
    known.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let loads: Vec<(u32, f64)> = known
        .chunk_by(|a, b| a.0 == b.0)
        .filter_map(|same| Some((same[0].0, median(&same.iter().map(|p| p.1).collect::<Vec<f64>>())?)))
        .collect();
    let Some(miss) = loads.iter().position(|(_, p99)| *p99 > target_us) else {
        return loads.last().map(|(sessions, _)| *sessions);
    };
    let ((met_n, met), (miss_n, missed)) = (*loads.get(miss.checked_sub(1)?)?, loads[miss]);
    let share = (target_us / met).ln() / (missed / met).ln();
    Some((f64::from(met_n) * (f64::from(miss_n) / f64::from(met_n)).powf(share)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(p99: &[(u32, f64)]) -> Vec<LoadPoint> {
        let point = |(n, p): &(u32, f64)| LoadPoint { sessions: *n, throughput: 1.0, p99_us: Some(*p) };
        p99.iter().map(point).collect()
    }

    #[test]
    fn the_objective_is_met_up_to_a_load_between_two_steps() {
        let ladder = points(&[(1, 100.0), (8, 400.0), (2, 120.0), (4, 200.0)]);
        let met = [283.0, 310.0, 50.0, 1e3].map(|target_us| slo_sessions(&ladder, target_us));
        assert_eq!(met, [Some(5), Some(6), None, Some(8)]);
    }
}
