//! Fitting one model to the points.

use super::load::LoadPoint;
use super::model::{Model, ModelKind, log_throughput};
use crate::stats::least_squares::{Minimum, minimise};
use crate::stats::moment::mean;

/// No model of this kind describes a system better than this (relative): points with a smaller error weigh no more.
const MODEL_ERROR: f64 = 0.01;

/// Residuals below this (relative) count as zero.
const EXACT: f64 = 1e-4;

#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub model: Model,
    /// Root of the mean squared relative residual.
    pub rms: f64,
    /// Akaike's criterion, corrected for few points (Hurvich and Tsai 1989); the lower the better.
    pub aicc: f64,
}

/// Relative least squares with all parameters at or above zero; `None` with fewer points than the criterion needs.
pub(crate) fn fit(points: &[LoadPoint], kind: ModelKind) -> Option<Fit> {
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
pub(super) fn from(points: &[LoadPoint], target: &[f64], kind: ModelKind, start: &[f64]) -> Minimum {
    let weights = weights(points);
    let weighted = |p: &[f64]| -> Vec<f64> {
        let apart = |(point, y): (&LoadPoint, &f64)| y - log_throughput(kind, p, f64::from(point.sessions));
        points.iter().zip(target).map(apart).zip(&weights).map(|(r, w)| r * w).collect()
    };
    minimise(&weighted, start, &kind.bounds())
}

pub(super) fn residuals(points: &[LoadPoint], model: &Model) -> Vec<f64> {
    points.iter().map(|p| (p.throughput / model.throughput(f64::from(p.sessions))).ln()).collect()
}

/// Roots of the weights `1 / (se^2 + model error^2)`, with mean square 1; all 1 where an error is not known.
pub(super) fn weights(points: &[LoadPoint]) -> Vec<f64> {
    let known: Option<Vec<f64>> = points
        .iter()
        .map(|p| p.error.filter(|e| e.is_finite()).map(|e| 1.0 / (e * e + MODEL_ERROR * MODEL_ERROR)))
        .collect();
    let Some(known) = known else { return vec![1.0; points.len()] };
    let center = mean(&known).unwrap_or(1.0);
    known.iter().map(|w| (w / center).sqrt()).collect()
}
