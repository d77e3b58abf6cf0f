//! Properties of a slice: its boundaries, its report, its end.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport, Tally};
use mindful_core::plan::units::Share;
use mindful_core::workload::draws::Draws;
use mindful_core::workload::{OpKind, Workload};

use crate::dataset::assert_one_line;
use crate::fixture::{Fixture, Opened, SLICE_US, side_by_side, slice_of};

/// Consecutive slices that must be on time, and the number of attempts: a busy host makes any of them late.
const IN_A_ROW: u32 = 3;
const TRIED: u32 = 60;

/// Work does not begin before the slice. It ends with the operation that is under way at the end of the slice.
pub fn a_slice_keeps_its_begin_and_its_end(fixture: &Fixture) {
    for looping in fixture.loops() {
        let workload = Workload { loop_site: looping, ..fixture.workload() };
        let opened = fixture.loaded();
        let mut session = opened.session(&workload, 0, 1);
        let mut orders = opened.orders();
        let (mut first_op, mut kept, mut last) = (0, 0, String::new());
        for _ in 0..TRIED {
            let order = orders.next(first_op, None);
            let report = session.run_slice(&order).unwrap();
            assert_eq!(report.index, order.index);
            assert!(report.begin_us >= order.begin_us, "began {} us early", order.begin_us - report.begin_us);
            assert!(report.end_us >= order.end_us - SLICE_US / 10, "ended {} us early", order.end_us - report.end_us);
            let longest_us = report.ops.iter().map(|op| op.latency.max_ns / 1000).max().unwrap_or(0) as i64;
            let (late_us, ops) = (report.end_us - order.end_us, report.total_ops());
            last = format!("{ops} operations, ended {late_us} us late, longest operation {longest_us} us");
            kept = if ops > 0 && late_us <= 10 * longest_us + SLICE_US { kept + 1 } else { 0 };
            if kept == IN_A_ROW {
                break;
            }
            first_op += ops;
        }
        assert_eq!(
            kept, IN_A_ROW,
            "of {TRIED} slices of {SLICE_US} us no {IN_A_ROW} in a row were kept, the last: {last}"
        );
    }
}

/// Histograms, sums, maxima, times and choices of a report are consistent.
pub fn a_report_is_consistent(fixture: &Fixture) {
    for looping in fixture.loops() {
        let update_pct = if fixture.can().updates { percent(20) } else { Share::NONE };
        let workload = Workload { loop_site: looping, update_pct, ..fixture.workload() };
        let opened = fixture.loaded();
        // One that ends by its work, and one by its time.
        for report in opened.work_ops(&workload, 1, Some(500)).into_iter().chain(opened.work(&workload, 1)) {
            assert_consistent(&report);
        }
    }
}

/// One session works on one thing at a time: its latencies fit between begin and end.
fn assert_consistent(report: &SliceReport) {
    let wall_ns = (report.end_us - report.begin_us).max(0).unsigned_abs() * 1_000;
    let mut busy_ns = 0;
    for kind in OpKind::ALL {
        let op = report.op(kind);
        let latency = &op.latency;
        assert_eq!(latency.count(), op.ops, "{}: latencies and operations", kind.name());
        assert!(latency.buckets.iter().is_sorted_by(|before, after| before.0 < after.0), "buckets do not rise");
        assert!(op.response.is_none(), "a closed loop has no response times");
        let Some((highest, _)) = latency.buckets.iter().last() else { continue };
        let near = |a: u64, b: u64| a.abs_diff(b) <= a.max(b) / 50 + 2_000;
        assert!(near(highest, latency.max_ns), "{}: max {} ns, last bucket {highest}", kind.name(), latency.max_ns);
        let by_bucket: u64 = latency.buckets.iter().map(|(ns, count)| ns * count).sum();
        assert!(
            latency.sum_ns.abs_diff(by_bucket) <= by_bucket / 20 + 1_000 * op.ops,
            "{}: sum {} ns, by buckets {by_bucket}",
            kind.name(),
            latency.sum_ns
        );
        busy_ns += latency.sum_ns;
    }
    assert!(busy_ns <= wall_ns + wall_ns / 50 + 1_000_000, "{busy_ns} ns of work in a slice of {wall_ns} ns");
    let tallied: u64 = report.tally.0.iter().map(|(_, count)| count).sum();
    assert!(report.tally.is_empty() || tallied == report.total_ops(), "{tallied} of {} tallied", report.total_ops());
}

/// A fixed amount of work is done to the operation, and the slice ends then.
pub fn max_ops_are_done_and_no_more(fixture: &Fixture) {
    for looping in fixture.loops() {
        let workload = Workload { loop_site: looping, ..fixture.workload() };
        for report in fixture.loaded().work_ops(&workload, 3, Some(37)) {
            assert_eq!(report.total_ops(), 37);
        }
    }
}

/// Cut into slices or not, the same operations are done.
pub fn operations_continue_from_slice_to_slice(fixture: &Fixture) {
    for looping in fixture.loops() {
        let update_pct = if fixture.can().updates { percent(37) } else { Share::NONE };
        let workload = Workload { loop_site: looping, update_pct, hot_schema: percent(30), ..fixture.workload() };
        let opened = fixture.loaded();
        let whole = Work::from_reports(&opened.work_ops(&workload, 1, Some(120)));
        let parts = Work::from_reports(&opened.work_ops(&workload, 6, Some(20)));
        assert_eq!(whole, parts);
    }
}

/// After an interrupt a running slice ends, with or without an error, and the target still works.
pub fn an_interrupt_ends_a_slice_or_is_harmless(fixture: &Fixture) {
    let workload = fixture.workload();
    let opened = fixture.loaded();
    let target = &*opened.target;
    target.prepare(&workload, 1).unwrap();
    let (ready, wait) = mpsc::channel();
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let placement = Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 };
            let mut session = target.session(&workload, placement).unwrap();
            let order = slice_of(target, 1_500_000);
            ready.send(()).unwrap();
            session.run_slice(&order)
        });
        wait.recv().unwrap();
        thread::sleep(Duration::from_millis(200));
        target.interrupt();
        match worker.join().unwrap_or_else(|_| panic!("the session's thread panicked")) {
            Ok(report) => assert!(report.total_ops() > 0),
            Err(error) => assert_one_line(&error),
        }
    });
    assert!(opened.work(&workload, 1)[0].total_ops() > 0, "nothing works after an interrupt");
}

/// Operations of each of the parallel sessions in a slice, without a time limit.
const SIDE_BY_SIDE_OPS: u64 = 50;

/// Sessions on several threads, reading and writing, all complete their work.
pub fn sessions_work_in_parallel(fixture: &Fixture) {
    let update_pct = if fixture.can().updates { percent(20) } else { Share::NONE };
    let workload = Workload { update_pct, ..fixture.workload() };
    let opened = fixture.loaded();
    let target = &*opened.target;
    let begin_us = target.clock_us().unwrap() + 1_500_000;
    let worked = side_by_side(target, &workload, 3, |session| {
        let mut reports: Vec<SliceReport> = Vec::new();
        for index in 0..2 {
            let begin_us = begin_us + i64::from(index) * SLICE_US;
            let (end_us, max_ops) = (begin_us + 60_000_000, Some(SIDE_BY_SIDE_OPS));
            let first_op = reports.iter().map(SliceReport::total_ops).sum();
            reports.push(session.run_slice(&SliceOrder { index, begin_us, end_us, first_op, max_ops })?);
        }
        Ok(reports)
    });
    for report in worked.into_iter().flat_map(|reports| reports.unwrap()) {
        assert_eq!(report.total_ops(), SIDE_BY_SIDE_OPS);
        let is_known = report.writer_wait_us.is_some() || update_pct.is_none();
        assert!(is_known || fixture.can().concurrent_writers, "one writer at a time, and its waiting is not reported");
    }
}

/// Checks that a workload is carried out exactly as core draws it (kinds, blocks and choices), in every loop that supports it; returns their number.
pub fn carried_as_drawn(fixture: &Fixture, opened: &Opened, wanted: &Workload, ops: u64) -> usize {
    let mut carried = 0;
    for looping in fixture.loops() {
        let workload = Workload { loop_site: looping, ..wanted.clone() };
        if opened.target.prepare(&workload, 1).is_ok() {
            let reports = opened.work_ops(&workload, 2, Some(ops));
            let done = Work::from_reports(&reports);
            assert_eq!(done, Work::drawn(&workload, done.ops.iter().sum()), "not what core draws for {workload:?}");
            carried += 1;
        }
    }
    carried
}

pub fn percent(percent: u32) -> Share {
    Share::from_hundredths(percent * 100).unwrap_or_else(|| panic!("{percent} %"))
}

/// Operations and choices of session 0 on schema 1.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Operations by kind.
    pub ops: [u64; 3],
    /// Blocks visited by selects and updates.
    pub blocks: [u64; 2],
    /// Operations by the choices that fell.
    pub tally: BTreeMap<u8, u64>,
}

impl Work {
    pub(crate) fn drawn(workload: &Workload, ops: u64) -> Self {
        let draws = Draws::new(workload, 0, 1);
        let mut work = Self::default();
        for op in (0..ops).map(|index| draws.op(index)) {
            work.ops[op.kind as usize] += 1;
            if op.kind != OpKind::Scan {
                work.blocks[op.kind as usize] += op.blocks;
            }
            *work.tally.entry(op.cell()).or_default() += 1;
        }
        work
    }

    pub(crate) fn from_reports(reports: &[SliceReport]) -> Self {
        let mut work = Self::default();
        for report in reports {
            for kind in OpKind::ALL {
                work.ops[kind as usize] += report.op(kind).ops;
            }
            for kind in [OpKind::Select, OpKind::Update] {
                work.blocks[kind as usize] += report.op(kind).blocks;
            }
            let Tally(cells) = &report.tally;
            for (cell, count) in cells {
                *work.tally.entry(*cell).or_default() += count;
            }
        }
        work
    }
}
