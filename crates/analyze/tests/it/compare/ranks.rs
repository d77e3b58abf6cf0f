//! Ranks of sides and types of machines with a known truth. The full tables come from the example `rates`.

use crate::synthetic::{Fleet, ask, differs, side};
use mindful_analyze::compare::{Ranks, RunValue, SideValues, Verdict, compare_runs, machine_spread};
use mindful_analyze::stats::random::Random;

fn fleet(random: &mut Random, machines: usize, runs: usize, between: f64) -> Vec<RunValue> {
    Fleet { machines, runs, between, within: 0.01, odd: 1.0 }.side(random, 1.0)
}

/// Half of the sides vary three times as much as the others, as volumes of a cloud do.
#[test]
fn equal_sides_get_one_rank_in_all_but_one_of_sixteen_sets() {
    let mut random = Random::new(2026, "equal sides");
    let mut told_apart = 0;
    for set in 0..1_000 {
        let count = 3 + set % 10;
        let runs = [4, 5, 8][set % 3];
        let sides: Vec<_> = (0..count).map(|at| side(&mut random, runs, 1e4, [0.01, 0.03][at % 2])).collect();
        let ranks = Ranks::from_sides(&sides, &ask(0.0)).unwrap();
        told_apart += usize::from(ranks.ranks.iter().any(|rank| *rank != [1, count as u32]));
    }
    assert!(told_apart <= 64, "{told_apart} of 1,000");
}

#[test]
fn two_sides_in_a_ranking_are_judged_as_two_sides_are() {
    let mut random = Random::new(7, "two sides");
    for set in 0..300 {
        let level = 1e4 * (1.0 + 0.02 * f64::from(set % 6));
        let sides = [side(&mut random, 5, 1e4, 0.015), side(&mut random, 5, level, 0.015)];
        let question = ask(0.03);
        let alone = compare_runs(&sides[0].runs, &sides[1].runs, &question).unwrap();
        let ranks = Ranks::from_sides(&sides, &question).unwrap();
        assert_eq!(ranks.is_better(1, 0), alone.verdict == Verdict::Faster);
        assert_eq!(ranks.is_better(0, 1), alone.verdict == Verdict::Slower);
        // A third side does not separate two sides that do not differ when compared alone.
        let three = [sides[0].clone(), sides[1].clone(), side(&mut random, 5, 2e4, 0.015)];
        let among = Ranks::from_sides(&three, &question).unwrap();
        assert!(!among.is_better(1, 0) || alone.verdict == Verdict::Faster);
    }
}

#[test]
fn a_side_between_two_that_differ_has_a_range_of_ranks() {
    let steady = |level: f64, off: f64| SideValues {
        runs: [-1.5, -0.5, 0.5, 1.5].map(|at| RunValue::from_value(level * (at * off).exp())).to_vec(),
        noise: None,
    };
    let sides = [steady(100.0, 0.004), steady(104.0, 0.004), steady(108.0, 0.004), steady(200.0, 0.004)];
    let ranks = Ranks::from_sides(&sides, &ask(0.03)).unwrap();
    assert_eq!(ranks.order, [3, 2, 1, 0]);
    assert_eq!(ranks.ranks, [[3, 4], [2, 4], [2, 3], [1, 1]]);
    let (ratio, interval, _) = ranks.ratio(0, 3).unwrap();
    let [low, high] = interval.unwrap();
    assert!((ratio - 0.5).abs() < 1e-9 && low < 0.5 && high > 0.5 && high < 0.53, "{low} {high}");
}

#[test]
fn machines_of_one_type_that_differ_make_no_two_types_differ() {
    let mut random = Random::new(8, "types");
    for (a, b) in [(3, 3), (3, 1), (5, 3)] {
        let mut told_apart = 0;
        for _ in 0..1_000 {
            let (one, other) = (fleet(&mut random, a, 4, 0.08), fleet(&mut random, b, 4, 0.08));
            told_apart += usize::from(differs(&one, &other, 0.0));
        }
        assert!(told_apart <= 64, "{a} machines against {b}: {told_apart} of 1,000");
    }
}

#[test]
fn types_that_differ_by_more_than_their_machines_are_told_apart() {
    let mut random = Random::new(9, "types apart");
    let (one, mut other) = (fleet(&mut random, 4, 3, 0.02), fleet(&mut random, 4, 3, 0.02));
    for run in &mut other {
        run.value *= 1.5;
    }
    assert_eq!(compare_runs(&one, &other, &ask(0.03)).unwrap().verdict, Verdict::Faster);
}

#[test]
fn a_machine_that_is_unlike_the_others_is_named() {
    let mut random = Random::new(10, "outlier");
    let mut runs = fleet(&mut random, 3, 4, 0.002);
    assert_eq!(machine_spread(&runs, 0.03).unwrap().outlier, None);
    runs.iter_mut().filter(|run| run.machine.as_deref() == Some("host-1")).for_each(|run| run.value *= 0.7);
    let spread = machine_spread(&runs, 0.03).unwrap();
    let outlier = spread.outlier.unwrap();
    assert!(outlier.machine == "host-1" && (outlier.by_others - 0.7).abs() < 0.02, "{outlier:?}");
    assert!(spread.between > 0.1 && spread.within.unwrap() < 0.02);
    assert_eq!(machine_spread(&fleet(&mut random, 1, 4, 0.1), 0.03), None);
}
