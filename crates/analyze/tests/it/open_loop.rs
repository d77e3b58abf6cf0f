//! Runs that kept a rate, or did not: operations are due even if the previous one has not ended.

use crate::judged::{has, near};
use crate::made::{Made, workload};
use mindful_analyze::{Analysis, analyze};
use mindful_core::record::run::Run;
use mindful_core::workload::{OpKind, Rate};

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
