//! Fitting one model to the points, and the uncertainty of the knee from fits to resampled residuals.

use super::model::{Model, ModelKind, log_throughput};
use crate::stats::distribution::{normal_quantile, t_quantile};
use crate::stats::interval::{Interval, TAIL, of_resamples};
use crate::stats::least_squares::{Minimum, minimise};
use crate::stats::moment::mean;
use crate::stats::random::Random;

/// Residuals below this (relative) count as zero.
const EXACT: f64 = 1e-4;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    pub sessions: u32,
    /// Operations (or blocks) per second.
    pub throughput: f64,
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
    (spare > 0.0 && best.squares.is_finite()).then(|| Fit {
        model,
        rms: (best.squares / n).sqrt(),
        aicc: n * square.ln() + 2.0 * parameters + 2.0 * parameters * (parameters + 1.0) / spare,
    })
}

/// One descent from `start` to the logarithms `target` of the throughputs.
fn from(points: &[LoadPoint], target: &[f64], kind: ModelKind, start: &[f64]) -> Minimum {
    let residuals = |p: &[f64]| -> Vec<f64> {
        points.iter().zip(target).map(|(point, y)| y - log_throughput(kind, p, f64::from(point.sessions))).collect()
    };
    minimise(&residuals, start, &kind.bounds())
}

pub(super) fn by_load(points: &[LoadPoint]) -> Vec<LoadPoint> {
    let mut rising = points.to_vec();
    rising.sort_by(|a, b| a.sessions.cmp(&b.sessions).then(a.throughput.total_cmp(&b.throughput)));
    rising
}

/// Curves fitted to resamples of the points, by residual bootstrap (Efron 1979; as R's `usl` does): residuals are drawn
/// again onto the best curve, which is fitted again. The order of the points changes nothing.
pub(crate) fn resampled(points: &[LoadPoint], best: &Fit, search: &Search) -> Vec<Model> {
    let rising = by_load(points);
    let mut random = Random::new(search.seed, "residual bootstrap");
    (0..search.resamples).map(|_| refitted(&rising, best, &mut random)).collect()
}

/// The model fitted to one resample. Residuals are centred, and widened for the degrees of freedom of the fit and for
/// Student's t. Without that, percentiles from few points are too narrow.
fn refitted(points: &[LoadPoint], best: &Fit, random: &mut Random) -> Model {
    let residual = |p: &LoadPoint| (p.throughput / best.model.throughput(f64::from(p.sessions))).ln();
    let residuals: Vec<f64> = points.iter().map(residual).collect();
    let center = mean(&residuals).unwrap_or(0.0);
    let freedom = points.len().saturating_sub(best.model.fitted().len()).max(1);
    let wider = t_quantile(1.0 - TAIL, freedom as f64) / normal_quantile(1.0 - TAIL);
    let stretch = wider.min(2.0) * (points.len() as f64 / freedom as f64).sqrt();
    let drawn = |point: &LoadPoint| {
        let residual = (residuals[random.below(residuals.len())] - center) * stretch;
        best.model.throughput(f64::from(point.sessions)).ln() + residual
    };
    let target: Vec<f64> = points.iter().map(drawn).collect();
    let kind = best.model.kind();
    // A parameter on its bound of zero has to be able to leave it.
    let start: Vec<f64> = best.model.fitted().iter().map(|p| if *p == 0.0 { 1e-6 } else { *p }).collect();
    Model::new(kind, from(points, &target, kind, &start).parameters)
}

/// The interval of a figure of `models`; `None` without resamples, or if more than one of twenty has no such figure.
pub(super) fn interval(models: &[Model], figure: &dyn Fn(&Model) -> Option<f64>) -> Option<Interval> {
    let values: Vec<f64> = models.iter().filter_map(figure).collect();
    of_resamples(&values).filter(|_| values.len() * 20 >= models.len() * 19)
}
