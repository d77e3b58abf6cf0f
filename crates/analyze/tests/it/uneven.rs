use mindful_analyze::analyze;
use mindful_core::contract::metric::Counter;
use mindful_core::contract::slice::LongOp;
use mindful_core::record::run::Run;
use mindful_core::result::Severity;
use mindful_core::workload::OpKind;

use crate::judged::{codes, found, has, verdict};
use crate::made::{Made, add};

const SECONDS: u32 = 10;

/// A run with the share of work in each slice, by session and slice.
fn run(share: impl Fn(u32, u32) -> f64) -> Run {
    let made = Made { sessions: 8, seconds: SECONDS, warmup: 0, work_unit: 1, latency_us: 400, ..Made::default() };
    let mut run = made.run();
    for (session, slice) in &mut run.steps[0].unmerged {
        let share = share(*session, slice.index);
        for op in &mut slice.ops {
            op.ops = (op.ops as f64 * share) as u64;
            op.blocks = (op.blocks as f64 * share) as u64;
        }
    }
    run
}

fn warns(run: &Run, code: &str) -> bool {
    found(run, code).is_some_and(|finding| finding.severity == Severity::Warning)
}

#[test]
fn a_level_rate_has_no_finding_about_its_course() {
    let level = run(|session, slice| 1.0 - 0.02 * f64::from((session + 3 * slice) % 5));
    for code in ["rate-swings", "rate-moved", "stall", "unfair", "cliff"] {
        assert_eq!(found(&level, code), None, "{code}");
    }
}

#[test]
fn a_rate_that_alternates_or_meets_a_periodic_limit_swings() {
    let alternating = run(|_, slice| if slice % 2 == 0 { 0.26 } else { 1.0 });
    let swings = found(&alternating, "rate-swings").unwrap();
    assert!(swings.severity == Severity::Warning && swings.evidence.contains("period of 2.0 s"), "{swings:?}");
    assert!(warns(&run(|_, slice| if slice % 5 == 2 { 0.3 } else { 1.0 }), "rate-swings"));
    assert!(warns(&run(|_, slice| 1.0 - 0.4 * f64::from(slice % 4) / 1.5), "rate-swings"));
}

#[test]
fn a_cache_that_fills_in_the_window_moves_the_rate() {
    assert!(warns(&run(|_, slice| 0.05 + 0.095 * f64::from(slice)), "rate-moved"));
    assert!(warns(&run(|_, slice| if slice < 4 { 0.1 + 0.1 * f64::from(slice) } else { 1.0 }), "rate-moved"));
}

#[test]
fn what_others_did_comes_before_its_effect_on_the_rate() {
    let mut run = run(|_, slice| 0.05 + 0.095 * f64::from(slice));
    let stolen = [("irq", 0.0), ("softirq", 0.0), ("kernel_threads_cpu", 0.0), ("host_cpu_steal", 5e5)];
    add(&mut run, "stat", &stolen);
    let analysis = analyze(&run);
    let place = |code: &str| codes(&analysis).iter().position(|found| *found == code).unwrap();
    let (cause, effect) = (place("cpu-steal"), place("rate-moved"));
    assert!(cause < effect, "{:?}", analysis.summary.findings);
    assert!(!analysis.summary.findings[effect].text.contains("--warmup"), "{:?}", analysis.summary.findings);
    let next = &verdict(&analysis).next;
    assert!(next.starts_with("measure again"), "{next}");
}

#[test]
fn the_next_step_after_maintenance_is_about_the_server() {
    let mut run = run(|_, _| 1.0);
    add(&mut run, "pg_stat", &[(Counter::MaintenanceRuns, 1.0)]);
    let analysis = analyze(&run);
    assert!(has(&analysis, "autovacuum"));
    let next = &verdict(&analysis).next;
    assert!(next.contains("server") && !next.contains("host"), "{next}");
}

#[test]
fn a_slow_first_or_last_tenth_is_reported() {
    for slow in [0, SECONDS - 1] {
        let run = run(|_, slice| if slice == slow { 0.66 } else { 1.0 });
        assert!(warns(&run, "rate-moved"), "slice {slow}");
    }
    assert_eq!(found(&run(|_, slice| if slice == 4 { 0.5 } else { 1.0 }), "rate-moved"), None);
}

#[test]
fn sessions_that_stop_together_again_and_again_are_stalled() {
    let mut stopped = run(|_, _| 0.5);
    let step = &mut stopped.steps[0];
    let begin_us = step.boundaries_us[0];
    for (session, slice) in &mut step.unmerged {
        for stop in 0..12 {
            let at_us = begin_us + 400_000 + stop * 800_000 + i64::from(*session) * 100;
            if (slice.begin_us..slice.end_us).contains(&at_us) {
                slice.long.push(LongOp { kind: OpKind::Select, begin_us: at_us, us: 400_000 });
            }
        }
    }
    let stall = found(&stopped, "stall").unwrap();
    assert!(stall.evidence.contains("12 times"), "{stall:?}");
    // One such stop is a hiccup.
    for (_, slice) in &mut stopped.steps[0].unmerged {
        slice.long.retain(|op| op.begin_us < begin_us + 800_000);
    }
    assert_eq!(found(&stopped, "stall"), None);
}

#[test]
fn one_session_at_a_third_of_the_work_is_named_and_suspect() {
    let unfair = found(&run(|session, _| if session == 5 { 0.33 } else { 1.0 }), "unfair").unwrap();
    assert!(unfair.severity == Severity::Warning && unfair.evidence.contains("session 6"), "{unfair:?}");
    let unfair = found(&run(|session, _| if session == 5 { 0.7 } else { 1.0 }), "unfair").unwrap();
    assert_eq!(unfair.severity, Severity::Info);
}
