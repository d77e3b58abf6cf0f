//! A run as an interval log of HdrHistogram (`.hlog`): a line a slice of the measured window, latencies in nanoseconds.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriter, IntervalLogWriterBuilder, Tag};
use mindful_analyze::StepAnalysis;
use mindful_core::contract::slice::SliceReport;
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::StepRecord;
use mindful_core::result::Summary;
use mindful_core::workload::OpKind;
use mindful_core::{Error, Result};

use crate::card;
use crate::charts::Side;

/// What its reader divides by for the longest of an interval, ns in a ms.
const NS_IN_MS: f64 = 1e6;

/// One line: when its slice began, us since the epoch; how long it was, us; the operations it holds.
type Line<'a> = (i64, i64, Vec<&'a SliceReport>);

/// The log: lines without a tag hold all operations, so that its reader sees them unasked; with several kinds of operation,
/// or several steps, they follow with a tag each (`select`, `step2`, `step2-select`).
///
/// # Errors
/// The run measured no single operation.
pub fn log((run, analysis): Side) -> Result<String> {
    let steps: Vec<_> = run.steps.iter().zip(&analysis.steps).map(|(record, step)| lines(record, step)).collect();
    let Some(base_us) = steps.iter().flatten().map(|line| line.0).min() else {
        return Err(Error::plan(
            "the run measured no operation by itself, so that there are no latencies to log",
            "`mindful show` tells what it measured; --as json has all of it",
        ));
    };
    let mut text = Vec::new();
    let mut form = V2DeflateSerializer::new();
    let base = SystemTime::UNIX_EPOCH + Duration::from_micros(base_us.max(0) as u64);
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment(&comment(&analysis.summary))
        .with_start_time(base)
        .with_base_time(base)
        .with_max_value_divisor(NS_IN_MS)
        .begin_log_with(&mut text, &mut form)
        .unwrap_or_else(|_| unreachable!("memory takes what is written"));
    for (number, lines) in (1..).zip(&steps) {
        let kinds: Vec<OpKind> = OpKind::ALL.into_iter().filter(|kind| done(lines, *kind)).collect();
        let of_step = if steps.len() > 1 { format!("step{number}") } else { String::new() };
        for line in lines {
            write(&mut log, base_us, line, &OpKind::ALL, "");
            if kinds.len() < 2 && !of_step.is_empty() {
                write(&mut log, base_us, line, &kinds, &of_step);
            }
            for kind in kinds.iter().filter(|_| kinds.len() > 1) {
                let tag = [of_step.as_str(), kind.name()].into_iter().filter(|part| !part.is_empty());
                write(&mut log, base_us, line, &[*kind], &tag.collect::<Vec<_>>().join("-"));
            }
        }
    }
    Ok(String::from_utf8(text).unwrap_or_else(|_| unreachable!("a log is base64 and figures")))
}

/// What stands at its head. Names of a run may hold anything: a line of theirs would not be a comment.
fn comment(summary: &Summary) -> String {
    let on_one_line = |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    let (id, validity) = (on_one_line(&summary.id), card::word(summary.validity));
    let notice = summary.notice.as_ref().map(|notice| format!(" {}", on_one_line(notice))).unwrap_or_default();
    format!(
        "run {id}, {validity}. Latencies of operations in the measured window, in nanoseconds (a reader that divides by \
         1000000 shows ms); response times by the schedule where there is one. Times are s since BaseTime.{notice}"
    )
}

/// The slices that percentiles are made of, those of all sessions in one line.
fn lines<'a>(record: &'a StepRecord, step: &StepAnalysis) -> Vec<Line<'a>> {
    let Some(window) = &step.window else { return Vec::new() };
    let mut by_index: BTreeMap<u32, Vec<&SliceReport>> = BTreeMap::new();
    for report in record.reports().filter(|report| window.share_of(report, record) >= 0.5) {
        by_index.entry(report.index).or_default().push(report);
    }
    let of = |(index, reports): (u32, Vec<&'a SliceReport>)| {
        let boundary = |at: u32| record.boundaries_us.get(at as usize).copied();
        let (begin, end) = boundary(index).zip(boundary(index.saturating_add(1)))?;
        Some((begin, end.saturating_sub(begin), reports))
    };
    by_index.into_iter().filter_map(of).collect()
}

fn done(lines: &[Line], kind: OpKind) -> bool {
    lines.iter().flat_map(|(.., reports)| reports).any(|report| report.op(kind).ops > 0)
}

/// A line of these kinds; an empty tag is none.
fn write(
    log: &mut IntervalLogWriter<Vec<u8>, V2DeflateSerializer>,
    base_us: i64,
    (begin_us, us, reports): &Line,
    kinds: &[OpKind],
    tag: &str,
) {
    let mut all = Recorder::new();
    for op in reports.iter().flat_map(|report| kinds.iter().map(|kind| report.op(*kind))) {
        all.merge(op.response.as_ref().unwrap_or(&op.latency));
    }
    let time = |us: i64| Duration::from_micros(us.max(0) as u64);
    let tag = Tag::new(tag).filter(|_| !tag.is_empty());
    log.write_histogram(all.histogram(), time(begin_us.saturating_sub(base_us)), time(*us), tag)
        .unwrap_or_else(|_| unreachable!("memory takes what is written"));
}
