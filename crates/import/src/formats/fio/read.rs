//! The last complete result of fio in a file, with its jobs.
//!
//! With `--status-interval`, fio prints a complete result each time, and `>>` appends one run to another. Each result
//! of a run contains the figures of those before it, so the last complete one counts. A truncated result is skipped.

use std::collections::BTreeMap;
use std::fmt;

use mindful_core::{Error, Result};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Most jobs of a result: each takes hundreds of bytes in memory, and two in the file.
const MOST_JOBS: usize = 4_096;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Contents {
    /// The last complete result.
    pub output: Output,
    /// Number of complete results before it.
    pub earlier: usize,
    /// Whether another one begins after it and has no end.
    pub cut: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Output {
    #[serde(rename = "fio version")]
    pub version: Option<String>,
    pub timestamp: Option<i64>,
    #[serde(rename = "global options", default)]
    pub global: BTreeMap<String, Value>,
    #[serde(deserialize_with = "bounded", default)]
    pub jobs: Option<Vec<Job>>,
    /// The jobs of all clients, in fio's client mode.
    #[serde(deserialize_with = "bounded", default)]
    pub client_stats: Option<Vec<Job>>,
}

/// An entry of the list of jobs: a process, or all processes of a group with `group_reporting`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Job {
    #[serde(default)]
    pub jobname: String,
    /// Groups run one after the other, the jobs of one together.
    #[serde(default)]
    pub groupid: i64,
    #[serde(default)]
    pub error: i64,
    /// Its own options; `None` before fio 3, which does not print them.
    #[serde(rename = "job options")]
    pub options: Option<BTreeMap<String, Value>>,
    /// When it began, ms since the epoch; only of late versions.
    #[serde(rename = "job_start")]
    pub began_ms: Option<f64>,
    /// Time of all its processes together, ms; only of late versions.
    #[serde(rename = "job_runtime")]
    pub processes_ms: Option<f64>,
    #[serde(default)]
    pub read: Side,
    #[serde(default)]
    pub write: Side,
    /// Reads and writes together, with `unified_rw_reporting`.
    #[serde(default)]
    pub mixed: Side,
    #[serde(default)]
    pub trim: Side,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Side {
    /// I/Os; missing in 2.1.
    pub total_ios: Option<f64>,
    /// I/Os that transferred less than requested.
    pub short_ios: Option<f64>,
    /// Bytes; before fio 3 KiB.
    io_bytes: Option<f64>,
    /// Both only of versions that print bytes.
    pub bw_bytes: Option<f64>,
    pub io_kbytes: Option<f64>,
    /// KiB per second.
    pub bw: Option<f64>,
    /// Duration, ms.
    pub runtime: Option<f64>,
    pub iops: Option<f64>,
    /// Latencies of submission, ns, and before fio 3 us.
    pub slat_ns: Option<Latencies>,
    pub slat: Option<Latencies>,
    /// The same of completion.
    pub clat_ns: Option<Latencies>,
    pub clat: Option<Latencies>,
    /// The same from submission to completion.
    pub lat_ns: Option<Latencies>,
    pub lat: Option<Latencies>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Latencies {
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub mean: Option<f64>,
    /// Number of timed I/Os.
    #[serde(rename = "N")]
    pub count: Option<f64>,
    #[serde(default)]
    pub percentile: BTreeMap<String, f64>,
    /// Counts by latency in ns; only of `json+`. Before fio 3 the keys are numbers of buckets.
    #[serde(default)]
    pub bins: BTreeMap<String, u64>,
}

impl Side {
    /// I/Os, and their possible error because the rate of 2.1 is rounded.
    fn counted(&self) -> Option<(f64, f64)> {
        let seconds = self.runtime.unwrap_or(0.0) / 1e3;
        let by_rate = || self.iops.map(|iops| (iops * seconds, 0.5 * seconds));
        self.total_ios.map(|ios| (ios, 0.0)).or_else(by_rate).filter(|(ios, _)| (0.0..1e15).contains(ios))
    }

    pub(super) fn ios(&self) -> Option<f64> {
        let (ios, off) = self.counted()?;
        let by_bytes = || Some((self.bytes()? / self.block_bytes()? as f64).round());
        if off > 0.0 { by_bytes().or(Some(ios)) } else { Some(ios) }
    }

    pub(super) fn bytes(&self) -> Option<f64> {
        let in_bytes = self.bw_bytes.or(self.io_kbytes).is_some();
        let bytes = self.io_bytes.map(|figure| if in_bytes { figure } else { figure * 1024.0 });
        bytes.filter(|bytes| (0.0..1e18).contains(bytes))
    }

    /// The length of an I/O: bytes by I/Os, where that is a number of sectors.
    pub(super) fn block_bytes(&self) -> Option<u64> {
        let ((ios, off), bytes) = self.counted().zip(self.bytes())?;
        let length = Some(bytes / ios).filter(|length| (1.0..1e12).contains(length))?;
        let rounding = if self.bw_bytes.or(self.io_kbytes).is_some() { 0.0 } else { 512.0 / ios };
        let error = length * off / ios + rounding;
        let sectors = (length / 512.0).round() * 512.0;
        (sectors > 0.0 && error < 256.0 && (sectors - length).abs() <= error + 1e-6).then_some(sectors as u64)
    }

    /// Latencies from submission to completion, or else of completion, us.
    pub(super) fn whole_latency_us(&self) -> Option<f64> {
        let mean = |latencies: &Option<Latencies>, ns: f64| Some(latencies.as_ref()?.mean? * ns / 1e3);
        let whole = mean(&self.lat_ns, 1.0).or_else(|| mean(&self.lat, 1e3)).filter(|us| *us > 0.0);
        whole.or_else(|| self.latencies().and_then(|(latencies, ns)| Some(latencies.mean? * ns / 1e3)))
    }

    /// Latencies of completion if they are printed, and their unit in ns.
    pub(super) fn latencies(&self) -> Option<(&Latencies, f64)> {
        let ns = self.clat_ns.as_ref().or(self.lat_ns.as_ref()).map(|latencies| (latencies, 1.0));
        ns.or_else(|| Some((self.clat.as_ref().or(self.lat.as_ref())?, 1e3)))
    }
}

fn bounded<'de, D: Deserializer<'de>>(jobs: D) -> std::result::Result<Option<Vec<Job>>, D::Error> {
    struct Jobs;

    impl<'de> Visitor<'de> for Jobs {
        type Value = Vec<Job>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the jobs")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut left: A) -> std::result::Result<Vec<Job>, A::Error> {
            let mut jobs = Vec::new();
            while let Some(job) = left.next_element()? {
                if jobs.len() == MOST_JOBS {
                    return Err(A::Error::custom(format!("it contains more than {MOST_JOBS} jobs")));
                }
                jobs.push(job);
            }
            Ok(jobs)
        }
    }

    jobs.deserialize_seq(Jobs).map(Some)
}

pub(super) fn contents(name: &str, text: &str) -> Result<Contents> {
    let mut complete: Option<Contents> = None;
    let (mut at, mut fault, mut cut) = (0, None, false);
    while let Some(begin) = next_result(text, at) {
        let mut results = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Output>();
        match results.next() {
            Some(Ok(output)) => {
                at = begin + results.byte_offset();
                if output.jobs.is_some() || output.client_stats.is_some() {
                    let earlier = complete.map_or(0, |contents| contents.earlier + 1);
                    complete = Some(Contents { output, earlier, cut: false });
                }
            }
            Some(Err(error)) if error.is_eof() => {
                cut = true;
                fault.get_or_insert(error);
                break;
            }
            // A result that was cut before the next one began.
            Some(Err(error)) => {
                at = place(&text[begin..], &error).map_or(text.len(), |place| begin + place.max(1));
                cut = true;
                fault.get_or_insert(error);
            }
            None => break,
        }
    }
    match (complete, fault) {
        (Some(contents), _) => Ok(Contents { cut, ..contents }),
        (None, Some(error)) => Err(Error::run(
            format!("{name} begins as fio's JSON and cannot be read: {error}"),
            "the file was cut or changed: run fio again with --output-format=json+ --output=FILE",
        )),
        (None, None) => Err(Error::run(
            format!("{name} contains no result of fio as JSON"),
            "run fio with --output-format=json+ --output=FILE",
        )),
    }
}

/// The begin of the next result from `at` on: other output of fio may precede it.
pub(super) fn next_result(text: &str, at: usize) -> Option<usize> {
    let begins = |found: &usize| text[..*found].trim_end_matches([' ', '\t']).ends_with('\n') || *found == 0;
    text[at..].match_indices('{').map(|(found, _)| at + found).find(|found| *found == at || begins(found))
}

/// Where in `text` an error was found, bytes.
fn place(text: &str, error: &serde_json::Error) -> Option<usize> {
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines.by_ref().take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = before + error.column().saturating_sub(1);
    (before..=text.len()).contains(&at).then(|| (at..text.len()).find(|at| text.is_char_boundary(*at)))?
}
