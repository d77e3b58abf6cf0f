//! Autocorrelation of a series, and the number of independent points that it is worth.

use super::moment::{batch_means, mean, variance};

const FEWEST_BATCHES: usize = 8;

/// Integrated autocorrelation time in points, at least 1: the largest of `b var(batch mean) / var` over batch lengths
/// b = 1, 2, 4… with at least eight batches. A constant or very short series has 1.
pub fn time(series: &[f64]) -> f64 {
    let Some(whole) = variance(series).filter(|v| *v > 0.0) else { return 1.0 };
    let lengths = std::iter::successors(Some(1_usize), |b| Some(b * 2));
    lengths
        .take_while(|b| series.len() / b >= FEWEST_BATCHES)
        .filter_map(|b| Some(b as f64 * variance(&batch_means(series, b))? / whole))
        .fold(1.0, f64::max)
}

/// Correlation of the series with itself `lag` points later; 0 if not known.
pub(crate) fn at_lag(series: &[f64], lag: usize) -> f64 {
    let Some(center) = mean(series) else { return 0.0 };
    let square: f64 = series.iter().map(|v| (v - center).powi(2)).sum();
    if lag >= series.len() || square <= 0.0 {
        return 0.0;
    }
    let cross: f64 = series.iter().zip(&series[lag..]).map(|(a, b)| (a - center) * (b - center)).sum();
    cross / square
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Random;

    #[test]
    fn the_time_of_a_first_order_process_is_not_underestimated() {
        for phi in [0.0, 0.5, 0.8] {
            let mut random = Random::new(3, "tau");
            let mut level = 0.0;
            let series: Vec<f64> = (0..8_000)
                .map(|_| {
                    level = phi * level + random.normal();
                    level
                })
                .collect();
            let expected = (1.0 + phi) / (1.0 - phi);
            let reported = time(&series) / expected;
            // The largest of many noisy ratios is rather too high than too low.
            assert!((0.75..2.2).contains(&reported), "phi {phi}: {reported} of the true time");
        }
    }

    #[test]
    fn constants_and_short_series_have_time_one() {
        for series in [&[][..], &[5.0], &[5.0, 6.0], &[2.0; 100]] {
            assert!((time(series) - 1.0).abs() < 1e-12);
            assert!(at_lag(series, 1).is_finite());
        }
    }
}
