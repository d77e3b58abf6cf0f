//! Shifts of latency percentiles: which part of the distribution moved, not whether it differs.

use mindful_core::record::latency::Recorder;
pub use mindful_core::result::comparison::PercentileShift;

use super::answer::Basis;
use super::shift::Shift;
use crate::stats::distribution::normal_quantile;
use crate::stats::interval::{CONFIDENCE, Interval, TAIL};
use crate::stats::moment::median;

pub(crate) const PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 99.9];

/// A percentile is known to the bucket of the histogram that it fell into: so much lies between the ends of one, as
/// logarithms (two significant digits: 1/128 at most).
const BUCKET: f64 = 1.0 / 128.0;

#[derive(Debug)]
pub(super) struct RunLatency<'a> {
    pub histogram: &'a Recorder,
    /// Autocorrelation time of the run's seconds, in seconds: so many operations count as one. At least 1.
    pub tau: f64,
}

/// The shift of each percentile that all runs of both sides report.
///
/// With two or more runs a side, the interval is the exact one of Mann and Whitney on the runs' percentiles. With a
/// single run it comes from the order statistics of both histograms and excludes the variation between runs. Either is
/// widened by the bucket of the histogram at both ends, because all runs of a side may fall into one bucket.
pub(crate) fn percentile_shifts(baseline: &[RunLatency], candidate: &[RunLatency]) -> Vec<PercentileShift> {
    PERCENTILES.iter().filter_map(|percentile| shift(*percentile, baseline, candidate)).collect()
}

fn shift(percentile: f64, baseline: &[RunLatency], candidate: &[RunLatency]) -> Option<PercentileShift> {
    let share = percentile / 100.0;
    let logarithms = |side: &[RunLatency]| -> Option<Vec<f64>> {
        let mut all: Vec<f64> = side.iter().map(|run| at(run, share)).collect::<Option<_>>()?;
        all.sort_by(f64::total_cmp);
        (!all.is_empty()).then_some(all)
    };
    let (a, b) = (logarithms(baseline)?, logarithms(candidate)?);
    let shift = Shift::new(&a, &b);
    let alone = a.len().min(b.len()) == 1;
    let interval = if alone { within(share, baseline, candidate) } else { Some(shift.interval(CONFIDENCE)) };
    let interval = interval.map(|i| Interval { low: i.low - BUCKET, high: i.high + BUCKET, ..i }.map(f64::exp));
    let median_us = |side: &[f64]| median(side).map(|ns| ns.exp() / 1e3);
    Some(PercentileShift {
        percentile,
        baseline_us: median_us(&a)?,
        candidate_us: median_us(&b)?,
        ratio: shift.estimate().exp(),
        interval,
        basis: if alone { Basis::WithinRun } else { Basis::Runs },
    })
}

/// Logarithm of the quantile in ns.
fn at(run: &RunLatency, share: f64) -> Option<f64> {
    run.histogram.quantile_ns(share).map(|ns| (ns.max(1) as f64).ln())
}

/// Logarithm of the ratio of two single runs by order statistics: ranks `n p -+ z sqrt(n p (1 - p))` of `n / tau`
/// independent operations (measurement rule M4). The two intervals are joined as independent errors of the logarithm.
fn within(share: f64, baseline: &[RunLatency], candidate: &[RunLatency]) -> Option<Interval> {
    let ([a, ..], [b, ..]) = (baseline, candidate) else { return None };
    let (low_a, here_a, high_a) = ends(share, a)?;
    let (low_b, here_b, high_b) = ends(share, b)?;
    let ratio = here_b - here_a;
    let down = (here_b - low_b).hypot(high_a - here_a);
    let up = (high_b - here_b).hypot(here_a - low_a);
    Some(Interval { low: ratio - down, high: ratio + up, confidence: CONFIDENCE })
}

/// Logarithms of the lower end, the quantile and the upper end.
fn ends(share: f64, run: &RunLatency) -> Option<(f64, f64, f64)> {
    let worth = run.histogram.count() as f64 / run.tau.max(1.0);
    let reach = normal_quantile(1.0 - TAIL) * (share * (1.0 - share) / worth).sqrt();
    Some((at(run, (share - reach).max(0.0))?, at(run, share)?, at(run, share + reach)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Random;

    /// Lognormal latencies of `ops` operations of about `median_us`, with the slowest `tail` in 1,000 taking `longer` times
    /// as long.
    fn run(random: &mut Random, ops: u32, median_us: f64, tail: u32, longer: f64) -> Recorder {
        let mut recorder = Recorder::new();
        for i in 0..ops {
            let slow = if i % 1_000 < tail { longer } else { 1.0 };
            recorder.record((median_us * 1e3 * slow * (0.1 * random.normal()).exp()) as u64);
        }
        recorder
    }

    fn side(random: &mut Random, runs: usize, median_us: f64, tail: u32, longer: f64) -> Vec<Recorder> {
        let mut one = || {
            let of_run = median_us * (0.01 * random.normal()).exp();
            run(random, 20_000, of_run, tail, longer)
        };
        (0..runs).map(|_| one()).collect()
    }

    fn latencies(side: &[Recorder]) -> Vec<RunLatency<'_>> {
        side.iter().map(|histogram| RunLatency { histogram, tau: 1.0 }).collect()
    }

    fn reported(a: &[Recorder], b: &[Recorder]) -> Vec<PercentileShift> {
        percentile_shifts(&latencies(a), &latencies(b))
    }

    fn holds(shift: &PercentileShift, ratio: f64) -> bool {
        shift.interval.is_some_and(|i| i.low <= ratio && ratio <= i.high)
    }

    #[test]
    fn a_slower_candidate_is_so_at_every_percentile() {
        for runs in [1, 5] {
            let mut random = Random::new(4, "whole");
            let (a, b) = (side(&mut random, runs, 200.0, 0, 1.0), side(&mut random, runs, 250.0, 0, 1.0));
            let shifts = reported(&a, &b);
            assert_eq!(shifts.len(), 4);
            for shift in shifts {
                assert!((shift.ratio - 1.25).abs() < 0.05, "{shift:?}");
                assert!(shift.interval.is_some_and(|i| i.low > 1.15 && i.high < 1.35), "{shift:?}");
            }
        }
    }

    #[test]
    fn a_tail_that_grew_moves_the_high_percentiles_alone() {
        let mut random = Random::new(5, "tail");
        let (a, b) = (side(&mut random, 5, 200.0, 30, 2.0), side(&mut random, 5, 200.0, 30, 6.0));
        let shifts = reported(&a, &b);
        for shift in &shifts[..2] {
            assert!((shift.ratio - 1.0).abs() < 0.02, "{shift:?}");
        }
        for shift in &shifts[2..] {
            assert!((shift.ratio - 3.0).abs() < 0.2 && !holds(shift, 1.0), "{shift:?}");
        }
    }

    #[test]
    fn the_interval_of_single_runs_grows_with_their_autocorrelation() {
        let one = run(&mut Random::new(6, "single"), 20_000, 200.0, 0, 1.0);
        let width = |tau: f64| {
            let side = [RunLatency { histogram: &one, tau }];
            let shift = percentile_shifts(&side, &side)[1];
            assert_eq!(shift.basis, Basis::WithinRun);
            shift.interval.map(|i| i.high / i.low).unwrap()
        };
        assert!(width(20.0) > width(1.0) * 1.01, "{} {}", width(1.0), width(20.0));
    }

    #[test]
    fn intervals_of_equal_sides_hold_one_as_often_as_they_say() {
        // Runs that differ by far more than a bucket of the histogram, and by far less.
        for (runs, between) in [(5, 0.01), (5, 0.001), (4, 0.003), (1, 0.0)] {
            // Enough for the 95th percentile; of single runs, whose intervals come from their own ranks, for all.
            let (ops, known) = if runs == 1 { (20_000, 4) } else { (800, 2) };
            let mut random = Random::new(9, "equal sides");
            let (mut held, mut all) = (vec![0; known], 0);
            for draw in 0..300 {
                // Where the median lies in its bucket is different each time.
                let median_us = 200.0 * (1.0 + f64::from(draw) / 3_000.0);
                let mut side = || -> Vec<Recorder> {
                    let mut one = || {
                        let of_run = median_us * (between * random.normal()).exp();
                        run(&mut random, ops, of_run, 0, 1.0)
                    };
                    (0..runs).map(|_| one()).collect()
                };
                let (a, b) = (side(), side());
                all += 1;
                let shifts = reported(&a, &b);
                assert_eq!(shifts.len(), known);
                for (count, shift) in held.iter_mut().zip(shifts) {
                    *count += u32::from(holds(&shift, 1.0));
                }
            }
            for held in held {
                assert!(held * 100 >= all * 92, "{runs} runs a side, {between} between them: {held} of {all}");
            }
        }
    }

    #[test]
    fn an_unknown_percentile_is_left_out() {
        let mut few = Recorder::new();
        few.record_many(1_000_000, 500);
        let side = [few];
        let known: Vec<f64> = reported(&side, &side).iter().map(|s| s.percentile).collect();
        assert_eq!(known, [50.0, 95.0]);
    }
}
