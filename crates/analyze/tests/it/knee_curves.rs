//! Curves with a known knee and the noise of real ladders.

use crate::synthetic::{Curve, LADDERS};
use mindful_analyze::compare::curves;
use mindful_analyze::knee::{Knee, LoadPoint, Search, find};
use mindful_analyze::stats::random::Random;
use proptest::prelude::*;

fn knee(curve: &Curve, seed: u64, resamples: usize) -> Knee {
    let ladder = curve.ladder(&mut Random::new(seed, "ladder"), 0.005);
    find(&ladder, &Search { resamples, ..Search::default() }).expect("a ladder of enough loads")
}

fn near(found: f64, truth: f64, share: f64) -> bool {
    (found / truth - 1.0).abs() <= share
}

#[test]
fn each_curve_is_recovered_within_a_tenth_and_its_model_chosen() {
    for curve in &LADDERS {
        let mut right = 0;
        for seed in 0..6 {
            let found = knee(curve, seed, 0);
            let (model, summary) = (&found.fits[0].model, &found.summary);
            right += u32::from(model.kind() == curve.kind);
            assert!(near(summary.max_per_s.unwrap(), curve.max_per_s, 0.1), "{}: {found:?}", curve.name);
            assert!(near(model.zero_load_s(), 100e-6, 0.1), "{}: {found:?}", curve.name);
            if model.kind() == curve.kind {
                assert!(near(summary.asymptote_sessions.unwrap(), curve.asymptote, 0.1), "{}: {found:?}", curve.name);
            }
        }
        assert!(right >= 5, "{}: {right} of 6", curve.name);
    }
}

#[test]
fn a_peak_is_reported_only_where_throughput_really_falls() {
    for curve in &LADDERS {
        for seed in 10..13 {
            let found = knee(curve, seed, 120);
            match (curve.peak, found.summary.peak_sessions) {
                (Some(truth), Some(peak)) => assert!(near(peak, truth, 0.1), "{}: {peak}", curve.name),
                (None, None) => {}
                other => panic!("{}: {other:?}", curve.name),
            }
        }
    }
}

#[test]
fn two_sweeps_are_compared_by_capacity_latency_knee_and_area() {
    // Equal latency alone, and the soft cap lies at 6.25 times the hard one.
    let search = Search { resamples: 120, ..Search::default() };
    let ladder = |which: usize, seed: u64| LADDERS[which].ladder(&mut Random::new(seed, "ladder"), 0.005);
    let found = curves(&ladder(0, 1), &ladder(1, 2), &search).unwrap();
    for (ratio, truth) in [(found.capacity, 6.25), (found.zero_load, 1.0), (found.asymptote.unwrap(), 6.25)] {
        let interval = ratio.interval.unwrap();
        assert!(
            near(ratio.ratio, truth, 0.05) && interval.low < truth * 1.02 && truth * 0.98 < interval.high,
            "{found:?}"
        );
    }
    let mut turned = ladder(0, 1);
    turned.reverse();
    assert_eq!(found, curves(&turned, &ladder(1, 2), &search).unwrap());
    let same = curves(&ladder(2, 3), &ladder(2, 4), &search).unwrap();
    let area = same.area.interval.unwrap();
    assert!(near(same.area.ratio, 1.0, 0.02) && area.low < 1.01 && 0.99 < area.high, "{same:?}");
    assert!(curves(&ladder(0, 1)[..5], &ladder(1, 2), &search).unwrap_err().to_string().contains("baseline"));
}

#[test]
fn too_few_loads_are_refused_with_the_missing_ones() {
    let ladder = LADDERS[0].ladder(&mut Random::new(1, "ladder"), 0.0);
    let error = find(&ladder[..6], &Search::default()).unwrap_err().to_string();
    assert!(error.contains("6 different loads") && error.contains("at least 7"), "{error}");
    assert!(find(&ladder[1..], &Search::default()).is_err());
    assert!(find(&[], &Search::default()).is_err());
}

#[test]
fn a_ladder_that_never_saturates_has_no_asymptote() {
    let rise = |n: u32| LoadPoint { sessions: n, throughput: 1e4 * f64::from(n), p99_us: None };
    let ladder: Vec<LoadPoint> = [1, 2, 3, 4, 6, 8, 12, 16].map(rise).to_vec();
    let found = find(&ladder, &Search { resamples: 0, ..Search::default() }).unwrap().summary;
    assert_eq!((found.asymptote_sessions, found.best_power_sessions, found.peak_sessions), (None, None, None));
}

fn any_ladder() -> impl Strategy<Value = Vec<LoadPoint>> {
    let throughput = prop_oneof![1e-3..1e9_f64, Just(5.0)];
    let point = (1_u32..300, throughput, prop::option::of(0.0..1e6_f64));
    let of = |(sessions, throughput, p99_us)| LoadPoint { sessions, throughput, p99_us };
    prop::collection::vec(point.prop_map(of), 0..14).prop_map(|mut points| {
        if let Some(first) = points.first_mut() {
            first.sessions = 1;
        }
        points
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_ladder_gives_numbers_or_a_reason_in_any_order(points in any_ladder(), turn in 0_usize..14) {
        let search = Search { p99_target_us: Some(1e3), resamples: 0, ..Search::default() };
        let mut turned = points.clone();
        if !turned.is_empty() {
            turned.rotate_left(turn % points.len());
        }
        match (find(&points, &search), find(&turned, &search)) {
            (Ok(knee), Ok(other)) => {
                let (knee, other) = (knee.summary, other.summary);
                let marks = [knee.asymptote_sessions, knee.best_power_sessions, knee.peak_sessions];
                prop_assert!(marks.into_iter().flatten().all(|m| m.is_finite() && m > 0.0));
                prop_assert!(near(knee.max_per_s.unwrap(), other.max_per_s.unwrap(), 1e-9));
            }
            (Err(_), Err(_)) => {}
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn the_unit_of_throughput_moves_no_knee(which in 0_usize..4, power in -6..7_i32) {
        let search = Search { resamples: 0, ..Search::default() };
        let ladder = LADDERS[which].ladder(&mut Random::new(5, "ladder"), 0.01);
        let scaled: Vec<LoadPoint> =
            ladder.iter().map(|p| LoadPoint { throughput: p.throughput * 10.0_f64.powi(power), ..*p }).collect();
        let (one, other) = (find(&ladder, &search).unwrap().summary, find(&scaled, &search).unwrap().summary);
        prop_assert_eq!(one.model, other.model);
        prop_assert!(near(one.asymptote_sessions.unwrap(), other.asymptote_sessions.unwrap(), 1e-4));
    }
}
