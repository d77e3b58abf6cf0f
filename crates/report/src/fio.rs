//! A run on files in the shape of fio's JSON, for what draws or keeps fio's results. What is not known is null.

mod latencies;
mod rates;

use mindful_analyze::figures::work::KindWork;
use mindful_analyze::{StepAnalysis, io_job};
use mindful_core::contract::file_reads::files_of;
use mindful_core::contract::file_reads::names::{IO, ONE_AT_A_TIME};
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::workload::OpKind;
use mindful_core::{Error, Result};
use serde_json::{Map, Value, json};

use crate::charts::Side;

const KIB: f64 = 1_024.0;

/// A job a step, small I/Os and large reads of a step apart: they differ in size. fio-plot adds up the jobs of a file, so that
/// `only` picks a step (from 1) for it.
///
/// # Errors
/// What was measured is no file, was read several blocks at a time, or has no such step.
pub fn output((run, analysis): Side, only: Option<usize>) -> Result<String> {
    if !io_job::on_files(run) {
        return Err(Error::plan(
            format!("fio reads files and devices, {} is no such target", run.head.target),
            "export a run of `mindful raw`; --as hlog or --as csv tells this one",
        ));
    }
    let steps: Vec<_> = (1..).zip(run.steps.iter().zip(&analysis.steps)).collect();
    if let Some(step) = only.filter(|step| !(1..=steps.len()).contains(step)) {
        return Err(Error::plan(format!("there is no step {step}"), format!("the run has steps 1 to {}", steps.len())));
    }
    let wanted = steps.into_iter().filter(|(number, _)| only.is_none_or(|only| only == *number));
    let mut jobs = Vec::new();
    for (number, (record, step)) in wanted {
        jobs.extend(jobs_of(run, record, step, number)?);
    }
    let ended = analysis.steps.last().and_then(|step| step.window).map(|window| window.end_us);
    let output = json!({
        "fio version": format!("mindful-{}", run.head.mindful_version),
        "timestamp": ended.map(|us| us / 1_000_000),
        "timestamp_ms": ended.map(|us| us / 1_000),
        "time": run.head.started_at,
        "global options": {},
        "jobs": jobs,
        "disk_util": [],
    });
    Ok(format!("{output:#}\n"))
}

/// What one step did: its small I/Os, its large reads, or both.
fn jobs_of(run: &Run, record: &StepRecord, step: &StepAnalysis, number: usize) -> Result<Vec<Value>> {
    let Some(work) = &step.work else { return Ok(Vec::new()) };
    let small = [OpKind::Select, OpKind::Update].map(|kind| work.kind(kind));
    if small.iter().any(|kind| kind.blocks > kind.ops) {
        return Err(Error::plan(
            format!("an operation of step {number} is of several blocks: how long each I/O took is not known"),
            "measure with --work-unit 1, where each I/O is an operation",
        ));
    }
    let in_flight = io_job::in_flight(run, &record.head);
    let mut jobs = Vec::new();
    if small.iter().any(|kind| kind.ops > 0.0) {
        let depth = in_flight.map(|in_flight| in_flight.small);
        jobs.push(Job { name: format!("step{number}"), bytes: step.block_bytes, depth, sides: small, large: false });
    }
    let large = work.kind(OpKind::Scan);
    if large.ops > 0.0 {
        let (bytes, depth) = (io_job::large_bytes(run), in_flight.map(|in_flight| in_flight.large));
        jobs.push(Job { name: format!("step{number}-large"), bytes, depth, sides: [large, &NONE], large: true });
    }
    Ok(jobs.iter().map(|job| job.value(run, record, step, work.seconds)).collect())
}

/// The files of the run, or what else it measured.
fn filename(run: &Run) -> &str {
    if io_job::on_files(run) { files_of(&run.head.target) } else { &run.head.target }
}

/// No write.
static NONE: std::sync::LazyLock<KindWork> = std::sync::LazyLock::new(KindWork::default);

/// I/Os of one size.
struct Job<'a> {
    name: String,
    /// Length of each, bytes.
    bytes: Option<u64>,
    /// In flight in each session.
    depth: Option<u32>,
    /// Reads and writes.
    sides: [&'a KindWork; 2],
    /// Whether they are large reads.
    large: bool,
}

impl Job<'_> {
    fn value(&self, run: &Run, record: &StepRecord, step: &StepAnalysis, seconds: f64) -> Value {
        let sessions = record.head.session_count();
        let cpu = |cores: Option<f64>| cores.map(|cores| 100.0 * cores / sessions.max(1) as f64);
        let rates = |kind: OpKind| rates::each_second(record, step.window.as_ref(), kind);
        let reads = if self.large { OpKind::Scan } else { OpKind::Select };
        let read = self.side(self.sides[0], seconds, &rates(reads));
        let write = self.side(self.sides[1], seconds, &if self.large { Vec::new() } else { rates(OpKind::Update) });
        let mut job = json!({
            "jobname": self.name,
            "groupid": 0,
            "error": i32::from(record.error.is_some()),
            "eta": 0,
            "elapsed": seconds.ceil(),
            "job options": self.options(run, record, sessions, seconds),
            "read": read,
            "write": write,
            "trim": self.side(&NONE, seconds, &[]),
            "job_runtime": (seconds * 1e3 * sessions as f64).round(),
            "usr_cpu": cpu(step.summary.cpu.db_user_cores),
            "sys_cpu": cpu(step.summary.cpu.db_system_cores),
            "ctx": null,
            "majf": null,
            "minf": null,
        });
        for (name, shares) in latencies::shares(self.sides) {
            job[name] = shares;
        }
        job
    }

    fn options(&self, run: &Run, record: &StepRecord, sessions: usize, seconds: f64) -> Value {
        let facts = run.description.as_ref().map(|description| &description.facts);
        let fact = |key: &str| record.head.point.values.get(key).or_else(|| facts?.get(key)).cloned();
        let [reads, writes] = self.sides.map(|kind| kind.ops);
        let random = if fact("pattern").as_deref() == Some("sequential") { "" } else { "rand" };
        let way = match (reads > 0.0, writes > 0.0) {
            (true, true) => "rw",
            (false, true) => "write",
            _ => "read",
        };
        let mut options = Map::new();
        let mut set = |name: &str, value: Option<String>| options.extend(value.map(|v| (name.to_owned(), v.into())));
        set("name", Some(self.name.clone()));
        set("rw", Some(format!("{random}{way}")));
        set("rwmixread", (way == "rw").then(|| format!("{:.0}", 100.0 * reads / (reads + writes))));
        set("bs", self.bytes.map(|bytes| bytes.to_string()));
        set("iodepth", self.depth.map(|depth| depth.to_string()));
        set("numjobs", Some(sessions.to_string()));
        set("filename", Some(filename(run).to_owned()));
        set("direct", fact("direct").map(|direct| u8::from(direct == "on").to_string()));
        set("ioengine", fact(IO).map(|io| if io == ONE_AT_A_TIME { io } else { format!("io_{io}") }));
        set("runtime", Some(format!("{seconds:.3}")));
        options.into()
    }

    /// Reads or writes.
    fn side(&self, kind: &KindWork, seconds: f64, rates: &[f64]) -> Value {
        let (ops, per_s) = (kind.ops, kind.ops / seconds);
        let bytes = self.bytes.map(|bytes| bytes as f64);
        let whole = |value: f64| value.round() as u64;
        json!({
            "io_bytes": bytes.map(|bytes| whole(bytes * ops)),
            "io_kbytes": bytes.map(|bytes| whole(bytes * ops / KIB)),
            "bw_bytes": bytes.map(|bytes| whole(bytes * per_s)),
            "bw": bytes.map(|bytes| whole(bytes * per_s / KIB)),
            "iops": per_s,
            "runtime": if ops > 0.0 { whole(seconds * 1e3) } else { 0 },
            "total_ios": whole(ops),
            "short_ios": 0,
            "drop_ios": 0,
            "slat_ns": latencies::none(),
            "clat_ns": latencies::of(kind),
            "lat_ns": latencies::of(kind),
            "iops_min": rates.iter().copied().reduce(f64::min),
            "iops_max": rates.iter().copied().reduce(f64::max),
            "iops_mean": per_s,
            "iops_stddev": if ops > 0.0 { rates::deviation(rates) } else { Some(0.0) },
            "iops_samples": rates.len(),
        })
    }
}
