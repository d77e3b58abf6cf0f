//! Commits over time, from their updates down to the flushes of the device that they wait for.

use mindful_analyze::StepAnalysis;
use mindful_analyze::figures::columns::columns;
use mindful_analyze::figures::log::sync_mean_us;
use mindful_core::contract::metric::Counter;
use mindful_core::record::run::StepRecord;

use super::over_time::{FEWEST, caption, layer, strip};
use crate::drawing::frame::{Drawing, Heading};
use crate::drawing::scale::Unit;
use crate::drawing::strips::Strips;

/// The strips of a step with updates, of at most `most` columns; `None` if nothing is known of its log.
pub(super) fn drawing(record: &StepRecord, step: &StepAnalysis, most: usize) -> Option<Drawing> {
    step.summary.ops.update.as_ref()?;
    let columns = columns(record, step.window.as_ref()?, most);
    if columns.len() < FEWEST {
        return None;
    }
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
    let flush_mean = |of: &mindful_analyze::figures::columns::Column| {
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
