//! Rates of right and wrong verdicts with a known truth. The full tables come from the example `rates`.

use crate::synthetic::{Runs, are_unequal, ask, differs, values};
use mindful_analyze::compare::{NoiseFloor, Question, Verdict, compare_runs, detectable_effect};
use mindful_analyze::stats::random::Random;

const FAIR: Runs = Runs { a_side: 5, seconds: 300, within: 0.03, between: 0.015, phi: 0.0 };

fn rate(repetitions: u32, purpose: &str, mut holds: impl FnMut(&mut Random) -> bool) -> f64 {
    let mut random = Random::new(2026, purpose);
    f64::from((0..repetitions).filter(|_| holds(&mut random)).count() as u32) / f64::from(repetitions)
}

#[test]
fn equal_plans_are_called_different_in_at_most_one_of_twenty() {
    for phi in [0.0, 0.8, 0.95] {
        let setting = Runs { phi, seconds: 150, ..FAIR };
        let mut verdicts = 0;
        let alarms = rate(400, "alarms", |random| {
            let (a, b) = (setting.side(random, 1e4), setting.side(random, 1e4));
            verdicts += u32::from(differs(&a, &b, 0.03));
            are_unequal(&a, &b, &ask(0.03))
        });
        assert!(alarms <= 0.05, "phi {phi}: {alarms}");
        assert!(verdicts <= 2, "phi {phi}: {verdicts} of 400 verdicts beyond the margin");
    }
}

#[test]
fn a_detectable_difference_is_found_in_four_of_five_cases() {
    for count in [5, 10] {
        let setting = Runs { a_side: count, seconds: 10, within: 0.0, ..FAIR };
        let effect = detectable_effect(0.015, count as u32).unwrap();
        let found = rate(500, "power", |random| {
            let (a, b) = (setting.side(random, 1e4), setting.side(random, 1e4 * (1.0 + effect)));
            are_unequal(&a, &b, &ask(0.03))
        });
        assert!((found - 0.8).abs() < 0.07, "{count} runs: {found}");
    }
}

#[test]
fn the_interval_holds_the_true_ratio_at_its_confidence() {
    for count in [4, 5, 8] {
        let setting = Runs { a_side: count, seconds: 10, within: 0.0, ..FAIR };
        let held = rate(600, "coverage", |random| {
            let (a, b) = (setting.side(random, 1e4), setting.side(random, 1.1e4));
            let interval = compare_runs(&a, &b, &ask(0.03)).unwrap().interval.unwrap();
            interval.low <= 1.1 && 1.1 <= interval.high
        });
        assert!((0.94..=0.985).contains(&held), "{count} runs: {held}");
    }
}

#[test]
fn a_difference_as_large_as_the_margin_is_rarely_meaningless() {
    let setting = Runs { seconds: 10, within: 0.0, ..FAIR };
    let wrong = rate(600, "equivalence", |random| {
        let (a, b) = (setting.side(random, 1e4), setting.side(random, 1.03e4));
        compare_runs(&a, &b, &ask(0.03)).unwrap().verdict == Verdict::NoMeaningfulDifference
    });
    // The test is exact at 4.8 %; the rest is the error of 600 repetitions.
    assert!(wrong <= 0.065, "{wrong}");
}

#[test]
fn the_noise_floor_of_a_single_run_keeps_the_alarms_down() {
    for phi in [0.0, 0.8] {
        let setting = Runs { phi, seconds: 100, ..FAIR };
        let alarms = rate(150, "single", |random| {
            let noise = NoiseFloor::from_values(&values(&setting.side(random, 1e4)));
            let (a, b) = (setting.side(random, 1e4), setting.side(random, 1e4));
            are_unequal(&a[..1], &b[..1], &Question { noise, ..ask(0.03) })
        });
        assert!(alarms <= 0.06, "phi {phi}: {alarms}");
    }
}
