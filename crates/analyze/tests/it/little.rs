//! Time that sessions spend outside of operations, by Little's law, and runs that kept a rate, or did not.

use mindful_analyze::judgement::verdict::Limit;
use mindful_analyze::{Analysis, analyze};
use mindful_core::record::run::Run;
use mindful_core::result::Validity;
use mindful_core::workload::{LoopSite, OpKind, Rate};

use crate::judged::{codes, has, limit, near};
use crate::made::{Made, workload};

#[test]
fn a_client_that_stalls_breaks_littles_law() {
    for looping in [LoopSite::Server, LoopSite::Client] {
        let mut run = Made::default().run();
        workload(&mut run).loop_site = looping;
        for (_, slice) in &mut run.steps[0].unmerged {
            // The slice is over, and the next one does not begin.
            slice.end_us -= 100_000;
            slice.op_mut(OpKind::Select).latency.sum_ns = slice.op(OpKind::Select).latency.sum_ns * 9 / 10;
        }
        let analysis = analyze(&run);
        assert!(has(&analysis, "little"), "{looping:?}");
        assert_eq!(limit(&analysis), Limit::Client);
    }
}

#[test]
fn the_cost_of_a_loop_in_the_database_is_no_stall_of_the_client() {
    let mut run = Made::default().run();
    for (_, slice) in &mut run.steps[0].unmerged {
        slice.op_mut(OpKind::Select).latency.sum_ns = slice.op(OpKind::Select).latency.sum_ns * 9 / 10;
    }
    let analysis = analyze(&run);
    assert_eq!((analysis.summary.validity, codes(&analysis)), (Validity::Valid, vec!["loop-overhead"]));
    workload(&mut run).loop_site = LoopSite::Client;
    assert!(has(&analyze(&run), "little"));
}

#[test]
fn sessions_that_drain_at_the_end_are_no_stall_of_the_client() {
    for looping in [LoopSite::Server, LoopSite::Client] {
        let mut run = Made { warmup: 2, ..Made::default() }.run();
        let step = &mut run.steps[0];
        step.head.workload.as_mut().unwrap().loop_site = looping;
        let ends = step.boundaries_us.clone();
        // Operations continue for 0.8 s over each boundary but the last, as they do with hundreds of sessions.
        for (_, slice) in &mut step.unmerged {
            let [first, last] = [slice.index == 0, slice.index as usize + 2 == ends.len()];
            slice.begin_us += if first { 0 } else { 800_000 };
            slice.end_us += if last { 0 } else { 800_000 };
            let whole_ns = slice.op(OpKind::Select).latency.sum_ns;
            slice.op_mut(OpKind::Select).latency.sum_ns = if last { whole_ns / 5 } else { whole_ns };
        }
        assert!(!has(&analyze(&run), "little"), "{looping:?}");
    }
}

#[test]
fn operations_that_share_ios_say_nothing_of_littles_law() {
    let mut run = Made::default().run();
    run.description.as_mut().unwrap().facts.insert("iodepth".to_owned(), "4".to_owned());
    run.description.as_mut().unwrap().files = true;
    // One operation of one block at a time, where four are expected.
    workload(&mut run).work_unit = 1;
    assert!(has(&analyze(&run), "little"));
    // Four I/Os may well be of one operation of 64 blocks.
    workload(&mut run).work_unit = 64;
    assert!(!has(&analyze(&run), "little"));
}

#[test]
fn thinking_is_no_breach_of_littles_law() {
    let mut run = Made::default().run();
    for (_, slice) in &mut run.steps[0].unmerged {
        slice.op_mut(OpKind::Select).latency.sum_ns /= 2;
        slice.think_us = 500_000;
    }
    assert!(!has(&analyze(&run), "little"));
    // Unreported pauses are unexplained time.
    for (_, slice) in &mut run.steps[0].unmerged {
        slice.think_us = 400_000;
        slice.begin_us += 100_000;
    }
    assert!(has(&analyze(&run), "little"));
}

fn open_loop(backlog: impl Fn(u32) -> u64) -> Analysis {
    analyze(&open_run(&Made { latency_us: 1_000, ..Made::default() }, backlog))
}

/// A session serves an operation at a time, back to back; `backlog` gives the operations left at the end of slices.
fn open_run(made: &Made, backlog: impl Fn(u32) -> u64) -> Run {
    let mut run = made.run();
    let per_s = (made.ops_per_slice() * u64::from(made.sessions)) as f64;
    workload(&mut run).rate = Some(Rate { per_s, even: false });
    for (_, slice) in &mut run.steps[0].unmerged {
        slice.backlog = Some(backlog(slice.index));
        let op = slice.op_mut(OpKind::Select);
        op.response = Some(op.latency.clone());
        op.latency.sum_ns /= 3;
    }
    run
}

#[test]
fn a_short_window_is_judged_by_its_backlog() {
    let second = Made { sessions: 1, warmup: 0, seconds: 1, latency_us: 25_000, ..Made::default() };
    let judged = |backlog: u64, late_us: i64| {
        let mut run = open_run(&second, |_| backlog);
        run.steps[0].unmerged[0].1.begin_us += late_us;
        analyze(&run).steps[0].pace.unwrap().sustained()
    };
    // 40 operations; one more was due as the second ended, or eight never began.
    for late_us in [0, 30_000] {
        assert!(judged(1, late_us), "begun {late_us} us late");
        assert!(!judged(8, late_us), "begun {late_us} us late");
    }
}

#[test]
fn a_rate_that_queues_up_has_no_percentiles() {
    let kept = open_loop(|_| 1);
    assert!(!has(&kept, "rate-not-sustained") && !has(&kept, "little"));
    near(kept.summary.steps[0].ops.select.as_ref().unwrap().p99_us, 1_100.0, 0.02);
    let queued = open_loop(|slice| u64::from(slice) * 30);
    assert!(has(&queued, "rate-not-sustained"));
    near(queued.steps[0].pace.map(|pace| pace.offered_per_s), 4_120.0, 0.01);
    near(queued.steps[0].pace.map(|pace| pace.slope_per_s), 120.0, 0.01);
    let select = queued.summary.steps[0].ops.select.clone().unwrap();
    assert!(select.p50_us.is_none() && select.p99_us.is_none() && select.mean_us.is_some());
}
