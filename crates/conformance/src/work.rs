//! Properties of the work itself: exactly the operations of the workload.

use std::thread;
use std::time::Duration;

use mindful_core::contract::slice::SliceReport;
use mindful_core::plan::units::Share;
use mindful_core::workload::{Commit, Compatibility, HotSpot, OpKind, Rate, Redo, Skew, ThinkTime, Workload};

use crate::fixture::{Fixture, SLICE_US};
use crate::slices::{Work, carried_as_drawn, percent};

/// Any work unit is visited exactly, including the whole scale.
pub fn a_read_visits_exactly_its_work_unit(fixture: &Fixture) {
    let opened = fixture.loaded();
    for work_unit in [1, 2, 64, 255, fixture.dataset.blocks_per_schema] {
        let workload = Workload { work_unit, ..fixture.workload() };
        assert_eq!(carried_as_drawn(fixture, &opened, &workload, 10), fixture.loops().len(), "work unit {work_unit}");
    }
}

/// The mix is as drawn, for any share and any division into slices.
pub fn the_update_mix_is_kept_over_slices(fixture: &Fixture) {
    let opened = fixture.loaded();
    for share in [1, 33, 50, 100] {
        let workload = Workload { update_pct: percent(share), ..fixture.workload() };
        assert_eq!(carried_as_drawn(fixture, &opened, &workload, 53), fixture.loops().len(), "{share} % updates");
    }
}

/// An update visits `update_work_unit` blocks, changing little or all of them.
pub fn updates_visit_their_own_work_unit_light_and_heavy(fixture: &Fixture) {
    let opened = fixture.loaded();
    for redo in [Redo::Light, Redo::Heavy] {
        let workload =
            Workload { update_pct: percent(50), update_work_unit: 3, work_unit: 16, redo, ..fixture.workload() };
        assert_eq!(carried_as_drawn(fixture, &opened, &workload, 20), fixture.loops().len(), "{redo:?}");
    }
}

pub fn scans_read_the_scan_table(fixture: &Fixture) {
    let opened = fixture.loaded();
    for looping in fixture.loops() {
        let workload = Workload { scan_pct: percent(40), loop_site: looping, ..fixture.workload() };
        let reports = opened.work_ops(&workload, 2, Some(25));
        let (mut scans, mut blocks) = (0, 0);
        for report in &reports {
            scans += report.op(OpKind::Scan).ops;
            blocks += report.op(OpKind::Scan).blocks;
        }
        assert_eq!(scans, Work::drawn(&workload, 50).ops[OpKind::Scan as usize]);
        assert_eq!(blocks, scans * fixture.dataset.scan_blocks);
    }
}

/// Fewer commits than operations, or commits without waiting: done, or refused by an engine without the capability.
pub fn fewer_commits_are_kept_or_refused(fixture: &Fixture) {
    let opened = fixture.loaded();
    let update_pct = percent(50);
    for (commit, commit_wait) in [(Commit::Every(7), true), (Commit::Slice, true), (Commit::Each, false)] {
        let workload = Workload { update_pct, commit, commit_wait, ..fixture.workload() };
        let carried = carried_as_drawn(fixture, &opened, &workload, 30);
        if fixture.can().commit_modes {
            assert!(carried > 0, "{commit:?}, waiting {commit_wait}: no loop takes it");
        } else {
            assert_eq!(carried, 0, "{commit:?}, waiting {commit_wait}: taken against the capabilities");
        }
    }
}

/// Hot operations, single and combined, are as frequent as core draws them; so are skewed keys.
pub fn hot_spot_and_hot_schema_keep_their_share(fixture: &Fixture) {
    let opened = fixture.loaded();
    let hot_spot = Some(HotSpot { blocks: 50, offset: 100, share: percent(25) });
    let update_pct = if fixture.can().updates { percent(20) } else { Share::NONE };
    let moving = Skew::HotSet { fraction: percent(10), probability: percent(80), moves_every: 9 };
    for skew in [Skew::Uniform, Skew::Zipf(0.8), moving] {
        let workload = Workload { hot_spot, hot_schema: percent(30), update_pct, skew, ..fixture.workload() };
        assert!(carried_as_drawn(fixture, &opened, &workload, 60) > 0, "{skew:?}: no loop takes it");
    }
}

/// Pauses are made and reported, and fit into the time of the work.
pub fn thinking_is_reported(fixture: &Fixture) {
    let opened = fixture.loaded();
    let think = ThinkTime {
        share: percent(50),
        min: Duration::from_millis(2),
        max: Duration::from_millis(4),
        exponential: false,
    };
    for looping in fixture.loops() {
        let workload = Workload { think_time: Some(think), loop_site: looping, ..fixture.workload() };
        for report in opened.work_ops(&workload, 2, Some(60)) {
            let wall_us = (report.end_us - report.begin_us).max(0).unsigned_abs();
            let pauses: u64 = report.tally.0.iter().filter(|(cell, _)| cell & 16 != 0).map(|(_, count)| count).sum();
            assert!(pauses > 0 && report.think_us > 0, "{pauses} pauses, {} us", report.think_us);
            assert!(report.think_us <= wall_us + wall_us / 20, "{} us of {wall_us} us thought", report.think_us);
            // Each pause but the last is at least the shortest one long.
            assert!(report.think_us >= (pauses - 1) * 2_000, "{pauses} pauses in {} us", report.think_us);
        }
    }
}

/// A pause that outlasts its slice is counted completely and once, however late the next slice is ordered.
pub fn a_pause_continues_over_the_boundaries_of_slices(fixture: &Fixture) {
    let opened = fixture.loaded();
    let pause = Duration::from_micros(SLICE_US.unsigned_abs() * 7 / 4);
    let think = ThinkTime { share: Share::ALL, min: pause, max: pause, exponential: false };
    for looping in fixture.loops() {
        let workload = Workload { think_time: Some(think), loop_site: looping, ..fixture.workload() };
        let mut session = opened.session(&workload, 0, 1);
        let mut orders = opened.orders();
        let mut reports: Vec<SliceReport> = Vec::new();
        for _ in 0..8 {
            let order = orders.next(reports.iter().map(SliceReport::total_ops).sum(), None);
            reports.push(session.run_slice(&order).unwrap());
            thread::sleep(pause / 7);
        }
        let ops: u64 = reports.iter().map(SliceReport::total_ops).sum();
        let thought_us: u64 = reports.iter().map(|report| report.think_us).sum();
        let span_us = reports[7].end_us - reports[0].begin_us;
        assert!(ops > 1 && thought_us <= span_us.unsigned_abs(), "{thought_us} us of thinking in {span_us} us");
        // Each operation but the last was followed by a whole pause.
        let least_us = (ops - 1) * pause.as_micros() as u64;
        assert!(thought_us >= least_us, "{thought_us} us of {least_us} us thought after {ops} operations, {looping:?}");
    }
}

/// An open loop begins due operations and reports response times and the backlog, or is refused.
pub fn a_rate_is_kept_or_refused(fixture: &Fixture) {
    let rate = Some(Rate { per_s: 200.0, even: true });
    let opened = fixture.loaded();
    let mut carried = 0;
    for looping in fixture.loops() {
        let workload = Workload { rate, loop_site: looping, ..fixture.workload() };
        if opened.target.prepare(&workload, 1).is_err() {
            continue;
        }
        carried += 1;
        let reports = opened.work(&workload, 4);
        let ops: u64 = reports.iter().map(SliceReport::total_ops).sum();
        let backlog = reports.last().and_then(|report| report.backlog).unwrap_or_else(|| panic!("no backlog reported"));
        let due = 4 * SLICE_US.unsigned_abs() * 200 / 1_000_000;
        assert!((ops + backlog).abs_diff(due) <= 2, "{ops} done and {backlog} left of {due} due");
        for report in &reports {
            let op = report.op(OpKind::Select);
            let response = op.response.as_ref().unwrap_or_else(|| panic!("no response times"));
            assert_eq!(response.count(), op.ops);
            assert!(response.sum_ns >= op.latency.sum_ns, "responses shorter than service");
        }
    }
    assert_eq!(carried > 0, fixture.can().rate, "the capabilities say otherwise");
}

/// One session visits all schemas, as core draws them, in each loop of the engine.
pub fn a_session_of_few_visits_several_schemas(fixture: &Fixture) {
    let opened = fixture.loaded();
    let update_pct = if fixture.can().updates { percent(25) } else { Share::NONE };
    let spread = Workload { spread_sessions: Some(1), update_pct, ..fixture.workload() };
    assert!(spread.schemas > 1, "a fixture of one schema shows nothing");
    for workload in [Workload { hot_schema: percent(30), ..spread.clone() }, spread] {
        assert_eq!(carried_as_drawn(fixture, &opened, &workload, 150), fixture.loops().len(), "{workload:?}");
    }
}

/// The same seed produces the same operations in every session; another seed produces others.
pub fn the_same_seed_draws_the_same_operations(fixture: &Fixture) {
    let opened = fixture.loaded();
    let hot_schema = percent(50);
    let work = |seed| {
        let workload = Workload { seed, hot_schema, ..fixture.workload() };
        Work::from_reports(&opened.work_ops(&workload, 2, Some(100)))
    };
    assert_eq!(work(5), work(5));
    assert_ne!(work(5).tally, work(6).tally);
}

/// `--like` applies the older kits' blocks and mix, in some loop of each engine.
pub fn older_arithmetic_is_kept(fixture: &Fixture) {
    let opened = fixture.loaded();
    let update_pct = if fixture.can().updates { percent(25) } else { Share::NONE };
    for like in [Compatibility::Slob, Compatibility::Pgio] {
        let workload = Workload { compatibility: like, update_pct, ..fixture.workload() };
        assert!(carried_as_drawn(fixture, &opened, &workload, 150) > 0, "{like:?}: no loop takes it");
    }
}
