//! A step with merged slices has the same figures as one that kept each slice.

use crate::made::{Made, workload};
use mindful_analyze::analyze;
use mindful_analyze::figures::heat::{Fineness, HeatMap};
use mindful_analyze::steady::settling::settled;
use mindful_core::contract::event::Event;
use mindful_core::contract::slice::{OpReport, SliceReport, Tally};
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::workload::{OpKind, Rate};
use proptest::prelude::*;
use std::time::Duration;

type Drawn = (u64, i64, i64, u8);

/// A report of slice `index`, which lies between `boundaries`: late, longer than its slice, or missing.
fn report(index: u32, boundaries: &[i64], open: bool, (ops, late_us, over_us, whim): Drawn) -> Option<SliceReport> {
    let (begin, end) = (boundaries[index as usize], boundaries[index as usize + 1]);
    let begin_us = if whim == 1 { end + late_us } else { begin + late_us };
    let mut report = SliceReport { index, begin_us, end_us: (end + over_us).max(begin_us), ..SliceReport::default() };
    for kind in 0..3 {
        let count = if kind == 2 { 0 } else { ops / (kind + 1) };
        let mut recorder = Recorder::new();
        (0..count).for_each(|i| recorder.record(50_000 + i * ops * 997));
        let latency = recorder.drain();
        let response = (open && count > 0).then(|| latency.clone());
        report.ops[kind as usize] = OpReport { ops: count, blocks: count * 8, latency, response };
    }
    (report.think_us, report.cpu_us) = (ops * 3, (whim != 2).then_some(ops * 7));
    (report.writer_wait_us, report.backlog) = ((whim == 3).then_some(ops), open.then_some(ops % 5));
    if whim > 12 {
        report.note_long(OpKind::Select, begin_us, 700_000 + ops);
    }
    report.tally = Tally(vec![((ops % 3) as u8, ops), (4, 1)]);
    (whim != 0).then_some(report)
}

/// Two runs of the same slices: each slice separate, and merged as a reader does it.
fn two_runs(made: &Made, rate: bool, window: Option<(u32, u32)>, drawn: &[Drawn]) -> [Run; 2] {
    let mut kept = made.run();
    workload(&mut kept).rate = rate.then_some(Rate { per_s: 100.0, even: true });
    let step = &mut kept.steps[0];
    let places = (0..made.warmup + made.seconds).flat_map(|slice| (0..made.sessions).map(move |s| (s, slice)));
    let reports = places.zip(drawn).filter_map(|((s, i), d)| Some((s, report(i, &step.boundaries_us, rate, *d)?)));
    step.unmerged = reports.collect();
    step.window = window;
    let mut record = StepRecord::new(step.head.clone());
    let (boundaries_us, clock_offset_us) = (step.boundaries_us.clone(), step.clock_offset_us);
    record.add(Event::Started { boundaries_us, clock_offset_us }).unwrap();
    for (session, report) in step.unmerged.clone() {
        record.add(Event::Slice { session, report }).unwrap();
    }
    (record.series, record.window, record.ended) = (step.series.clone(), window, true);
    let merged = Run { steps: vec![record], ..kept.clone() };
    [kept, merged]
}

fn judged(run: &Run) -> String {
    let analysis = analyze(run);
    let step = &analysis.steps[0];
    let looks: Vec<_> = (1..5).map(|slices| settled(&run.steps[0], slices, Duration::from_secs(2))).collect();
    let fine = Fineness { columns: 5, bands_a_decade: 10 };
    let heat = step.window.and_then(|window| HeatMap::from_step(&run.steps[0], &window, OpKind::Select, fine));
    format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n{looks:?}\n{heat:?}\n{:?}",
        analysis.summary, step.pace, step.evidence, step.window, step.stalls
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn merging_does_not_change_any_figure(
        sessions in 1..5_u32,
        warmup in 0..3_u32,
        rate in any::<bool>(),
        window in prop::option::of((0..4_u32, 5..9_u32)),
        // Sometimes a slice is lost, or reported after its end; some end early, most a little late.
        drawn in prop::collection::vec((1..60_u64, 0..9_000_i64, -3_000..9_000_i64, 0..16_u8), 4 * 11),
    ) {
        let made = Made { sessions, warmup, seconds: 11 - warmup, ..Made::default() };
        let [kept, merged] = two_runs(&made, rate, window, &drawn);
        prop_assert_eq!(judged(&kept), judged(&merged));
    }
}

#[test]
fn data_by_session_does_not_grow_with_time() {
    let left = |seconds: u32| {
        let made = Made { sessions: 6, warmup: 0, seconds, latency_us: 20_000, ..Made::default() };
        let mut record = StepRecord::new(made.run().steps.remove(0).head);
        let step = made.run().steps.remove(0);
        record.add(Event::Started { boundaries_us: step.boundaries_us, clock_offset_us: 0 }).unwrap();
        let mut most = 0;
        for (session, report) in step.unmerged {
            record.add(Event::Slice { session, report }).unwrap();
            most = most.max(record.unmerged.len());
        }
        assert!(record.merged.slices.len() + 3 > seconds as usize, "{} merged", record.merged.slices.len());
        most
    };
    assert_eq!(left(20), left(200));
}
