//! Sides with runs that did not alternate.

use mindful_analyze::analyze;
use mindful_analyze::compare::{ComparedFigure, ComparedSides, Side, Sides, Verdict};
use mindful_core::record::run::Run;

use crate::judged::has;
use crate::made::Made;

fn run(minute: u32, latency_us: u64) -> Run {
    let mut run = Made { latency_us, ..Made::default() }.run();
    run.head.id = format!("run-{minute}");
    run.head.started_at = format!("2026-11-21T01:{minute:02}:42.118Z");
    run
}

fn side(runs: impl IntoIterator<Item = (u32, u64)>) -> Side {
    let judged = |(minute, latency_us)| {
        let run = run(minute, latency_us);
        (run.clone(), analyze(&run))
    };
    runs.into_iter().map(judged).collect()
}

fn sides(baseline: Side, candidate: Side) -> Sides {
    Sides { names: ["baseline", "candidate"].map(str::to_owned), baseline, candidate, planned: false }
}

fn compared(baseline: Side, candidate: Side) -> ComparedSides {
    sides(baseline, candidate).compare(ComparedFigure::Throughput, 0.03, None).unwrap()
}

const NOISE: [u64; 5] = [0, 30, 10, 40, 20];

#[test]
fn sides_that_follow_each_other_are_reported_as_such() {
    let at = |first: u32, step: usize, us: u64| {
        side((first..).step_by(step).zip(NOISE).map(move |(minute, noise)| (minute, us + noise)))
    };
    let alternating = compared(at(0, 2, 6_400), at(1, 2, 5_000));
    assert_eq!((alternating.points[0].comparison.verdict, &alternating.order), (Verdict::Faster, &None));
    let sequential = compared(at(0, 1, 6_400), at(10, 1, 5_000));
    assert_eq!(sequential.points[0].comparison.verdict, Verdict::Faster);
    assert!(sequential.order.is_some() && sequential.points[0].doubt.is_none());
}

#[test]
fn a_drift_through_both_sides_is_no_difference_between_them() {
    let drifting = |from: u32| side((from..from + 5).map(|minute| (minute, 6_400 - 100 * u64::from(minute))));
    let sequential = compared(drifting(0), drifting(5));
    assert_eq!(sequential.points[0].comparison.verdict, Verdict::NotDecided);
    assert!(sequential.points[0].doubt.is_some());
}

#[test]
fn a_disturbed_run_of_one_side_leaves_the_difference_open() {
    let at = |first: u32, us: u64| side((first..).zip(NOISE).map(move |(minute, noise)| (minute, us + noise)));
    let mut disturbed = at(10, 5_000);
    let mut run = Made { device: 1.5, latency_us: 5_015, ..Made::default() }.run();
    (run.head.id, run.head.started_at) = ("disturbed".to_owned(), "2026-11-21T01:20:42.118Z".to_owned());
    let judged = analyze(&run);
    assert!(has(&judged, "foreign-reads"), "{judged:?}");
    disturbed.push((run, judged));
    let sequential = compared(at(0, 6_400), disturbed);
    assert_eq!(sequential.points[0].comparison.verdict, Verdict::NotDecided);
    assert!(sequential.points[0].doubt.as_ref().is_some_and(|doubt| doubt.contains("disturbed")));
}

#[test]
fn a_run_on_both_sides_is_refused_also_as_a_copy() {
    let mut copy = side([(1, 6_400)]);
    copy[0].0.head.id = "copy".to_owned();
    for candidate in [side([(1, 6_400)]), copy] {
        let sides = sides(side([(1, 6_400)]), candidate);
        let refused = sides.compare(ComparedFigure::Throughput, 0.03, None).unwrap_err();
        assert!(refused.to_string().contains("run-1"), "{refused}");
    }
}

#[test]
fn where_the_sides_were_measured_is_listed_and_refuses_nothing() {
    let (baseline, mut candidate) = (side([(1, 6_400)]), side([(2, 6_300)]));
    let run = &mut candidate[0].0;
    run.head.target = "postgres://bench@other.example/bench".to_owned();
    run.environment.insert("storage.path".to_owned(), "/mnt/other".to_owned());
    run.environment.insert("host.name".to_owned(), "other".to_owned());
    run.description.as_mut().unwrap().engine_version = "17.2".to_owned();
    let sides = sides(baseline, candidate);
    assert!(sides.differences().is_empty());
    let compared = sides.compare(ComparedFigure::Throughput, 0.03, None).unwrap();
    let listed: Vec<_> = compared.differences.iter().map(|one| one.fact.as_str()).collect();
    assert_eq!(listed, ["data directory", "host", "target", "version"]);
}
