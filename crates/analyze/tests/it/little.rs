//! Time that sessions spend outside of operations, by Little's law.

use mindful_analyze::analyze;
use mindful_analyze::judgement::verdict::Limit;
use mindful_core::result::Validity;
use mindful_core::workload::{LoopSite, OpKind};

use crate::judged::{codes, has, limit};
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
