//! Rates that move or swing within the window, and sessions with unequal work.

use mindful_analyze::analyze;
use mindful_core::contract::metric::Counter;
use mindful_core::contract::slice::LongOp;
use mindful_core::record::run::Run;
use mindful_core::result::Severity;
use mindful_core::workload::OpKind;

use crate::judged::{codes, found, has, verdict};
use crate::made::{Made, add};

/// A run with the share of work in each slice, by session and slice.
fn run(seconds: u32, share: impl Fn(u32, u32) -> f64) -> Run {
    let made = Made { sessions: 8, seconds, warmup: 0, work_unit: 1, latency_us: 400, ..Made::default() };
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

/// The share of work by the number of a slice.
type Course = fn(u32) -> f64;

#[test]
fn a_level_rate_has_no_finding_about_its_course() {
    let level = run(10, |session, slice| 1.0 - 0.02 * f64::from((session + 3 * slice) % 5));
    for code in ["rate-swings", "rate-moved", "stall", "unfair", "cliff"] {
        assert_eq!(found(&level, code), None, "{code}");
    }
    let courses: [(u32, Course); 3] = [
        (30, |slice| 1.0 - 0.4 * (f64::from(slice) - 14.5).abs() / 30.0),
        (30, |slice| if slice % 3 == 0 { 0.8 } else { 1.0 }),
        (10, |slice| if slice == 4 { 0.5 } else { 1.0 }),
    ];
    for (at, (seconds, course)) in courses.into_iter().enumerate() {
        assert_eq!(found(&run(seconds, |_, slice| course(slice)), "rate-moved"), None, "course {at}");
    }
}

#[test]
fn a_rate_that_moves_is_suspect_if_its_mean_misleads() {
    let courses: [(u32, Course, Severity, &str, &str); 9] = [
        (30, |slice| 0.9 + 0.1 * f64::from(slice) / 30.0, Severity::Info, "+7", ""),
        // From the first third to the last, two thirds of the window are between: 0.3 * 2 / 3 of the mean.
        (30, |slice| 0.7 + 0.3 * f64::from(slice) / 30.0, Severity::Warning, "+26", ""),
        (30, |slice| 1.0 - 0.3 * f64::from(slice) / 30.0, Severity::Warning, "-20", ""),
        (30, |slice| if slice < 6 { 0.5 } else { 1.0 }, Severity::Warning, "the first 6 slices of", "--warmup"),
        (30, |slice| if slice < 24 { 1.0 } else { 0.5 }, Severity::Warning, "the last 6 slices of", "--duration"),
        // A cache that fills.
        (10, |slice| 0.05 + 0.095 * f64::from(slice), Severity::Warning, "", ""),
        (10, |slice| if slice < 4 { 0.1 + 0.1 * f64::from(slice) } else { 1.0 }, Severity::Warning, "", ""),
        // A slow first or last tenth.
        (10, |slice| if slice == 0 { 0.66 } else { 1.0 }, Severity::Warning, "", ""),
        (10, |slice| if slice == 9 { 0.66 } else { 1.0 }, Severity::Warning, "", ""),
    ];
    for (at, (seconds, course, severity, evidence, next)) in courses.into_iter().enumerate() {
        let finding = found(&run(seconds, |_, slice| course(slice)), "rate-moved").unwrap();
        assert_eq!(finding.severity, severity, "course {at}: {finding:?}");
        assert!(finding.evidence.contains(evidence) && finding.text.contains(next), "course {at}: {finding:?}");
    }
}

#[test]
fn a_rate_that_alternates_or_meets_a_periodic_limit_swings() {
    let courses: [(Course, &str); 3] = [
        (|slice| if slice % 2 == 0 { 0.26 } else { 1.0 }, "period of 2.0 s"),
        (|slice| if slice % 5 == 2 { 0.3 } else { 1.0 }, ""),
        (|slice| 1.0 - 0.4 * f64::from(slice % 4) / 1.5, ""),
    ];
    for (course, evidence) in courses {
        let swings = found(&run(10, |_, slice| course(slice)), "rate-swings").unwrap();
        assert!(swings.severity == Severity::Warning && swings.evidence.contains(evidence), "{swings:?}");
    }
}

#[test]
fn what_others_did_comes_before_its_effect_on_the_rate() {
    let mut run = run(10, |_, slice| 0.05 + 0.095 * f64::from(slice));
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
    let mut run = run(10, |_, _| 1.0);
    add(&mut run, "pg_stat", &[(Counter::MaintenanceRuns, 1.0)]);
    let analysis = analyze(&run);
    assert!(has(&analysis, "autovacuum"));
    let next = &verdict(&analysis).next;
    assert!(next.contains("server") && !next.contains("host"), "{next}");
}

#[test]
fn sessions_that_stop_together_again_and_again_are_stalled() {
    let mut stopped = run(10, |_, _| 0.5);
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
    for (share, severity) in [(0.33, Severity::Warning), (0.7, Severity::Info)] {
        let unfair = found(&run(10, |session, _| if session == 5 { share } else { 1.0 }), "unfair").unwrap();
        assert!(unfair.severity == severity && unfair.evidence.contains("session 6"), "{unfair:?}");
    }
}
