//! JSON output of fio.

mod consistency;
mod load;
mod read;

use std::collections::BTreeMap;

use mindful_core::contract::metric::Counter;
use mindful_core::record::latency::Latency;
use mindful_core::result::finding::codes;
use mindful_core::workload::OpKind;
use mindful_core::{Error, Result};

use super::format::Format;
use crate::old_step::{Growth, OldStep};
use crate::{input, number};
use load::{Load, loads};
use read::{Contents, Side};

/// Largest result in bytes: parsed JSON takes up to twenty times its length.
const WHOLE: usize = 64 << 20;

/// `fio --output-format=json` or `json+`.
pub(super) static FIO: Format = Format {
    what: "fio result",
    // By the names that fio's JSON begins with.
    recognises: |head| {
        let Some(result) = read::next_result(head, 0).map(|at| &head[at..]) else { return false };
        let lists = ["\"jobs\"", "\"client_stats\""].iter().any(|list| result.contains(list));
        result.contains("\"fio version\"") || lists && result.contains("\"jobname\"")
    },
    read: |name, input| steps(name, &read::contents(name, &input::text_within(name, input, WHOLE)?)?),
};

/// Most percentiles of a latency that are taken in; fio prints twenty at most.
const MOST_SHARES: usize = 64;

fn steps(name: &str, contents: &Contents) -> Result<Vec<OldStep>> {
    let output = &contents.output;
    let loads = loads(output);
    let working: Vec<_> = loads.iter().filter(|load| load.worked() && load.runtime_ms().is_some()).collect();
    let several = working.len() > 1;
    let file = |load: &Load<'_>| if several { format!("{name}#{}", load.name()) } else { name.to_owned() };
    let mut steps: Vec<_> = working.iter().filter_map(|load| step(&file(load), contents, load)).collect();
    if several {
        for (step, load) in steps.iter_mut().zip(&working) {
            step.options.insert("job".to_owned(), load.name().to_owned());
        }
    }
    match steps.first_mut() {
        Some(first) => {
            add_findings(first, name, contents);
            Ok(steps)
        }
        None => Err(no_figures(name, &loads)),
    }
}

fn no_figures(name: &str, loads: &[Load<'_>]) -> Error {
    let jobs = || loads.iter().flat_map(|load| &load.jobs);
    let failed =
        jobs().find(|job| job.error != 0).map(|job| format!("the job {} ended with error {}", job.jobname, job.error));
    let trimmed = || jobs().any(|job| job.trim.ios().is_some_and(|ios| ios > 0.0));
    let why = match failed {
        Some(failed) => failed,
        None if jobs().next().is_none() => "its list of jobs is empty".to_owned(),
        None if trimmed() => "its jobs only trimmed".to_owned(),
        None => "its jobs did no I/O".to_owned(),
    };
    Error::run(
        format!("{name} is a result of fio without a read or a write: {why}"),
        "check the job file and run fio again",
    )
}

fn add_findings(first: &mut OldStep, name: &str, contents: &Contents) {
    let text = "fio does not examine the data that it reads, so these figures lack the CPU of a database.";
    first.add_finding(codes::IMPORTED_FIGURES, text, name);
    if contents.earlier > 0 {
        let text = "The file contains several results of fio. The last complete one is used.";
        first.add_finding(codes::IMPORTED_FIGURES, text, format!("{} earlier results", contents.earlier));
    }
    if contents.cut {
        first.add_finding(codes::IMPORTED_DOUBT, "A result of fio in the file has no end and is not used.", name);
    }
}

fn step(file: &str, contents: &Contents, load: &Load<'_>) -> Option<OldStep> {
    let output = &contents.output;
    let place = load.option("filename").or_else(|| load.option("directory")).unwrap_or_else(|| "?".to_owned());
    let mut step = OldStep::new(file, "fio result", "raw", format!("files: {place}"));
    step.version.clone_from(&output.version);
    step.block_bytes = load.block_bytes();
    step.sessions = load.in_flight();
    for key in ["rw", "ioengine", "iodepth", "numjobs", "direct", "rwmixread", "size"] {
        step.facts.extend(load.option(key).map(|value| (format!("fio {key}"), value)));
    }
    step.options.extend(load.option("rw").map(|rw| ("rw".to_owned(), rw)));
    step.options.extend(step.block_bytes.map(|bytes| ("block_size".to_owned(), number::exact_bytes(bytes))));
    let end_us = (load.runtime_ms()? * 1e3) as i64;
    let printed_us = output.timestamp.and_then(|s| s.checked_mul(1_000_000)?.checked_sub(end_us));
    step.began_us = load.began_us().or(printed_us).filter(|us| (1..1 << 52).contains(us));
    let begin_us = step.began_us.unwrap_or(0);
    step.set_boundaries(vec![begin_us, begin_us + end_us]);
    for (sides, kind) in [(&load.reads, OpKind::Select), (&load.writes, OpKind::Update)] {
        if let Some(latency) = histogram(sides) {
            let count = latency.count();
            step.add_slice(0, kind, latency, count);
        }
    }
    step.add_counters("fio", counters(load));
    latency_facts(&mut step, load);
    let error = load.jobs.iter().map(|job| job.error).find(|error| *error != 0);
    step.error = error.map(|error| format!("fio error {error}"));
    let only_writes = ios(&load.reads) == Some(0.0);
    if let Some(us) = mean_us(&load.writes).filter(|_| only_writes) {
        let text = "The job only wrote. The mean time of a write is a fact of the target: the read latency is empty.";
        step.add_finding(codes::IMPORTED_FIGURES, text, format!("{us:.2} us a write"));
    }
    step.add_contradictions(consistency::contradictions(load));
    if load.is_mixed {
        let text = "fio counted reads and writes together (unified_rw_reporting): all of them are shown as reads.";
        step.add_finding(codes::IMPORTED_FIGURES, text, load.name());
    }
    Some(step)
}

/// The latencies of all processes of a load in one; only `json+` has them, and one process without them leaves them unknown.
fn histogram(sides: &[&Side]) -> Option<Latency> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    let mut max_ns = 0;
    for side in sides.iter().filter(|side| side.ios().is_some_and(|ios| ios > 0.0)) {
        let latencies = side.clat_ns.as_ref().or(side.lat_ns.as_ref())?;
        let bins = latencies.bins.iter().filter_map(|(ns, count)| Some((ns.parse::<u64>().ok()?, *count)));
        let mut bins = bins.filter(|(_, count)| (1..1 << 40).contains(count)).peekable();
        bins.peek()?;
        for (ns, count) in bins {
            let sum = counts.entry(ns).or_default();
            *sum = sum.saturating_add(count);
        }
        max_ns = max_ns.max(latencies.max.filter(|max| *max >= 0.0).map_or(0, |max| max as u64));
    }
    let longest_ns = *counts.keys().next_back()?;
    let sum_ns = counts.iter().fold(0_u64, |sum, (ns, count)| sum.saturating_add(ns.saturating_mul(*count)));
    Some(Latency { buckets: counts.into_iter().collect(), sum_ns, max_ns: max_ns.max(longest_ns) })
}

fn sum(sides: &[&Side], figure: fn(&Side) -> Option<f64>) -> Option<f64> {
    sides.iter().try_fold(0.0, |sum, side| Some(sum + figure(side)?))
}

fn ios(sides: &[&Side]) -> Option<f64> {
    sum(sides, Side::ios)
}

/// The mean of all I/Os, us: each process has as much weight as I/Os.
fn mean_us(sides: &[&Side]) -> Option<f64> {
    let working: Vec<_> = sides.iter().filter(|side| side.ios().is_some_and(|ios| ios > 0.0)).collect();
    let mean_us = |side: &Side| {
        let (latencies, ns) = side.latencies()?;
        Some(latencies.mean.filter(|mean| *mean > 0.0)? * ns / 1e3)
    };
    if let [one] = working[..] {
        return mean_us(one);
    }
    let time_us = working.iter().try_fold(0.0, |sum, side| Some(sum + mean_us(side)? * side.ios()?))?;
    Some(time_us / ios(sides)?).filter(|us| us.is_finite() && *us > 0.0)
}

fn counters(load: &Load<'_>) -> Vec<Growth> {
    let Load { reads, writes, .. } = load;
    let bytes = |sides: &[&Side]| sum(sides, Side::bytes);
    let read_us = mean_us(reads);
    let time_us = read_us.zip(ios(reads)).map(|(us, ios)| us * ios);
    let written = Some(()).filter(|()| !load.is_mixed);
    vec![
        (Counter::ReadRequests, "1", "reads", ios(reads)),
        (Counter::WriteRequests, "1", "writes", written.and(ios(writes))),
        (Counter::ProcessReadBytes, "bytes", "bytes read", bytes(reads)),
        (Counter::ProcessWriteBytes, "bytes", "bytes written", written.and(bytes(writes))),
        (Counter::SingleReads, "1", "reads that were timed", read_us.and(ios(reads))),
        (Counter::SingleReadTimeUs, "us", "time of these, from submission to completion", time_us),
    ]
}

/// Means, and percentiles as fio printed them: percentiles of several processes cannot be merged.
fn latency_facts(step: &mut OldStep, load: &Load<'_>) {
    for (name, sides) in [("read", &load.reads), ("write", &load.writes)] {
        step.facts.extend(mean_us(sides).map(|us| (format!("fio {name} mean us"), us.to_string())));
        let [side] = sides[..] else { continue };
        let Some((latencies, ns)) = side.latencies().filter(|_| side.ios().is_some_and(|ios| ios > 0.0)) else {
            continue;
        };
        for (share, value) in latencies.percentile.iter().take(MOST_SHARES) {
            // fio 2 fills its list up with shares of 0.
            if share.parse().is_ok_and(|share: f64| share > 0.0) {
                let share = share.trim_end_matches('0').trim_end_matches('.');
                step.facts.insert(format!("fio {name} p{share} us"), (value * ns / 1e3).to_string());
            }
        }
    }
}
