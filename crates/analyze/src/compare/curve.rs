//! Two sweeps compared with each other as curves.

use mindful_core::Result;
pub use mindful_core::result::comparison::{CurveComparison, CurveRatio};

use crate::knee::{Fit, LoadPoint, Model, Search, find, resampled};
use crate::stats::interval::of_resamples;

/// Loads at which the curves are read for their area, evenly spread on the logarithm.
const READINGS: u32 = 32;

/// Fits a curve to each side and compares the curves; the points may be in any order.
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
    let known = |reported: Option<CurveRatio>| reported.unwrap_or(CurveRatio { ratio: f64::NAN, interval: None });
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

fn ratio(a: &[Model], b: &[Model], figure: &dyn Fn(&Model) -> Option<f64>) -> Option<CurveRatio> {
    let reported = figure(b.first()?)? / figure(a.first()?)?;
    let draws: Vec<f64> = a.iter().zip(b).skip(1).filter_map(|(a, b)| Some(figure(b)? / figure(a)?)).collect();
    Some(CurveRatio { ratio: reported, interval: of_resamples(&draws) })
}

/// Mean throughput over loads from one session to `most`, evenly spread on the logarithm.
fn area(model: &Model, most: f64) -> f64 {
    let at = |i: u32| model.throughput((most.ln() * f64::from(i) / f64::from(READINGS - 1)).exp());
    (0..READINGS).map(at).sum::<f64>() / f64::from(READINGS)
}
