//! Quantiles and probabilities of the distributions that the tests refer to.

use statrs::distribution::{Beta, ContinuousCDF, Normal, StudentsT};

use crate::stats::interval::{CONFIDENCE, Interval, TAIL};

pub(crate) fn normal_below(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// The standard normal value that has probability `p` below it.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// The value of Student's t with `freedom` degrees (at least one) that has probability `p` below it.
pub(crate) fn t_quantile(p: f64, freedom: f64) -> f64 {
    student(freedom).map_or_else(|| normal_quantile(p), |t| t.inverse_cdf(p))
}

/// Probability that Student's t with `freedom` degrees is at least as far from 0 as `t`.
pub fn t_two_sided(t: f64, freedom: f64) -> f64 {
    2.0 * student(freedom).map_or_else(|| normal_below(-t.abs()), |s| s.cdf(-t.abs()))
}

/// Clopper and Pearson's two-sided interval of a binomial share: the rates for which `count` of `of` is neither too few
/// nor too many. `None` if `of` is 0.
pub fn rate_interval(count: u64, of: u64) -> Option<Interval> {
    let (hit, missed) = (count as f64, of.checked_sub(count).filter(|_| of > 0)? as f64);
    let end = |a: f64, b: f64, below: f64| Beta::new(a, b).map_or(f64::from(a > b), |beta| beta.inverse_cdf(below));
    let (low, high) = (end(hit, missed + 1.0, TAIL), end(hit + 1.0, missed, 1.0 - TAIL));
    Some(Interval { low, high, confidence: CONFIDENCE })
}

/// `None` past ten thousand degrees, where the normal distribution is the same within 0.02 % and computed better.
fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).ok().filter(|_| freedom < 1e4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_published_tables() {
        for (freedom, expected) in [(1.0, 12.706), (4.0, 2.776), (8.0, 2.306), (19.0, 2.093), (39.0, 2.023)] {
            assert!((t_quantile(0.975, freedom) - expected).abs() < 6e-4, "t with {freedom}");
        }
        assert!((normal_quantile(0.975) - 1.959_964).abs() < 1e-5);
        assert!((t_quantile(0.975, f64::INFINITY) - 1.959_966).abs() < 1e-4);
        assert!((t_two_sided(2.306, 8.0) - 0.05).abs() < 1e-4);
    }

    #[test]
    fn the_interval_of_a_rate_is_that_of_the_tables() {
        for (count, of, low, high) in
            [(0, 13, 0.0, 0.247), (10, 10, 0.692, 1.0), (1, 20, 0.0013, 0.2487), (50, 100, 0.398, 0.602)]
        {
            let found = rate_interval(count, of).unwrap();
            assert!((found.low - low).abs() < 1e-3 && (found.high - high).abs() < 1e-3, "{count} of {of}: {found:?}");
        }
        assert_eq!((rate_interval(0, 0), rate_interval(3, 2)), (None, None));
    }
}
