//! Two sweeps compared with each other as curves.

use mindful_core::Result;
use serde::{Deserialize, Serialize};

use crate::knee::{Fit, LoadPoint, Model, Search, find, resampled};
use crate::stats::interval::{CONFIDENCE, Interval};
use crate::stats::moment::{quantile, sorted};

/// Loads at which the curves are read for their area, evenly spread on the logarithm.
const READINGS: u32 = 32;

/// Candidate by baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The ratio of the fitted curves.
    pub ratio: f64,
    /// Where it lies, by residual bootstrap of both curves; `None` without resamples.
    pub interval: Option<Interval>,
}

/// How two curves differ. The intervals hold the scatter of the points round the curves, not what differs from one
/// sweep to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurveComparison {
    /// Highest throughput within the loads both sweeps have.
    pub capacity: Ratio,
    /// Latency of one session alone.
    pub zero_load: Ratio,
    /// Sessions at `R0 C`; `None` where one of the curves has no end.
    pub asymptote: Option<Ratio>,
    /// Throughput over all loads both sweeps have, doublings weighing alike.
    pub area: Ratio,
}

/// Fits a curve to each side and compares what they say; the points may come in any order.
///
/// # Errors
/// As [`find`]: too few loads on a side.
pub fn curves(baseline: &[LoadPoint], candidate: &[LoadPoint], search: &Search) -> Result<CurveComparison> {
    let sides = [(baseline, "baseline", 0), (candidate, "candidate", 1)].map(|(points, name, shift)| {
        // Each side draws its own resamples.
        let own = Search { seed: mindful_core::workload::draw::mix64(search.seed ^ shift), ..*search };
        let knee = find(points, &Search { resamples: 0, ..own }).map_err(|error| error.at(name))?;
        Ok((knee.fits.into_iter().next(), own))
    });
    let [a, b] = sides;
    let (Some(a), Some(b)) = (side(baseline, a?), side(candidate, b?)) else {
        return Err(mindful_core::Error::run("a side has no fit", "look at the single steps"));
    };
    let most = [baseline, candidate].map(|side| side.iter().map(|p| p.sessions).max().unwrap_or(1));
    let most = f64::from(most[0].min(most[1]));
    let ratio = |figure: &dyn Fn(&Model) -> Option<f64>| ratio(&a, &b, figure);
    let known = |reported: Option<Ratio>| reported.unwrap_or(Ratio { ratio: f64::NAN, interval: None });
    Ok(CurveComparison {
        capacity: known(ratio(&|m| Some(m.max_within(most)))),
        zero_load: known(ratio(&|m| Some(m.zero_load_s()))),
        asymptote: ratio(&Model::asymptote_sessions),
        area: known(ratio(&|m| Some(area(m, most)))),
    })
}

/// A fitted curve, first, and its resamples.
fn side(points: &[LoadPoint], (fit, search): (Option<Fit>, Search)) -> Option<Vec<Model>> {
    let fit = fit?;
    let resamples = resampled(points, &fit, &search);
    Some([fit.model].into_iter().chain(resamples).collect())
}

fn ratio(a: &[Model], b: &[Model], figure: &dyn Fn(&Model) -> Option<f64>) -> Option<Ratio> {
    let reported = figure(b.first()?)? / figure(a.first()?)?;
    let draws: Vec<f64> = a.iter().zip(b).skip(1).filter_map(|(a, b)| Some(figure(b)? / figure(a)?)).collect();
    let rising = sorted(&draws);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let interval = quantile(&rising, tail)
        .zip(quantile(&rising, 1.0 - tail))
        .map(|(low, high)| Interval { low, high, confidence: CONFIDENCE })
        .filter(|_| draws.len() >= 100);
    Some(Ratio { ratio: reported, interval })
}

/// Mean throughput over loads from one session to `most`, evenly spread on the logarithm.
fn area(model: &Model, most: f64) -> f64 {
    let at = |i: u32| model.throughput((most.ln() * f64::from(i) / f64::from(READINGS - 1)).exp());
    (0..READINGS).map(at).sum::<f64>() / f64::from(READINGS)
}
