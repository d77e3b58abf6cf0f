//! Ramps, steps, cycles and noise with a known truth. The full tables come from the example `rates`.

use crate::synthetic::Signal;
use mindful_analyze::stats::random::Random;
use mindful_analyze::steady::settling::Looks;
use mindful_analyze::steady::{
    Assessment, Criteria, Movement, Reason, Signals, assess, changes, cover, drift, movement, mser5, period_s,
    precision, shape, trend,
};
use proptest::prelude::*;

fn judge(series: &[f64]) -> Assessment {
    assess(&Signals { throughput: series, ..Signals::default() }, &Criteria::SNIA)
}

/// The number of series of a signal for which `holds` is true.
fn count(signal: Signal, phi: f64, of: u32, holds: impl Fn(&[f64]) -> bool) -> u32 {
    let mut random = Random::new(11, "steady");
    (0..of).filter(|_| holds(&signal.series(&mut random, phi))).count() as u32
}

fn reasons(is: fn(&Reason) -> bool) -> impl Fn(&[f64]) -> bool {
    move |series| judge(series).reasons.first().is_some_and(is)
}

#[test]
fn noise_alone_is_steady() {
    assert!(count(Signal::Level, 0.0, 30, |s| judge(s).steady) >= 28);
    assert!(count(Signal::Level, 0.8, 30, |s| judge(s).steady) >= 26);
}

#[test]
fn a_ramp_is_reported_as_drift() {
    assert!(count(Signal::SmallRamp, 0.0, 30, |s| drift(s).is_some_and(|d| d.is_drift())) >= 29);
    assert!(count(Signal::Ramp, 0.0, 15, |s| !judge(s).steady) >= 14);
    assert!(count(Signal::Ramp, 0.0, 15, reasons(|r| matches!(r, Reason::Drift { .. }))) >= 12);
}

#[test]
fn a_step_is_reported_with_its_instant_and_both_levels() {
    let is_found = |s: &[f64]| match judge(s).reasons.first() {
        Some(Reason::Change(c)) => c.at_s.abs_diff(200) <= 5 && (c.after / c.before - 0.9).abs() < 0.03,
        _ => false,
    };
    assert!(count(Signal::Step, 0.0, 15, is_found) >= 14);
}

#[test]
fn of_several_jumps_the_largest_is_reported_first() {
    let level = |t: usize| if t < 80 { 1.0 } else { 1.03 } * if t < 160 { 1.0 } else { 0.7 };
    let noise = Signal::Level.series_of(&mut Random::new(3, "jumps"), 0.0, 240, 0.005);
    let judged = judge(&noise.iter().enumerate().map(|(t, v)| v * level(t)).collect::<Vec<f64>>());
    let at: Vec<usize> = judged.reasons.iter().map(|r| if let Reason::Change(c) = r { c.at_s } else { 0 }).collect();
    assert!(at.len() == 2 && at[0].abs_diff(160) <= 1 && at[1].abs_diff(80) <= 3, "{at:?}");
}

#[test]
fn a_cycle_is_reported_with_its_period() {
    let is_found = |s: &[f64]| match judge(s).reasons.first() {
        Some(Reason::Cycle { period_s, .. }) => period_s.abs_diff(60) <= 5,
        _ => false,
    };
    assert!(count(Signal::Cycle, 0.0, 30, is_found) >= 28);
    assert!(count(Signal::Cycle, 0.8, 30, is_found) >= 25);
}

#[test]
fn a_warm_up_is_cut_away_and_the_rest_is_steady() {
    let is_found = |s: &[f64]| {
        let judged = judge(s);
        judged.steady && (30..150).contains(&judged.warmup_s)
    };
    assert!(count(Signal::WarmUp, 0.0, 30, is_found) >= 27);
}

#[test]
fn a_target_that_does_nothing_is_not_steady() {
    assert_eq!(judge(&[0.0; 120]).reasons, [Reason::TooShort { have_s: 0, need_s: 60 }]);
    assert_eq!(judge(&[]).reasons, [Reason::TooShort { have_s: 0, need_s: 60 }]);
}

#[test]
fn a_filling_cache_is_reported_before_the_drift_it_causes() {
    let hits: Vec<f64> = (0..300).map(|t| 0.5 + 0.001 * f64::from(t)).collect();
    let series: Vec<f64> = hits.iter().map(|h| 1e4 * h).collect();
    let judged = assess(&Signals { throughput: &series, hit_ratio: &hits, ..Signals::default() }, &Criteria::STRICT);
    assert!(matches!(judged.reasons[0], Reason::CacheWarming { .. }), "{:?}", judged.reasons);
}

#[test]
fn writes_are_measured_over_whole_checkpoint_cycles() {
    let series = Signal::Level.series(&mut Random::new(1, "writes"), 0.0);
    let ends = [20.0, 110.0, 200.0, 290.0];
    let with = |ends| Signals { throughput: &series, checkpoints_s: Some(ends), ..Signals::default() };
    let judged = assess(&with(&ends), &Criteria::SNIA);
    assert!(judged.steady, "{:?}", judged.reasons);
    assert_eq!((judged.warmup_s, judged.end_s), (20, 290));
    let early = assess(&with(&ends[..2]), &Criteria::SNIA);
    assert_eq!(early.reasons, [Reason::Checkpoints { whole: 1 }]);
    assert_eq!(cover(&[], 0.0, 300.0).whole, 0);
}

#[test]
fn a_series_is_precise_when_long_enough_for_its_noise() {
    let mut random = Random::new(5, "precision");
    assert!(judge(&Signal::Level.series(&mut random, 0.0)).precise);
    assert!(!judge(&Signal::Level.series(&mut random, 0.95)).precise);
}

#[test]
fn the_interval_of_the_mean_holds_it() {
    for (phi, least) in [(0.0, 37), (0.8, 34)] {
        let held = count(Signal::Level, phi, 40, |s| {
            let mean = s.iter().sum::<f64>() / s.len() as f64;
            precision(s).is_some_and(|half| (mean / 1e4 - 1.0).abs() <= half)
        });
        assert!(held >= least, "phi {phi}: {held} of 40");
    }
}

/// The outcome of `--steady`: when it ends a step, or its finding for a step that reached its cap of 300 s.
enum Outcome {
    Ended(usize),
    NotSteady,
    NotPrecise,
}

fn outcome(series: &[f64]) -> Outcome {
    let judge = |seen| assess(&Signals { throughput: &series[..seen], ..Signals::default() }, &Criteria::STRICT);
    let mut looks = Looks::default();
    let end = (1..=series.len()).find(|seen| looks.due(*seen) && looks.push(*seen, &judge(*seen)));
    match end {
        Some(end) => Outcome::Ended(end),
        None if judge(series.len()).steady => Outcome::NotPrecise,
        None => Outcome::NotSteady,
    }
}

/// Outcomes of `of` series of a signal, always the same ones.
fn outcomes(signal: Signal, phi: f64, deviation: f64, of: usize) -> Vec<Outcome> {
    let mut random = Random::new(19, "steady");
    (0..of).map(|_| outcome(&signal.series_of(&mut random, phi, 300, deviation))).collect()
}

fn ended(outcomes: &[Outcome]) -> usize {
    outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Ended(_))).count()
}

#[test]
fn interim_checks_end_level_steps_but_not_moving_ones() {
    let seen = |signal| outcomes(signal, 0.0, 0.03, 20);
    let (level, warm_up) = (ended(&seen(Signal::Level)), ended(&seen(Signal::WarmUp)));
    assert!(level >= 19 && warm_up >= 17, "level {level}, warm-up {warm_up} of 20");
    let cycle = ended(&seen(Signal::Cycle));
    // A step that jumps at 200 s is steady if it ends before.
    let over_the_jump = seen(Signal::Step).iter().filter(|o| matches!(o, Outcome::Ended(end) if *end > 215)).count();
    assert!(cycle <= 1 && over_the_jump <= 1, "cycle {cycle}, over a jump {over_the_jump} of 20");
}

#[test]
fn a_slow_ramp_does_not_end_a_step() {
    for (deviation, phi, most) in [(0.03, 0.0, 2), (0.03, 0.8, 2), (0.03, 0.95, 3), (0.015, 0.0, 2), (0.015, 0.8, 4)] {
        let seen = outcomes(Signal::Ramp, phi, deviation, 20);
        assert!(ended(&seen) <= most, "noise {deviation}, phi {phi}: {} of 20 ended as steady", ended(&seen));
    }
}

#[test]
fn a_level_step_is_not_called_unsteady_at_the_cap() {
    for phi in [0.0, 0.8, 0.95] {
        let seen = outcomes(Signal::Level, phi, 0.015, 20);
        let alarms = seen.iter().filter(|outcome| matches!(outcome, Outcome::NotSteady)).count();
        assert!(alarms <= 2 && ended(&seen) >= 8, "phi {phi}: {alarms} alarms, {} of 20 ended", ended(&seen));
    }
}

#[test]
fn a_check_that_passes_by_chance_does_not_end_a_step() {
    let (mut looks, good) = (Looks::default(), judge(&[1e4; 120]));
    let bad = judge(&Signal::Cycle.series(&mut Random::new(1, "looks"), 0.0));
    assert!(good.steady && good.precise && !bad.steady);
    assert!(!looks.due(59) && looks.due(60));
    assert!(!looks.push(60, &good) && !looks.due(69) && looks.due(70));
    assert!(!looks.push(70, &bad) && !looks.push(80, &good), "two in a row are needed");
    assert!(looks.push(90, &good));
}

#[test]
fn noise_alone_is_no_movement_of_a_short_window() {
    let mut random = Random::new(23, "movement");
    for (phi, most) in [(0.0, 0), (0.8, 20), (0.95, 24)] {
        let windows: Vec<_> = (0..200).map(|_| Signal::Level.series_of(&mut random, phi, 30, 0.03)).collect();
        let moved: Vec<Movement> = windows.iter().filter_map(|s| movement(s)).filter(Movement::shows).collect();
        let misled = moved.iter().filter(|moved| moved.misleads()).count();
        assert!(moved.len() <= most && misled <= 2, "phi {phi}: {} of 200 reported, {misled} suspect", moved.len());
    }
}

#[test]
fn the_error_of_a_trend_holds_the_truth() {
    for (phi, least) in [(0.0, 54), (0.8, 50), (0.95, 45)] {
        for (signal, truth) in [(Signal::Level, 0.0), (Signal::Ramp, 0.15)] {
            let held = count(signal, phi, 60, |s| {
                trend(s).is_some_and(|t| (t.change - truth).abs() <= t.bound() - t.change.abs())
            });
            assert!(held >= least, "{signal:?}, phi {phi}: {held} of 60");
        }
    }
}

fn any_series() -> impl Strategy<Value = Vec<f64>> {
    let wild = prop::collection::vec(0.0..1e9_f64, 0..150);
    let equal = (0_usize..150, 0.0..1e6_f64).prop_map(|(n, v)| vec![v; n]);
    let two = (0_usize..150, 1_usize..40).prop_map(|(n, k)| (0..n).map(|i| (i / k % 2) as f64).collect());
    prop_oneof![wild, equal, two]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_series_gets_an_answer(series in any_series(), ends in prop::collection::vec(0.0..150.0_f64, 0..6)) {
        let signals = Signals {
            throughput: &series, p99_us: &series, hit_ratio: &series, checkpoints_s: Some(&ends),
        };
        let judged = assess(&signals, &Criteria::STRICT);
        prop_assert!(judged.warmup_s <= judged.end_s && judged.end_s <= series.len());
        prop_assert_eq!(judged.steady, judged.reasons.is_empty());
        prop_assert!(precision(&series).is_none_or(|half| half >= 0.0));
        if let Some(s) = shape(&series) {
            prop_assert!(s.range.is_finite() && s.excursion.is_finite());
        }
        prop_assert!(period_s(&series).is_none_or(|period_s| period_s > 0));
    }

    #[test]
    fn the_unit_of_a_series_changes_no_judgement(which in 0_usize..7, power in -10..11_i32, seed: u64) {
        let series = Signal::ALL[which].series(&mut Random::new(seed, "unit"), 0.5);
        // By powers of two, without rounding.
        let scaled: Vec<f64> = series.iter().map(|v| v * 2.0_f64.powi(power)).collect();
        prop_assert_eq!(mser5(&series), mser5(&scaled));
        let places = |s: &[f64]| changes(s).iter().map(|c| c.at_s).collect::<Vec<usize>>();
        prop_assert_eq!(places(&series), places(&scaled));
        prop_assert_eq!(judge(&series).steady, judge(&scaled).steady);
    }
}
