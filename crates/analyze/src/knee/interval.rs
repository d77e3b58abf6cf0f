//! The uncertainty of the knee, from fits to resampled residuals.

use std::collections::BTreeMap;

use mindful_core::result::KneeFigure;

use super::fit::{Fit, from, residuals, weights};
use super::load::{LoadPoint, Search};
use super::model::{Model, ModelKind};
use crate::stats::distribution::{normal_quantile, t_quantile};
use crate::stats::interval::{CONFIDENCE, Interval};
use crate::stats::moment::{mean, quantile, sorted};
use crate::stats::random::Random;

/// Probability below the upper end of an interval.
const TOP: f64 = 1.0 - (1.0 - CONFIDENCE) / 2.0;

pub(super) struct KneeIntervals {
    pub intervals: BTreeMap<KneeFigure, Interval>,
    /// Whether the law of retrograde scaling holds: the USL was chosen, and the lower end of kappa is above zero.
    pub peak_is_sure: bool,
}

/// Curves fitted to resamples of the points, by residual bootstrap (Efron 1979; as R's `usl` does): residuals are drawn
/// again onto the best curve, which is fitted again. The order of the points changes nothing.
pub(crate) fn resampled(points: &[LoadPoint], best: &Fit, search: &Search) -> Vec<Model> {
    let mut rising = points.to_vec();
    rising.sort_by(|a, b| a.sessions.cmp(&b.sessions).then(a.throughput.total_cmp(&b.throughput)));
    let mut random = Random::new(search.seed, "residual bootstrap");
    (0..search.resamples).map(|_| refitted(&rising, best, &mut random)).collect()
}

pub(super) fn resample(points: &[LoadPoint], best: &Fit, search: &Search, most: f64) -> KneeIntervals {
    let models = resampled(points, best, search);
    let of = |figure, value: &dyn Fn(&Model) -> Option<f64>| Some((figure, percentiles(&models, value)?));
    let intervals = [
        of(KneeFigure::AsymptoteSessions, &Model::asymptote_sessions),
        of(KneeFigure::BestPowerSessions, &|m| Some(m.best_power_sessions(most).unwrap_or(most))),
        of(KneeFigure::PeakSessions, &Model::peak_sessions),
        of(KneeFigure::MaxPerS, &|m| Some(m.max_within(most))),
    ];
    let kappa = |model: &Model| model.parameters().iter().find(|(name, _)| *name == "kappa").map(|(_, k)| *k);
    let is_usl = best.model.kind() == ModelKind::Usl;
    KneeIntervals {
        peak_is_sure: is_usl && percentiles(&models, &kappa).is_some_and(|interval| interval.low > 0.0),
        intervals: intervals.into_iter().flatten().collect(),
    }
}

/// The model fitted to one resample. Residuals are centred, and widened for the degrees of freedom of the fit and for
/// Student's t. Without that, percentiles from few points are too narrow.
fn refitted(points: &[LoadPoint], best: &Fit, random: &mut Random) -> Model {
    let weights = weights(points);
    let plain: Vec<f64> = residuals(points, &best.model).iter().zip(&weights).map(|(r, w)| r * w).collect();
    let center = mean(&plain).unwrap_or(0.0);
    let freedom = points.len().saturating_sub(best.model.fitted().len()).max(1);
    let wider = t_quantile(TOP, freedom as f64) / normal_quantile(TOP);
    let stretch = wider.min(2.0) * (points.len() as f64 / freedom as f64).sqrt();
    let target: Vec<f64> = points
        .iter()
        .zip(&weights)
        .map(|(point, weight)| {
            let drawn = (plain[random.below(plain.len())] - center) * stretch / weight;
            best.model.throughput(f64::from(point.sessions)).ln() + drawn
        })
        .collect();
    let kind = best.model.kind();
    // A parameter on its bound of zero has to be able to leave it.
    let start: Vec<f64> = best.model.fitted().iter().map(|p| if *p == 0.0 { 1e-6 } else { *p }).collect();
    Model::new(kind, from(points, &target, kind, &start).parameters)
}

/// `None` without resamples, or if more than one of twenty has no such figure.
fn percentiles(models: &[Model], figure: &dyn Fn(&Model) -> Option<f64>) -> Option<Interval> {
    let values: Vec<f64> = models.iter().filter_map(figure).collect();
    if values.len() < 100 || values.len() * 20 < models.len() * 19 {
        return None;
    }
    let rising = sorted(&values);
    Some(Interval { low: quantile(&rising, 1.0 - TOP)?, high: quantile(&rising, TOP)?, confidence: CONFIDENCE })
}
