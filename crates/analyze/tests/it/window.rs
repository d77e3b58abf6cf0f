//! The measured window: where it begins and ends.

use mindful_analyze::analyze;
use mindful_core::result::Validity;
use mindful_core::workload::OpKind;

use crate::judged::{codes, evidence, has, near};
use crate::made::Made;

#[test]
fn the_warm_up_never_enters_the_figures() {
    let clean = Made::default().run();
    let mut run = clean.clone();
    for (_, slice) in run.steps[0].unmerged.iter_mut().filter(|(_, slice)| slice.index < 2) {
        slice.op_mut(OpKind::Select).latency.sum_ns *= 50;
        slice.op_mut(OpKind::Select).ops *= 100;
    }
    assert_eq!(analyze(&run).summary.steps, analyze(&clean).summary.steps);
}

#[test]
fn rates_hold_only_between_the_last_start_and_the_first_stop() {
    let mut run = Made::default().run();
    // Session 3 joins a second and a half into the window, session 1 leaves two seconds before its end.
    let begin_us = run.steps[0].boundaries_us[2];
    run.steps[0]
        .unmerged
        .retain(|(session, slice)| (*session != 3 || slice.index >= 3) && (*session != 1 || slice.index < 10));
    for (_, late) in run.steps[0].unmerged.iter_mut().filter(|(session, slice)| *session == 3 && slice.index == 3) {
        late.begin_us += 500_000;
        late.op_mut(OpKind::Select).ops /= 2;
        late.op_mut(OpKind::Select).blocks /= 2;
    }
    let analysis = analyze(&run);
    let window = analysis.steps[0].window.unwrap();
    assert!((window.begin_us - begin_us - 1_500_000).abs() < 1_000, "{window:?}");
    assert!((window.end_us - begin_us - 8_000_000).abs() < 1_000, "{window:?}");
    near(analysis.summary.steps[0].blocks_visited_per_s, Made::default().blocks_per_s(), 0.01);
    assert_eq!(analysis.summary.validity, Validity::Invalid);
    assert!(has(&analysis, "short-window") && has(&analysis, "late-start"));
}

#[test]
fn a_session_that_never_worked_leaves_no_window() {
    let mut run = Made::default().run();
    run.steps[0].unmerged.retain(|(session, _)| *session != 2);
    let analysis = analyze(&run);
    assert_eq!((analysis.summary.validity, codes(&analysis)), (Validity::Invalid, vec!["no-window"]));
    let step = &analysis.summary.steps[0];
    assert_eq!((step.duration_s, step.blocks_visited_per_s, step.hit_ratio), (None, None, None));
}

#[test]
fn work_between_boundaries_has_rates_without_counters() {
    let made = Made { warmup: 0, ..Made::default() };
    let mut run = made.run();
    let step = &mut run.steps[0];
    (step.head.ops, step.head.duration_s) = (Some(made.ops_per_slice()), None);
    step.unmerged.retain(|(_, slice)| slice.index == 0);
    // Fixed work, done within the first second; the host woke one session late.
    for (session, slice) in &mut step.unmerged {
        slice.begin_us += if *session == 3 { 30_000 } else { 0 };
        slice.end_us -= 200_000;
    }
    let analysis = analyze(&run);
    assert!(!has(&analysis, "no-window"), "{:?}", codes(&analysis));
    let step = &analysis.summary.steps[0];
    assert!((step.duration_s.unwrap() - 0.77).abs() < 0.001, "{:?}", step.duration_s);
    near(step.blocks_visited_per_s, (made.ops_per_slice() * 64) as f64 * (3.0 / 0.8 + 1.0 / 0.77), 0.01);
    assert_eq!((step.logical_reads_per_s, step.cpu.db_cores), (None, None));
}

#[test]
fn a_session_that_got_its_cpu_late_makes_no_window_short() {
    for (lasted_us, short) in [(910_000, false), (890_000, true)] {
        let mut run = Made::default().run();
        let step = &mut run.steps[0];
        (step.head.duration_s, step.head.warmup_slices) = (Some(1.0), 0);
        step.unmerged.retain(|(_, slice)| slice.index == 0);
        for (_, slice) in &mut step.unmerged {
            slice.end_us = slice.begin_us + lasted_us;
        }
        assert_eq!(has(&analyze(&run), "short-window"), short, "{lasted_us}");
    }
}

/// A thread on a busy host reads counters late, after the work has ended: the lower rate is not a page cache.
#[test]
fn a_reading_that_came_late_is_not_held_against_the_work() {
    for (late_us, known) in [(200_000, true), (1_000_000, false)] {
        let mut run = Made::default().run();
        let of_host = run.steps[0].series.iter_mut().find(|series| series.source == "host").unwrap();
        of_host.readings.last_mut().unwrap().at_us += late_us;
        let analysis = analyze(&run);
        assert_eq!(analysis.summary.steps[0].page_cache_share.is_some(), known, "{late_us}");
        assert!(!has(&analysis, "page-cache"), "{late_us}");
    }
}

#[test]
fn fixed_work_is_measured_until_the_first_stop() {
    let mut run = Made::default().run();
    let step = &mut run.steps[0];
    (step.head.duration_s, step.head.ops, step.head.warmup_slices) = (None, Some(1_000), 0);
    step.unmerged.retain(|(_, slice)| slice.index == 0);
    for (session, slice) in &mut step.unmerged {
        slice.end_us = slice.begin_us + 400_000 + i64::from(*session) * 100_000;
    }
    let analysis = analyze(&run);
    near(analysis.summary.steps[0].duration_s, 0.4, 0.01);
    let ops = f64::from(156) * (1.0 + 4.0 / 5.0 + 4.0 / 6.0 + 4.0 / 7.0);
    near(analysis.summary.steps[0].ops.select.as_ref().map(|op| op.count as f64), ops, 0.01);
    assert!(!has(&analysis, "short-window"));
}

#[test]
fn a_step_in_throughput_is_reported_in_a_long_window() {
    let long = Made { seconds: 90, latency_us: 10_000, ..Made::default() };
    assert!(!has(&analyze(&long.run()), "not-steady"));
    let mut run = long.run();
    for (_, slice) in run.steps[0].unmerged.iter_mut().filter(|(_, slice)| slice.index >= 50) {
        let op = slice.op_mut(OpKind::Select);
        (op.ops, op.blocks) = (op.ops * 7 / 10, op.blocks * 7 / 10);
    }
    let analysis = analyze(&run);
    assert!(evidence(&analysis, "not-steady").unwrap().contains("at 48 s"));
}

#[test]
fn seconds_add_up_to_the_window() {
    let run = Made::default().run();
    let step = &run.steps[0];
    let window = mindful_analyze::figures::window::window(step).unwrap();
    let seconds = mindful_analyze::figures::seconds::Seconds::from_step(step, &window);
    assert_eq!((seconds.blocks_per_s.len(), seconds.hit_ratio.len()), (10, 10));
    near(Some(seconds.blocks_per_s.iter().sum()), Made::default().blocks_per_s() * 10.0, 1e-9);
    near(Some(seconds.hit_ratio[3]), 0.02, 1e-6);
    assert!(seconds.p99_us.is_empty());
}
