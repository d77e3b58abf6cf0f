//! Fitting one model to the points, and the uncertainty of the knee from fits to resampled residuals.

use std::collections::BTreeMap;

use mindful_core::result::KneeFigure;

use super::model::{Model, ModelKind, log_throughput};
use crate::stats::distribution::{normal_quantile, t_quantile};
use crate::stats::interval::{CONFIDENCE, Interval};
use crate::stats::least_squares::{Minimum, minimise};
use crate::stats::moment::{mean, quantile, sorted};
use crate::stats::random::Random;

/// No model of this kind describes a system better than this (relative): points with a smaller error weigh no more.
const MODEL_ERROR: f64 = 0.01;

/// Residuals below this (relative) count as zero.
const EXACT: f64 = 1e-4;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    pub sessions: u32,
    /// Operations (or blocks) per second.
    pub throughput: f64,
    /// Relative standard error of the throughput, where known.
    pub error: Option<f64>,
    /// 99th percentile of latency, us, where known.
    pub p99_us: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// Latency objective for the 99th percentile, us.
    pub p99_target_us: Option<f64>,
    /// Bootstrap resamples for the intervals; 0 leaves them out.
    pub resamples: usize,
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Self {
        Self { p99_target_us: None, resamples: 400, seed: 1 }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub model: Model,
    /// Root of the mean squared relative residual.
    pub rms: f64,
    /// Akaike's criterion, corrected for few points (Hurvich and Tsai 1989); the lower the better.
    pub aicc: f64,
}

/// Relative least squares with all parameters at or above zero; `None` with fewer points than the criterion needs.
pub(super) fn fit(points: &[LoadPoint], kind: ModelKind) -> Option<Fit> {
    let first = points.iter().min_by_key(|p| p.sessions)?;
    let highest = points.iter().map(|p| p.throughput).fold(0.0, f64::max);
    let most = f64::from(points.iter().map(|p| p.sessions).max()?);
    let starts = kind.starts((f64::from(first.sessions), first.throughput), highest, most);
    let target: Vec<f64> = points.iter().map(|p| p.throughput.ln()).collect();
    let best =
        starts.iter().map(|start| from(points, &target, kind, start)).min_by(|a, b| a.squares.total_cmp(&b.squares))?;
    let (n, parameters) = (points.len() as f64, best.parameters.len() as f64 + 1.0);
    let square = (best.squares / n).max(EXACT * EXACT);
    let spare = n - parameters - 1.0;
    let model = Model::new(kind, best.parameters);
    let rms = (residuals(points, &model).iter().map(|r| r * r).sum::<f64>() / n).sqrt();
    (spare > 0.0 && best.squares.is_finite()).then(|| Fit {
        model,
        rms,
        aicc: n * square.ln() + 2.0 * parameters + 2.0 * parameters * (parameters + 1.0) / spare,
    })
}

/// One descent from `start` to the logarithms `target` of the throughputs.
fn from(points: &[LoadPoint], target: &[f64], kind: ModelKind, start: &[f64]) -> Minimum {
    let weights = weights(points);
    let weighted = |p: &[f64]| -> Vec<f64> {
        let apart = |(point, y): (&LoadPoint, &f64)| y - log_throughput(kind, p, f64::from(point.sessions));
        points.iter().zip(target).map(apart).zip(&weights).map(|(r, w)| r * w).collect()
    };
    minimise(&weighted, start, &kind.bounds())
}

fn residuals(points: &[LoadPoint], model: &Model) -> Vec<f64> {
    points.iter().map(|p| (p.throughput / model.throughput(f64::from(p.sessions))).ln()).collect()
}

/// Roots of the weights `1 / (se^2 + model error^2)`, with mean square 1; all 1 where an error is not known.
fn weights(points: &[LoadPoint]) -> Vec<f64> {
    let known: Option<Vec<f64>> = points
        .iter()
        .map(|p| p.error.filter(|e| e.is_finite()).map(|e| 1.0 / (e * e + MODEL_ERROR * MODEL_ERROR)))
        .collect();
    let Some(known) = known else { return vec![1.0; points.len()] };
    let center = mean(&known).unwrap_or(1.0);
    known.iter().map(|w| (w / center).sqrt()).collect()
}

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

pub(super) fn knee_intervals(points: &[LoadPoint], best: &Fit, search: &Search, most: f64) -> KneeIntervals {
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
