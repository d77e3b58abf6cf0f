//! Properties of a comparison that hold for all figures.

use mindful_analyze::compare::{NoiseFloor, Question, RunValue, Verdict, compare_runs, detectable_effect, runs_needed};
use proptest::prelude::*;

fn ask() -> Question {
    Question { resamples: 200, ..Question::default() }
}

fn of(values: &[f64]) -> Vec<RunValue> {
    values.iter().map(|v| RunValue::from_value(*v)).collect()
}

fn figures(most: usize) -> impl Strategy<Value = Vec<f64>> {
    let spread = prop::collection::vec(1e-3..1e9_f64, 1..most);
    let near = prop::collection::vec(900.0..1100.0_f64, 1..most);
    let equal = (1..most, 1e-3..1e9_f64).prop_map(|(n, v)| vec![v; n]);
    prop_oneof![spread, near, equal]
}

fn with_series() -> impl Strategy<Value = Vec<RunValue>> {
    let run = (1.0..1e6_f64, prop::collection::vec(-1.0..1e6_f64, 0..40));
    prop::collection::vec(run.prop_map(|(value, series)| RunValue { value, series, machine: None }), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_order_of_runs_changes_nothing(a in with_series(), b in with_series(), turn in 0_usize..5) {
        let (mut c, mut d) = (a.clone(), b.clone());
        c.rotate_left(turn % a.len());
        d.reverse();
        prop_assert_eq!(compare_runs(&a, &b, &ask()).unwrap(), compare_runs(&c, &d, &ask()).unwrap());
    }

    #[test]
    fn the_unit_of_the_figure_changes_nothing(a in figures(7), b in figures(7), power in -8..9_i32) {
        // By powers of two, without rounding.
        let unit = 2.0_f64.powi(power);
        let scaled = |side: &[f64]| of(&side.iter().map(|v| v * unit).collect::<Vec<f64>>());
        let (one, other) = (compare_runs(&of(&a), &of(&b), &ask()).unwrap(), compare_runs(&scaled(&a), &scaled(&b), &ask()).unwrap());
        prop_assert!((one.ratio / other.ratio - 1.0).abs() < 1e-9);
        prop_assert!((one.cliffs_delta - other.cliffs_delta).abs() < 1e-12);
        if a.len() == 1 || b.len() == 1 {
            prop_assert_eq!(one.verdict, other.verdict);
        }
    }

    #[test]
    fn swapping_the_sides_turns_the_answer_round(a in figures(7), b in figures(7)) {
        let question = Question { resamples: 0, ..ask() };
        let (there, back) = (compare_runs(&of(&a), &of(&b), &question).unwrap(), compare_runs(&of(&b), &of(&a), &question).unwrap());
        prop_assert!((there.ratio * back.ratio - 1.0).abs() < 1e-9);
        prop_assert!((there.cliffs_delta + back.cliffs_delta).abs() < 1e-12);
        let turned = match there.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            same => same,
        };
        prop_assert_eq!(turned, back.verdict);
    }

    #[test]
    fn every_figure_of_an_answer_is_a_number(a in with_series(), b in with_series(), noisy: bool) {
        let noise = if noisy { NoiseFloor::from_values(&[99.0, 101.0, 100.0]) } else { None };
        let compared = compare_runs(&a, &b, &Question { noise, ..ask() }).unwrap();
        prop_assert!(compared.ratio.is_finite() && compared.cliffs_delta.abs() <= 1.0);
        for interval in [compared.interval, compared.bootstrap].into_iter().flatten() {
            prop_assert!(interval.low <= interval.high && interval.low >= 0.0, "{:?}", interval);
            prop_assert!((0.0..=1.0).contains(&interval.confidence));
        }
        prop_assert!(compared.p_beyond.is_none_or(|p| (0.0..=1.0).contains(&p)));
        prop_assert_eq!(compared.runs_needed.is_some() && compared.verdict != Verdict::NotDecided, false);
    }

    #[test]
    fn more_runs_find_smaller_differences(variation in 1e-4..0.2_f64, count in 4_u32..60) {
        let (few, many) = (detectable_effect(variation, count).unwrap(), detectable_effect(variation, 4 * count).unwrap());
        prop_assert!(many < few);
        let needed = runs_needed(variation, few.ln_1p()).unwrap();
        prop_assert!(needed <= count, "{needed} for what {count} find");
    }
}

#[test]
fn three_runs_a_side_never_say_faster() {
    let compared = compare_runs(&of(&[100.0, 101.0, 102.0]), &of(&[200.0, 201.0, 202.0]), &ask()).unwrap();
    assert_eq!(compared.verdict, Verdict::NotDecided);
    assert!((compared.interval.unwrap().confidence - 0.9).abs() < 1e-9);
    assert_eq!(compared.runs_needed, Some(4));
}

#[test]
fn one_run_a_side_without_a_noise_floor_decides_nothing() {
    let series = |level: f64| (0..60).map(|i| level + f64::from(i % 7)).collect::<Vec<f64>>();
    let run = |level: f64| vec![RunValue { value: level + 3.0, series: series(level), machine: None }];
    let compared = compare_runs(&run(100.0), &run(200.0), &ask()).unwrap();
    assert_eq!(compared.verdict, Verdict::NotDecided);
    assert!(compared.interval.is_some());
    let noise = NoiseFloor::from_values(&[100.0, 101.0, 99.5, 100.2, 100.9]);
    assert_eq!(compare_runs(&run(100.0), &run(200.0), &Question { noise, ..ask() }).unwrap().verdict, Verdict::Faster);
    let latency = Question { noise, higher_is_faster: false, ..ask() };
    assert_eq!(compare_runs(&run(100.0), &run(200.0), &latency).unwrap().verdict, Verdict::Slower);
}

#[test]
fn a_figure_without_a_ratio_is_refused_with_its_side() {
    for bad in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let error = compare_runs(&of(&[1.0]), &of(&[2.0, bad]), &ask()).unwrap_err();
        assert!(error.to_string().contains("candidate"), "{error}");
    }
    assert!(compare_runs(&[], &of(&[2.0]), &ask()).is_err());
}
