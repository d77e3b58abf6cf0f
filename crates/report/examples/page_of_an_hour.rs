//! The cost of the page of a long run, from the parsed run to the last byte of HTML: `cargo run --release -p
//! mindful-report --features benchmarks --example page_of_an_hour -- SESSIONS SECONDS`.
//!
//! The slices are artificial: some hundred different ones in turn, added to the run like those of a reader.

#![expect(clippy::unwrap_used, reason = "a run by hand is right or the example fails")]

#[path = "../../analyze/tests/it/made.rs"]
mod made;

use std::io::Write as _;
use std::time::Instant;

use mindful_core::contract::event::Event;
use mindful_core::contract::metric::{Counter, Metric, Phase};
use mindful_core::contract::slice::SliceReport;
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::{Run, StepHead, StepRecord};
use mindful_core::workload::OpKind;
use mindful_core::workload::draw::mix64;
use mindful_core::{Error, Result};
use mindful_report::html;

use made::Made;

/// Operations of a session in a second: reads with one update in five.
const OPS: u64 = 200;
const KINDS: u64 = 256;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u32>().ok());
    let Some((sessions, seconds)) = number(0).zip(number(1)) else {
        return Err(Error::plan("page_of_an_hour", "give SESSIONS SECONDS"));
    };
    let run = run(sessions, seconds)?;
    let before = peak_mib();
    let begun = Instant::now();
    let analysis = mindful_analyze::analyze(&run);
    let page = html::page(&[(&run, &analysis)]);
    let text = format!(
        "{sessions} sessions, {seconds} s: {:.2} s for a page of {} KiB, at most {} MiB resident (before it {} MiB)\n",
        begun.elapsed().as_secs_f64(),
        page.len() >> 10,
        peak_mib(),
        before,
    );
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| Error::run(error.to_string(), "check stdout"))
}

/// Most memory that this process ever had, MiB; 0 if the kernel does not report it.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) >> 10
}

fn run(sessions: u32, seconds: u32) -> Result<Run> {
    let mut run = Made { sessions, warmup: 0, seconds: 1, update_pct: "20", ..Made::default() }.run();
    let head = StepHead { duration_s: Some(f64::from(seconds)), ..run.steps[0].head.clone() };
    run.steps = vec![step(head, seconds).map_err(|fault| Error::run(fault, "correct the example"))?];
    Ok(run)
}

fn step(head: StepHead, seconds: u32) -> std::result::Result<StepRecord, String> {
    let sessions = head.placements.len() as u32;
    let mut step = StepRecord::new(head);
    let start_us = 1_790_000_000_000_000;
    let boundaries_us: Vec<i64> = (0..=i64::from(seconds)).map(|second| start_us + second * 1_000_000).collect();
    step.add(Event::Started { boundaries_us: boundaries_us.clone(), clock_offset_us: 0 })?;
    let counters = [Counter::LogicalReads, Counter::PhysicalReads, Counter::DeviceReads, Counter::HostCpuBusyUs];
    let metrics = counters.map(|counter| Metric::counter(counter.name(), "1", "")).to_vec();
    step.add(Event::Source { source: "made".to_owned(), metrics, phase: Phase::Boundary })?;
    let kinds: Vec<SliceReport> = (0..KINDS).map(slice).collect();
    for (index, begin_us) in (0..seconds).zip(&boundaries_us) {
        let values = counters.map(|_| Some(f64::from(index) * 1e6)).to_vec();
        step.add(Event::Sample { source: "made".to_owned(), boundary: index, at_us: *begin_us, cost_us: 50, values })?;
        for session in 0..sessions {
            let drawn = mix64(u64::from(session) << 32 | u64::from(index)) % KINDS;
            let begin_us = begin_us + i64::from(session) * 10;
            let report = SliceReport { index, begin_us, end_us: begin_us + 1_000_000, ..kinds[drawn as usize].clone() };
            step.add(Event::Slice { session, report })?;
        }
    }
    step.add(Event::StepEnd { error: None, interrupted: false })?;
    Ok(step)
}

/// A second: latencies between one and forty milliseconds, most of them short.
fn slice(kind: u64) -> SliceReport {
    let (mut report, mut recorders) = (SliceReport::default(), [Recorder::new(), Recorder::new()]);
    for op in 0..OPS {
        let drawn = mix64(kind << 8 | op);
        let shortness = 1 + (drawn >> 8) % 40;
        recorders[usize::from(op % 5 == 0)].record(40_000_000 / shortness + drawn % 100_000);
    }
    for (kind, recorder) in [OpKind::Select, OpKind::Update].into_iter().zip(&mut recorders) {
        let op = report.op_mut(kind);
        (op.ops, op.blocks, op.latency) = (recorder.count(), recorder.count() * 8, recorder.drain());
    }
    report
}
