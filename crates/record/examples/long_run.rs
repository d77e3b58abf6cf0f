//! Writes an artificial run of many sessions and seconds into a store, to measure the cost of reading it: `cargo run
//! --release -p mindful-record --features benchmarks --example long_run -- STORE SESSIONS SECONDS`, then `mindful show
//! latest`.

use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::slice::SliceReport;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::plan::{KEYS, Plan};
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::{RunHead, StepHead};
use mindful_core::workload::OpKind;
use mindful_core::workload::draw::mix64;
use mindful_core::{Error, Result, contract::clock};
use mindful_record::{RunWriter, Store};

/// Operations of a session in a second: reads of about 5 ms with one update in five.
const OPS: u64 = 200;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [store, sessions, seconds] = arguments.as_slice() else {
        return Err(Error::plan("long_run", "give STORE SESSIONS SECONDS"));
    };
    let number =
        |text: &String| text.parse::<u32>().map_err(|_| Error::plan(format!("{text} is no number"), "write 100"));
    write(&Store::open(store), number(sessions)?, number(seconds)?)
}

fn write(store: &Store, sessions: u32, seconds: u32) -> Result<()> {
    let mut settings = Settings::defaults(KEYS);
    for (name, value) in [("target", "null:".to_owned()), ("sessions", sessions.to_string())] {
        settings.set(name, value, Origin::Flag(format!("--{name}")));
    }
    let plan = Plan::from_settings(&settings)?;
    let writer = store.create(RunHead::new("null", plan.clone(), settings))?;
    begin(&writer, &plan, seconds)?;
    let start_us = clock::now_us();
    let boundaries_us: Vec<i64> = (0..=i64::from(seconds)).map(|second| start_us + second * 1_000_000).collect();
    writer.emit(Event::Started { boundaries_us: boundaries_us.clone(), clock_offset_us: 0 });
    for (index, boundary_us) in (0..seconds).zip(boundaries_us) {
        for session in 0..sessions {
            writer.emit(Event::Slice { session, report: slice(session, index, boundary_us) });
        }
    }
    writer.emit(Event::StepEnd { error: None, interrupted: false });
    writer.emit(Event::Finished { interrupted: false, error: None });
    writer.close()
}

fn begin(writer: &RunWriter, plan: &Plan, seconds: u32) -> Result<()> {
    let dataset = plan.dataset(8_192)?.expected(8_192);
    let workload = plan.workload(&dataset)?;
    let placements = plan.placements(workload.schemas, 1);
    writer.emit(Event::Loaded { dataset, load_s: None });
    writer.emit(Event::Step(StepHead {
        workload: Some(workload),
        placements,
        duration_s: Some(f64::from(seconds)),
        ..StepHead::default()
    }));
    Ok(())
}

/// A second of one session: latencies between one and forty milliseconds, most of them short.
fn slice(session: u32, index: u32, boundary_us: i64) -> SliceReport {
    let begin_us = boundary_us + i64::from(session) * 10;
    let mut report = SliceReport { index, begin_us, end_us: begin_us + 1_000_000, ..SliceReport::default() };
    let mut recorders = [Recorder::new(), Recorder::new()];
    for op in 0..OPS {
        let drawn = mix64(u64::from(session) << 40 | u64::from(index) << 8 | op);
        let shortness = 1 + (drawn >> 8) % 40;
        recorders[usize::from(op % 5 == 0)].record(40_000_000 / shortness + drawn % 100_000);
    }
    for (kind, recorder) in [OpKind::Select, OpKind::Update].into_iter().zip(&mut recorders) {
        let op = report.op_mut(kind);
        (op.ops, op.blocks, op.latency) = (recorder.count(), recorder.count() * 8, recorder.drain());
    }
    report
}
