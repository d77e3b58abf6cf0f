//! Jobs as steps.

use mindful_core::contract::event::Event;
use mindful_core::contract::metric::{Counter, Metric, shared};
use mindful_core::record::latency::Latency;
use mindful_core::result::finding::codes;
use mindful_core::workload::OpKind;
use mindful_core::{Error, Result};

use super::read::{Job, Latencies, Output, Side};
use crate::number;
use crate::reported::Reported;

/// Most percentiles of a latency that are taken in; fio prints twenty at most.
const MOST_SHARES: usize = 64;

/// The steps.
pub fn reported(name: &str, output: &Output) -> Result<Vec<Reported>> {
    let worked = |job: &&Job| [&job.read, &job.write].iter().any(|side| side.total_ios.is_some_and(|ios| ios > 0));
    let reported: Vec<_> = output.jobs.iter().filter(worked).filter_map(|job| step(name, output, job)).collect();
    if reported.is_empty() {
        return Err(Error::run(format!("{name} is of fio and has no job with an I/O"), "look at its errors"));
    }
    Ok(reported)
}

fn step(name: &str, output: &Output, job: &Job) -> Option<Reported> {
    let option = |key: &str| {
        let given = job.options.get(key).or_else(|| output.global.get(key))?;
        Some(given.as_str().map_or_else(|| given.to_string(), str::to_owned))
    };
    let file = if output.jobs.len() > 1 { format!("{name}#{}", job.jobname) } else { name.to_owned() };
    let place = option("filename").or_else(|| option("directory")).unwrap_or_else(|| "?".to_owned());
    let mut reported = Reported::new(&file, "fio result", "raw", format!("files: {place}"));
    reported.version.clone_from(&output.version);
    reported.block_bytes = option("bs").and_then(|bs| number::bytes(&bs, 1.0)).map(|bytes| bytes as u64);
    reported.sessions = Some(option("numjobs").map_or(Some(1), |jobs| jobs.parse().ok())?).filter(|n| *n > 0);
    for key in ["rw", "ioengine", "iodepth", "direct", "rwmixread", "size"] {
        reported.facts.extend(option(key).map(|value| (format!("fio {key}"), value)));
    }
    let ms =
        [&job.read, &job.write].iter().filter_map(|side| side.runtime).max().filter(|ms| (1..1 << 40).contains(ms))?;
    let end_us = ms as i64 * 1_000;
    reported.began_us =
        output.timestamp.and_then(|s| s.checked_mul(1_000_000)?.checked_sub(end_us)).filter(|us| *us > 0);
    let begin_us = reported.began_us.unwrap_or(0);
    let span = (begin_us, begin_us + end_us);
    reported.boundaries(vec![span.0, span.1]);
    for (side, kind) in [(&job.read, OpKind::Select), (&job.write, OpKind::Update)] {
        if let Some(latency) = histogram(side) {
            let count = latency.count();
            reported.slice(0, span, kind, latency, count);
        }
    }
    reported.grew("fio", span, 1, counters(job));
    percentiles(&mut reported, job);
    reported.events.push(Event::StepEnd {
        error: (job.error != 0).then(|| format!("fio error {}", job.error)),
        interrupted: false,
    });
    let text = "fio reads into memory that nobody looks at: the CPU of a database is not in these figures.";
    reported.caveat(codes::IMPORTED_FIGURES, text, job.jobname.clone());
    Some(reported)
}

/// Latencies in ns: with submission where they are reported.
fn latencies(side: &Side) -> Option<(&Latencies, f64)> {
    let ns = side.clat_ns.as_ref().map(|latencies| (latencies, 1.0));
    ns.or(side.clat.as_ref().map(|latencies| (latencies, 1e3)))
}

/// Only `json+` tells each latency.
fn histogram(side: &Side) -> Option<Latency> {
    let (latencies, _) = latencies(side)?;
    let bins = latencies.bins.iter().filter_map(|(ns, count)| Some((ns.parse::<u64>().ok()?, *count)));
    let mut buckets: Vec<_> = bins.filter(|(_, count)| (1..1 << 40).contains(count)).collect();
    buckets.sort_unstable();
    let longest = buckets.last()?.0;
    let sum_ns = buckets.iter().fold(0_u64, |sum, (ns, count)| sum.saturating_add(ns.saturating_mul(*count)));
    let max_ns = latencies.max.filter(|max| *max >= 0.0).map_or(longest, |max| max as u64).max(longest);
    Some(Latency { buckets: buckets.into_iter().collect(), sum_ns, max_ns })
}

fn counters(job: &Job) -> Vec<(Metric, Option<f64>)> {
    let metric = |counter: Counter, unit: &str, help: &str| Metric::counter(counter.name(), unit, help);
    let ios = |side: &Side| side.total_ios.map(|ios| ios as f64);
    let mean_us = latencies(&job.read).and_then(|(latencies, ns)| Some(latencies.mean? * ns / 1e3));
    let bytes = |side: &Side| side.bw_bytes.and(side.io_bytes).map(|bytes| bytes as f64);
    vec![
        (metric(shared::READ_REQUESTS, "1", "reads"), ios(&job.read)),
        (metric(shared::WRITE_REQUESTS, "1", "writes"), ios(&job.write)),
        (metric(shared::PROCESS_READ_BYTES, "bytes", "bytes read"), bytes(&job.read)),
        (metric(shared::PROCESS_WRITE_BYTES, "bytes", "bytes written"), bytes(&job.write)),
        (metric(shared::SINGLE_READS, "1", "reads that were timed"), mean_us.and(ios(&job.read))),
        (
            metric(shared::SINGLE_READ_TIME_US, "us", "time of these, from submission to completion"),
            mean_us.zip(ios(&job.read)).map(|(us, ios)| us * ios),
        ),
    ]
}

/// As fio printed them: without each latency they cannot be made anew.
fn percentiles(reported: &mut Reported, job: &Job) {
    for (name, side) in [("read", &job.read), ("write", &job.write)] {
        let Some((latencies, ns)) = latencies(side).filter(|_| side.total_ios.is_some_and(|ios| ios > 0)) else {
            continue;
        };
        for (share, value) in latencies.percentile.iter().take(MOST_SHARES) {
            let share = share.trim_end_matches('0').trim_end_matches('.');
            reported.facts.insert(format!("fio {name} p{share} us"), (value * ns / 1e3).to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn options_may_be_texts_or_figures() {
        let output = Output {
            global: [("bs".to_owned(), Value::from("8k")), ("numjobs".to_owned(), Value::from(4))].into(),
            jobs: vec![Job {
                read: Side { total_ios: Some(1_000), runtime: Some(10_000), ..Side::default() },
                ..Job::default()
            }],
            ..Output::default()
        };
        let reported = reported("x.json", &output).unwrap();
        assert_eq!((reported[0].block_bytes, reported[0].sessions), (Some(8192), Some(4)));
    }
}
