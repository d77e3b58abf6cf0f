//! Many comparisons at once: each point of two sweeps, with Holm's correction.

use super::answer::{Comparison, Verdict};
use crate::stats::interval::CONFIDENCE;

#[derive(Debug, Clone, PartialEq)]
pub struct PointComparison {
    /// The load: sessions, or the varied setting.
    pub load: f64,
    /// The comparison there. It is "faster" or "slower" only if that survives the correction.
    pub comparison: Comparison,
    /// `p_beyond` with all points of the sweep taken into account.
    pub p_adjusted: Option<f64>,
}

/// Takes the number of points into account: of many comparisons one is easily significant by chance.
pub(crate) fn points(comparisons: Vec<(f64, Comparison)>) -> Vec<PointComparison> {
    let known: Vec<f64> = comparisons.iter().filter_map(|(_, c)| c.p_beyond).collect();
    let mut adjusted = holm(&known).into_iter();
    let mut points: Vec<PointComparison> = comparisons
        .into_iter()
        .map(|(load, mut comparison)| {
            let p_adjusted = comparison.p_beyond.and_then(|_| adjusted.next());
            let survives = p_adjusted.is_some_and(|p| p <= (1.0 - CONFIDENCE) * (1.0 + 1e-9));
            if matches!(comparison.verdict, Verdict::Faster | Verdict::Slower) && !survives {
                comparison.verdict = Verdict::NotDecided;
            }
            PointComparison { load, comparison, p_adjusted }
        })
        .collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    points
}

/// p values adjusted for their number (Holm 1979), in input order.
pub(crate) fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, i) in order.into_iter().enumerate() {
        largest = largest.max(p[i] * (p.len() - rank) as f64).min(1.0);
        adjusted[i] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_steps_down_and_never_passes_one() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (reported, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((reported - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert!(holm(&[0.9, 0.8]).iter().all(|p| *p <= 1.0));
        assert!(holm(&[]).is_empty());
    }
}
