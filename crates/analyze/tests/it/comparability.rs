//! Ladders of similar steps have a knee; ladders of steps that differ in more than their sessions have a finding
//! instead.

use mindful_analyze::analyze;
use mindful_core::record::run::Run;

use crate::made::Made;

/// Loads of a ladder that is long enough for a knee.
const LADDER: [u32; 8] = [1, 2, 4, 8, 12, 16, 24, 32];

/// A ladder with this latency of an operation on an idle system, us. Its step of `sessions` misses the cache as `miss`
/// gives. Throughput is highest at eight sessions.
fn of_latency(us: u64, miss: impl Fn(u32) -> f64) -> Run {
    let of = |sessions: u32| {
        let latency_us = us * u64::from(sessions.max(8)) / 8;
        Made { sessions, miss: miss(sessions), latency_us, ..Made::default() }.run()
    };
    let mut run = of(1);
    run.steps.clear();
    for (step, sessions) in (0..).zip(LADDER) {
        let mut record = of(sessions).steps.remove(0);
        record.head.step = step;
        record.head.point.values.insert("sessions".into(), sessions.to_string());
        run.steps.push(record);
    }
    run
}

/// The evidence that steps differ, and the model of the knee.
fn judged(run: &Run) -> (Option<String>, Option<String>) {
    let summary = analyze(run).summary;
    let found = summary.findings.iter().find(|finding| finding.code == "steps-not-alike");
    (found.map(|finding| finding.evidence.clone()), summary.knee.unwrap().model)
}

#[test]
fn a_ladder_of_alike_steps_has_a_knee() {
    let (evidence, model) = judged(&of_latency(6_400, |sessions| 0.90 + 0.0008 * f64::from(sessions)));
    assert_eq!(evidence, None);
    assert!(model.is_some());
}

#[test]
fn no_knee_is_fitted_where_few_sessions_find_more_in_the_cache() {
    let (evidence, model) = judged(&of_latency(6_400, |sessions| if sessions < 4 { 0.72 } else { 0.92 }));
    assert_eq!(model, None);
    let evidence = evidence.unwrap();
    assert!(evidence.contains("hit ratio 8.0 % with") && evidence.contains("28.0 % with"), "{evidence}");
}

#[test]
fn of_few_operations_hit_ratios_apart_by_chance_are_alike() {
    // Of 1,560 operations of a single session, and of ten times as many.
    let miss = |sessions| if sessions < 4 { 0.88 } else { 0.912 };
    assert_eq!(judged(&of_latency(6_400, miss)).0, None);
    assert!(judged(&of_latency(640, miss)).0.is_some());
}

#[test]
fn no_knee_is_fitted_where_few_sessions_visit_few_schemas() {
    let mut run = of_latency(6_400, |_| 0.95);
    for step in &mut run.steps {
        step.head.workload.as_mut().unwrap().spread_sessions = None;
    }
    let (evidence, model) = judged(&run);
    assert_eq!(model, None);
    assert_eq!(evidence.unwrap(), "32768 blocks are visited by 1 session, 131072 by 4");
}
