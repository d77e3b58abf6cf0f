//! The second opinion: bias-corrected and accelerated bootstrap (Efron 1987) of the Hodges-Lehmann ratio.

use super::answer::RunValue;
use crate::stats::distribution::{normal_below, normal_quantile};
use crate::stats::interval::{CONFIDENCE, Interval, TAIL};
use crate::stats::moment::{mean, quantile, sorted};
use crate::stats::random::Random;
use crate::stats::series::autocorrelation_time;

pub(super) const SEED: u64 = 1;

/// Fewest points of a series that blocks are drawn from.
const SHORTEST_SERIES: usize = 10;

/// Interval of the ratio. Runs are resampled, and within each drawn run its blocks of seconds, if known. `None` below
/// two runs a side, without resamples, or if all resamples agree.
pub(crate) fn ratio_bca(baseline: &[RunValue], candidate: &[RunValue], resamples: usize) -> Option<Interval> {
    if baseline.len() < 2 || candidate.len() < 2 || resamples < 100 {
        return None;
    }
    let sides = [sampled(baseline), sampled(candidate)];
    let values = sides.each_ref().map(|side| side.iter().map(|run| run.value).collect::<Vec<f64>>());
    let estimate = median_difference(&values[0], &values[1]);
    let mut random = Random::new(SEED, "bootstrap of a ratio");
    let mut draw = |side: &[Sampled]| -> Vec<f64> {
        (0..side.len())
            .map(|_| {
                let run = &side[random.below(side.len())];
                run.value + run.blocks.as_ref().map_or(0.0, |blocks| blocks.draw(&mut random).ln())
            })
            .collect()
    };
    let draws: Vec<f64> = (0..resamples)
        .map(|_| {
            let (a, b) = (draw(&sides[0]), draw(&sides[1]));
            median_difference(&a, &b)
        })
        .collect();
    let rising = sorted(&draws);
    let below = rising.partition_point(|d| *d < estimate);
    let equal = rising.partition_point(|d| *d <= estimate) - below;
    let share = (below as f64 + equal as f64 / 2.0) / resamples as f64;
    if share <= 0.0 || share >= 1.0 || rising[0] >= rising[resamples - 1] {
        return None;
    }
    let bias = normal_quantile(share);
    let acceleration = acceleration(&values);
    let end = |p: f64| {
        let z = bias + normal_quantile(p);
        quantile(&rising, normal_below(bias + z / (1.0 - acceleration * z))).map(f64::exp)
    };
    Some(Interval { low: end(TAIL)?, high: end(1.0 - TAIL)?, confidence: CONFIDENCE })
}

struct Sampled {
    /// Logarithm of the figure.
    value: f64,
    blocks: Option<Blocks>,
}

/// In rising order, so that the draw does not depend on the order the runs came in.
fn sampled(runs: &[RunValue]) -> Vec<Sampled> {
    let mut order: Vec<&RunValue> = runs.iter().collect();
    order.sort_by(|a, b| {
        a.value.total_cmp(&b.value).then_with(|| a.series.partial_cmp(&b.series).unwrap_or(std::cmp::Ordering::Equal))
    });
    order.iter().map(|run| Sampled { value: run.value.ln(), blocks: Blocks::new(&run.series) }).collect()
}

/// Draws the relative mean of a series by moving blocks (Künsch 1989) of twice its autocorrelation time.
pub(super) struct Blocks {
    /// `sums[i]` = sum of the first i points, by the mean of all.
    sums: Vec<f64>,
    length: usize,
}

impl Blocks {
    /// `None` for a short series, or a mean not above zero.
    pub(super) fn new(series: &[f64]) -> Option<Self> {
        let center = mean(series).filter(|m| *m > 0.0 && m.is_finite() && series.len() >= SHORTEST_SERIES)?;
        let length = (2.0 * autocorrelation_time(series)).ceil() as usize;
        let mut sum = 0.0;
        let running = series.iter().map(|value| {
            sum += value / center;
            sum
        });
        Some(Self { sums: [0.0].into_iter().chain(running).collect(), length: length.min(series.len() / 2) })
    }

    /// Mean of a resampled series by the mean of the series itself.
    pub(super) fn draw(&self, random: &mut Random) -> f64 {
        let points = self.sums.len() - 1;
        let (mut sum, mut left) = (0.0, points);
        while left > 0 {
            let length = self.length.min(left);
            let first = random.below(points + 1 - length);
            sum += self.sums[first + length] - self.sums[first];
            left -= length;
        }
        // A series with negative points could draw a mean without a logarithm.
        (sum / points as f64).max(f64::MIN_POSITIVE)
    }
}

fn median_difference(a: &[f64], b: &[f64]) -> f64 {
    let mut differences: Vec<f64> = b.iter().flat_map(|y| a.iter().map(move |x| y - x)).collect();
    let middle = differences.len() / 2;
    let (low, upper, _) = differences.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if low.len() < middle || (a.len() * b.len()) % 2 == 1 {
        return upper;
    }
    let lower = low.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower + (upper - lower) / 2.0
}

/// Efron's acceleration by omitting one run at a time, each side by its own number of runs.
fn acceleration([a, b]: &[Vec<f64>; 2]) -> f64 {
    let without = |side: &[f64], i: usize| [&side[..i], &side[i + 1..]].concat();
    let from_a: Vec<f64> = (0..a.len()).map(|i| median_difference(&without(a, i), b)).collect();
    let from_b: Vec<f64> = (0..b.len()).map(|i| median_difference(a, &without(b, i))).collect();
    let (mut squares, mut cubes) = (0.0, 0.0);
    for side in [from_a, from_b] {
        let center = mean(&side).unwrap_or(0.0);
        let weight = (side.len() - 1) as f64 / side.len() as f64;
        for value in &side {
            let pull = weight * (center - value);
            squares += pull * pull;
            cubes += pull.powi(3);
        }
    }
    if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 }
}
