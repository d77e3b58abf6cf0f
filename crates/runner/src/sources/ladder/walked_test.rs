//! Ladders and searches walked to their end against systems with a known knee.

use std::collections::HashSet;
use std::time::Duration;

use proptest::prelude::*;

use super::adaptive::NextSessions;
use super::{Adaptive, Bisection, Measured, Move, Slot, Trial, schedule, within};

/// Walks the ladder on a system that rises to `knee` sessions and is flat after.
fn walk(ladder: Adaptive, knee: f64, budget: Option<u32>) -> Vec<NextSessions> {
    let (mut measured, mut walked): (Vec<Measured>, Vec<NextSessions>) = (Vec::new(), Vec::new());
    while let Some(next) = ladder.next(&measured, budget.map(|b| b - walked.len() as u32)) {
        let throughput = 1e3 * f64::from(next.sessions).min(knee);
        measured.push(Measured { sessions: next.sessions, throughput });
        walked.push(next);
        assert!(walked.len() <= ladder.most_steps() as usize, "{walked:?}");
    }
    walked
}

#[test]
fn a_ladder_doubles_past_the_knee_and_looks_closely_round_it() {
    let walked = walk(Adaptive { from: 1, to: 256, seed: 1 }, 10.0, None);
    let mut taken: Vec<u32> = walked.iter().map(|next| next.sessions).collect();
    taken[7..11].sort_unstable();
    assert_eq!(taken, [1, 2, 4, 8, 16, 32, 64, 7, 10, 14, 20, 1]);
    assert!(walked.iter().position(|next| next.drift_check) == Some(11), "{walked:?}");
}

#[test]
fn points_round_the_knee_do_not_move_it() {
    // One session is slow to wake, so the knee seems to lie past the highest step, and twice it is a doubling itself.
    let throughput = |sessions: u32| if sessions == 1 { 1e3 } else { 1e6 };
    let ladder = Adaptive { from: 1, to: 1024, seed: 1 };
    let mut measured = Vec::new();
    while let Some(next) = ladder.next(&measured, None) {
        measured.push(Measured { sessions: next.sessions, throughput: throughput(next.sessions) });
    }
    let mut taken: Vec<u32> = measured.iter().map(|m| m.sessions).collect();
    taken.sort_unstable();
    assert_eq!(taken, [1, 1, 2, 4, 6, 7, 8, 11, 16]);
}

#[test]
fn a_budget_keeps_its_last_step_for_the_drift_check() {
    let walked = walk(Adaptive { from: 1, to: 256, seed: 1 }, 10.0, Some(4));
    assert_eq!(walked.iter().map(|r| r.sessions).collect::<Vec<u32>>(), [1, 2, 4, 1]);
}

#[test]
fn a_budget_drops_repetitions_and_middles_first() {
    let slots = schedule(9, 2, Some(0), 3);
    assert_eq!(slots.len(), 19);
    let minute = |_: &Slot| Duration::from_mins(1);
    let cut = within(Duration::from_mins(10), &slots, minute);
    assert_eq!((cut.keep.len(), cut.left_out.len()), (10, 9));
    assert!(cut.left_out.iter().all(|slot| slot.pass == 1) && cut.keep.last().unwrap().drift_check);
    let points: HashSet<usize> = within(Duration::from_mins(3), &slots, minute).keep.iter().map(|s| s.point).collect();
    assert_eq!(points, HashSet::from([0, 4, 8]));
}

/// Walks a search on a system that holds up to `limit`, and in full length only up to `full`.
fn search(bisection: Bisection, limit: f64, full: f64) -> (Move, usize) {
    let mut trials: Vec<Trial> = Vec::new();
    loop {
        let next = bisection.next(&trials);
        match next {
            Move::Try(load) => trials.push(Trial { load, met: load <= limit, full_length: false }),
            Move::Confirm(load) => trials.push(Trial { load, met: load <= full, full_length: true }),
            end => return (end, trials.len()),
        }
        assert!(trials.len() < 80, "{trials:?}");
    }
}

proptest! {
    #[test]
    fn a_ladder_stays_in_its_range_and_repeats_only_the_first(
        from in 1_u32..20, span in 0_u32..600, knee in 0.5..900.0_f64, seed: u64,
    ) {
        let ladder = Adaptive { from, to: from + span, seed };
        let walked = walk(ladder, knee, None);
        prop_assert!(walked.iter().all(|r| (from..=from + span).contains(&r.sessions)));
        let different: HashSet<u32> = walked.iter().map(|r| r.sessions).collect();
        let repeated = usize::from(walked.len() > 1);
        prop_assert_eq!(different.len() + repeated, walked.len());
    }

    #[test]
    fn a_ladder_resumes_from_its_results_alone(knee in 1.0..300.0_f64, cut in 0_usize..12, seed: u64) {
        let ladder = Adaptive { from: 1, to: 256, seed };
        let whole = walk(ladder, knee, None);
        let of = |r: &NextSessions| Measured { sessions: r.sessions, throughput: 1e3 * f64::from(r.sessions).min(knee) };
        let until: Vec<Measured> = whole.iter().take(cut).map(of).collect();
        prop_assert_eq!(ladder.next(&until, None), whole.get(cut).copied());
    }

    #[test]
    fn any_throughput_ends_a_ladder(throughputs in prop::collection::vec(0.0..1e6_f64, 64)) {
        let ladder = Adaptive { from: 1, to: 1024, seed: 1 };
        let mut measured = Vec::new();
        while let Some(next) = ladder.next(&measured, None) {
            let throughput = throughputs[measured.len()];
            measured.push(Measured { sessions: next.sessions, throughput });
        }
        prop_assert!(measured.len() <= ladder.most_steps() as usize);
    }

    #[test]
    fn each_pass_takes_every_point_once_in_an_order_of_its_seed(points in 1_usize..40, passes in 1_u32..5, seed: u64) {
        let slots = schedule(points, passes, Some(0), seed);
        prop_assert_eq!(&slots, &schedule(points, passes, Some(0), seed));
        for pass in 0..passes {
            let seen: HashSet<usize> = slots.iter().filter(|s| s.pass == pass).map(|s| s.point).collect();
            prop_assert_eq!(seen.len(), points);
        }
    }

    #[test]
    fn a_budget_is_never_passed_and_loses_nothing(points in 0_usize..20, passes in 0_u32..4, budget in 0_u64..500) {
        let slots = schedule(points, passes, Some(0), 1);
        let cost = |slot: &Slot| Duration::from_secs(5 + slot.point as u64);
        let cut = within(Duration::from_secs(budget), &slots, cost);
        prop_assert!(cut.keep.iter().map(cost).sum::<Duration>() <= Duration::from_secs(budget));
        prop_assert_eq!(cut.keep.len() + cut.left_out.len(), slots.len());
    }

    #[test]
    fn a_search_finds_the_last_session_that_meets_the_objective(limit in 0_u32..1000, to in 1_u32..800) {
        let bisection = Bisection { from: 1.0, to: f64::from(to), grain: 1.0, tolerance: 0.0 };
        let (end, steps) = search(bisection, f64::from(limit), f64::from(limit));
        let expected = match limit {
            0 => Move::Missed,
            _ => Move::Found { load: f64::from(limit.min(to)), beyond: limit >= to },
        };
        prop_assert_eq!(end, expected);
        prop_assert!(steps <= 26);
    }

    #[test]
    fn a_load_that_fails_its_full_length_is_not_reported(limit in 1.0..5e4_f64, lower in 0.3..1.0_f64) {
        let bisection = Bisection { from: 10.0, to: 1e5, grain: 1.0, tolerance: 0.05 };
        match search(bisection, limit, limit * lower).0 {
            Move::Found { load, .. } => prop_assert!(load <= limit * lower),
            Move::Missed => prop_assert!(limit * lower < 10.0 * 1.2),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}
