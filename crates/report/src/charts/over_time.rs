//! A step over time: throughput, latency, waits, device and CPU on one axis, with events marked through all.

use std::fmt::Write as _;

use mindful_analyze::StepAnalysis;
use mindful_analyze::figures::columns::{Column, columns};
use mindful_analyze::figures::log::sync_mean_us;
use mindful_analyze::figures::rates;
use mindful_analyze::steady::Change;
use mindful_analyze::steady::settling::jumps;
use mindful_core::contract::description::Words;
use mindful_core::contract::metric::Counter;
use mindful_core::contract::wait::WaitClass;
use mindful_core::plan::units::format_counted;
use mindful_core::record::run::StepRecord;

use crate::drawing::frame::{Drawing, Heading};
use crate::drawing::scale::Unit;
use crate::drawing::strips::{Event, Layer, Strip, Strips};
use crate::figure::number;

/// Fewer columns are no line over time.
const FEWEST: usize = 3;
/// Marks of a checkpoint, a stall and another level of throughput.
const CHECKPOINT: &str = "C";
const STALL: &str = "S";
pub(super) const LEVEL: &str = "L";
const MOST_JUMPS: usize = 4;

/// The strips of a step, of at most `most` columns; `None` if its window is too short for them.
pub(super) fn drawing(record: &StepRecord, step: &StepAnalysis, most: usize) -> Option<Drawing> {
    let columns = drawn_columns(record, step, most)?;
    let (events, jumps) = events(record, step, &columns);
    let strips = Strips {
        heading: Heading::new("time", "Over time", caption(&columns), notes(&events, &jumps)),
        columns: columns.iter().map(|column| column.span_s).collect(),
        rows: strips(&columns, &step.evidence.words),
        events,
    };
    Some(strips.drawing())
}

fn drawn_columns(record: &StepRecord, step: &StepAnalysis, most: usize) -> Option<Vec<Column>> {
    Some(columns(record, step.window.as_ref()?, most)).filter(|columns| columns.len() >= FEWEST)
}

pub(super) fn strips(columns: &[Column], words: &Words) -> Vec<Strip> {
    let rate = |name: &str, counter| layer(name, columns, |column| column.counters.rate(counter));
    let one = |figure: fn(&Column) -> Option<f64>| vec![layer("", columns, figure)];
    let visited = layer("blocks visited", columns, |column| column.blocks_per_s);
    let (p50, p99) = (layer("median", columns, |column| column.p50_us), layer("p99", columns, |column| column.p99_us));
    let queue = one(|column| rates::device_in_flight(|of| column.counters.rate(of)));
    let read_us = one(|column| rates::device_read_us(|of| column.counters.rate(of)));
    let [active, inside] = waits(columns, words);
    let strips = [
        strip("per second", Unit::Number, vec![visited, rate("physical reads", Counter::PhysicalReads)]),
        strip("latency of operations", Unit::Us, vec![p50, p99]),
        active,
        inside,
        strip("requests at the device", Unit::Number, queue),
        strip("mean time of a read request at the device", Unit::Us, read_us),
        cpu(columns),
    ];
    strips.into_iter().flatten().collect()
}

/// Events in the window of a step, by time, and the jumps of its throughput.
pub(super) fn events(record: &StepRecord, step: &StepAnalysis, columns: &[Column]) -> (Vec<Event>, Vec<Change>) {
    let Some(window) = &step.window else { return Default::default() };
    let mut events: Vec<Event> = columns.iter().filter(|column| checkpoints(column) > 0.0).map(checkpoint).collect();
    let since = |us: i64| us.saturating_sub(window.begin_us) as f64 / 1e6;
    let stalls = step.stalls.together.iter().map(|stall| [since(stall.span.0), since(stall.span.1)]);
    events.extend(stalls.map(|span_s| Event::new(span_s, STALL)));
    let jumps = jumps(record, window);
    let begin = |jump: &Change| record.boundaries_us.get(window.first_boundary as usize + jump.at_s).copied();
    events.extend(jumps.iter().filter_map(begin).map(|us| Event::new([since(us); 2], LEVEL)));
    events.sort_by(|a, b| a.span_s[0].total_cmp(&b.span_s[0]));
    (events, jumps)
}

/// The legend of the letters of checkpoints and stalls, if there are any.
pub(super) fn letters(events: &[Event]) -> String {
    let mut text = String::new();
    for (letter, what) in [(CHECKPOINT, "a checkpoint began"), (STALL, "all sessions stalled")] {
        let marked = events.iter().filter(|event| event.name == letter).count();
        if marked > 0 {
            let _ = write!(text, " {letter}: {what} ({}).", format_counted(marked, "time"));
        }
    }
    text
}

fn caption(columns: &[Column]) -> String {
    let each = columns.first().map_or(0.0, |column| column.span_s[1] - column.span_s[0]);
    format!("Measured window, one column every {} s. A gap means no data.", number(each))
}

fn notes(events: &[Event], jumps: &[Change]) -> String {
    let mut text = letters(events);
    let in_words = |jump: &Change| format!("from {} to {}", number(jump.before), number(jump.after));
    if !jumps.is_empty() {
        let named: Vec<_> = jumps.iter().take(MOST_JUMPS).map(in_words).collect();
        let more = if jumps.len() > MOST_JUMPS { ", and more" } else { "" };
        let _ = write!(text, " {LEVEL}: throughput changed its level, {} blocks/s{more}.", named.join(", "));
    }
    text.trim_start().to_owned()
}

fn checkpoints(column: &Column) -> f64 {
    let grew = |counter: Counter| column.counters.find(counter).and_then(|change| change.delta).unwrap_or(0.0);
    grew(Counter::TimedCheckpoints) + grew(Counter::ForcedCheckpoints)
}

fn checkpoint(column: &Column) -> Event {
    Event::new([column.span_s[0]; 2], CHECKPOINT)
}

fn layer(name: &str, columns: &[Column], figure: impl Fn(&Column) -> Option<f64>) -> Layer {
    Layer { name: name.to_owned(), values: columns.iter().map(figure).collect() }
}

/// A strip of the layers with data; `None` without any.
fn strip(name: &str, unit: Unit, layers: Vec<Layer>) -> Option<Strip> {
    let layers: Vec<Layer> = layers.into_iter().filter(|layer| layer.values.iter().any(Option::is_some)).collect();
    (!layers.is_empty()).then(|| Strip { name: name.to_owned(), unit, layers, stacked: false, level: None })
}

/// Average active sessions by wait, and the number inside operations where no wait is known.
fn waits(columns: &[Column], words: &Words) -> [Option<Strip>; 2] {
    let part = |class: WaitClass| {
        let of = |column: &Column| Some(column.shares.get(class)? * column.busy_sessions?);
        layer(class.name_in(words), columns, of)
    };
    let seen = |layer: &Layer| layer.values.iter().any(|value| value.is_some_and(|value| value > 0.005));
    let parts: Vec<Layer> = WaitClass::BUSY.into_iter().map(part).filter(seen).collect();
    let known = |column: &Column| WaitClass::BUSY.into_iter().any(|class| column.shares.get(class).is_some());
    let by_wait = !parts.is_empty();
    let rest = |column: &Column| column.busy_sessions.filter(|_| !by_wait || !known(column));
    let inside = strip("sessions inside operations", Unit::Number, vec![layer("", columns, rest)]);
    [stacked(columns, "active sessions, stacked", parts), inside]
}

/// Cores of the host by user.
fn cpu(columns: &[Column]) -> Option<Strip> {
    let cores = |column: &Column, counter: Counter| column.counters.rate(counter).map(|us| us / 1e6);
    let server = layer("server", columns, |column| column.counters.server_cores());
    let client = layer("mindful", columns, |column| cores(column, Counter::ClientCpuUs));
    let rest = layer("others", columns, |column| {
        let own = column.counters.server_cores().unwrap_or(0.0) + cores(column, Counter::ClientCpuUs).unwrap_or(0.0);
        Some((cores(column, Counter::HostCpuBusyUs)? - own).max(0.0))
    });
    stacked(columns, "CPU cores, stacked", vec![server, client, rest])
}

/// Layers on top of each other, compared with the CPUs of the host.
fn stacked(columns: &[Column], name: &str, layers: Vec<Layer>) -> Option<Strip> {
    let cpus = columns.iter().find_map(|column| column.counters.host_cpus());
    let level = cpus.map(|cpus| (cpus.round(), "CPUs".to_owned()));
    Some(Strip { stacked: true, level, ..strip(name, Unit::Number, layers)? })
}

/// The strips of a step with updates, of at most `most` columns; `None` if nothing is known of its log.
pub(super) fn log_drawing(record: &StepRecord, step: &StepAnalysis, most: usize) -> Option<Drawing> {
    step.summary.ops.update.as_ref()?;
    let columns = drawn_columns(record, step, most)?;
    let log = &step.evidence.words.log;
    let rates = vec![
        layer("updates", &columns, |column| column.updates_per_s),
        layer(&format!("{log} syncs"), &columns, |column| column.counters.rate(Counter::LogSyncs)),
        layer("flushes at its device", &columns, |column| column.counters.rate(Counter::LogDeviceFlushes)),
    ];
    let updates = vec![
        layer("median", &columns, |column| column.update_p50_us),
        layer("p99", &columns, |column| column.update_p99_us),
    ];
    let flush_mean = |of: &Column| {
        let us = of.counters.rate(Counter::LogDeviceFlushTimeUs)?;
        of.counters.rate(Counter::LogDeviceFlushes).filter(|rate| *rate > 0.0).map(|rate| us / rate)
    };
    let syncs = vec![
        layer("sync, mean", &columns, |column| sync_mean_us(&column.counters, step.evidence.commits.apart)),
        layer("flush at its device, mean", &columns, flush_mean),
        layer("flush, median", &columns, |column| column.flush_p50_us),
        layer("flush, p99", &columns, |column| column.flush_p99_us),
    ];
    let syncs = strip(&format!("{log} sync"), Unit::Us, syncs)?;
    let rows = [strip("per second", Unit::Number, rates), strip("latency of updates", Unit::Us, updates), Some(syncs)];
    let strips = Strips {
        heading: Heading::new(
            "log",
            format!("Commits and the {log}"),
            caption(&columns),
            step.evidence.commits.volumes.as_ref().map_or_else(String::new, |volumes| format!("{volumes}.")),
        ),
        columns: columns.iter().map(|column| column.span_s).collect(),
        rows: rows.into_iter().flatten().collect(),
        events: Vec::new(),
    };
    Some(strips.drawing())
}
