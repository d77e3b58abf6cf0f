//! Jobs with their reads and writes.

use std::collections::BTreeMap;
use std::fmt;

use mindful_core::{Error, Result};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Most jobs of a result: each takes hundreds of bytes in memory, and two in the file.
const MOST_JOBS: usize = 4_096;

/// All of the output.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Output {
    /// Version of fio.
    #[serde(rename = "fio version")]
    pub version: Option<String>,
    /// When it was printed, s since the epoch.
    pub timestamp: Option<i64>,
    /// Options that all jobs share.
    #[serde(rename = "global options", default)]
    pub global: BTreeMap<String, Value>,
    /// The jobs.
    #[serde(deserialize_with = "bounded")]
    pub jobs: Vec<Job>,
}

/// A job.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Job {
    /// Its name.
    #[serde(default)]
    pub jobname: String,
    /// Its error number.
    #[serde(default)]
    pub error: i64,
    /// Its own options.
    #[serde(rename = "job options", default)]
    pub options: BTreeMap<String, Value>,
    /// Reads.
    #[serde(default)]
    pub read: Side,
    /// Writes.
    #[serde(default)]
    pub write: Side,
}

/// Reads or writes of a job.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Side {
    /// I/Os.
    pub total_ios: Option<u64>,
    /// Bytes; of old versions KiB.
    pub io_bytes: Option<u64>,
    /// Bytes per second; only of versions that tell bytes.
    pub bw_bytes: Option<u64>,
    /// How long, ms.
    pub runtime: Option<u64>,
    /// I/Os per second.
    pub iops: Option<f64>,
    /// Completion latencies, ns.
    pub clat_ns: Option<Latencies>,
    /// Completion latencies of old versions, us.
    pub clat: Option<Latencies>,
    /// Latencies with submission, ns.
    pub lat_ns: Option<Latencies>,
}

/// Latencies.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Latencies {
    /// Shortest.
    pub min: Option<f64>,
    /// Longest.
    pub max: Option<f64>,
    /// Mean.
    pub mean: Option<f64>,
    /// By their shares in percent.
    #[serde(default)]
    pub percentile: BTreeMap<String, f64>,
    /// Counts by latency in ns; only of `json+`.
    #[serde(default)]
    pub bins: BTreeMap<String, u64>,
}

/// No more than [`MOST_JOBS`].
fn bounded<'de, D: Deserializer<'de>>(jobs: D) -> std::result::Result<Vec<Job>, D::Error> {
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
                    return Err(A::Error::custom(format!("it holds more than {MOST_JOBS} jobs")));
                }
                jobs.push(job);
            }
            Ok(jobs)
        }
    }

    jobs.deserialize_seq(Jobs)
}

/// The output in `text` of the file `name`.
pub fn jobs(name: &str, text: &str) -> Result<Output> {
    let begin = text.find('{').unwrap_or(0);
    let mut values = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Output>();
    match values.next() {
        Some(Ok(output)) => Ok(output),
        Some(Err(error)) => Err(Error::run(
            format!("{name} begins as fio's JSON and is none: {error}"),
            "it was cut, or holds the output of two commands at once: run fio with --output=FILE",
        )),
        None => Err(Error::run(format!("{name} holds no JSON"), "run fio with --output-format=json+ --output=FILE")),
    }
}
