//! A report and its file as a row: its figures, under names with their units, and how fields are written.

use mindful_core::contract::wait::WaitClass;
use mindful_oracle_terms::{self as oracle, event, statistic};
use serde::Serialize;

use crate::number::Printed;
use crate::old_step::OldStep;
use crate::report::{Report, Scope, Waited};

pub(super) const MIB: f64 = 1_048_576.0;

#[derive(Debug, Clone, Copy)]
pub struct ReportRow<'a> {
    pub(super) step: &'a OldStep,
    pub(super) report: &'a Report,
}

impl<'a> ReportRow<'a> {
    /// The row of `step`; `None` if it is not from an Oracle report.
    pub fn of(step: &'a OldStep) -> Option<Self> {
        Some(Self { step, report: step.report.as_deref()? })
    }
}

/// Null is unknown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    pub file: String,
    pub report: &'static str,
    pub database: Option<String>,
    /// Name of the instance; null of a cluster.
    pub instance: Option<String>,
    pub version: Option<String>,
    pub cluster: Option<bool>,
    pub host: Option<String>,
    pub cpus: Option<f64>,
    pub begin: Option<String>,
    pub end: Option<String>,
    /// Sessions, by the name of the file.
    pub sessions: Option<u32>,
    pub elapsed_s: Option<f64>,
    pub db_time_s: Option<f64>,
    pub average_active_sessions: Option<f64>,
    /// Cores that the instance used, foreground and background.
    pub db_cpu_cores: Option<f64>,
    pub executes_per_s: Option<f64>,
    /// Blocks requested of the cache per second.
    pub logical_reads_per_s: Option<f64>,
    pub blocks_read_per_s: Option<f64>,
    pub read_requests_per_s: Option<f64>,
    /// All read requests per second, including those of control files and backups.
    pub all_read_requests_per_s: Option<f64>,
    /// MiB (2^20 bytes) read per second by all of them.
    pub all_read_mib_per_s: Option<f64>,
    pub blocks_written_per_s: Option<f64>,
    /// Requests that wrote them per second, without redo.
    pub write_requests_per_s: Option<f64>,
    /// All write requests per second, redo among them.
    pub all_write_requests_per_s: Option<f64>,
    pub write_requests_but_redo_per_s: Option<f64>,
    /// MiB written per second by all of them, redo among them.
    pub all_write_mib_per_s: Option<f64>,
    pub redo_writes_per_s: Option<f64>,
    pub redo_mib_per_s: Option<f64>,
    /// Share of logical reads that the cache served, percent.
    pub buffer_hit_pct: Option<f64>,
    /// Mean time of waits of sessions for a single block.
    pub single_read: Latency,
    /// The same of reads of neighbouring blocks.
    pub scattered_read: Latency,
    /// Of reads of several blocks at once: above 0 waits there was prefetch.
    pub parallel_read: Latency,
    /// Of reads past the cache.
    pub direct_read: Latency,
    /// Of reads of temporary segments past the cache.
    pub direct_read_temp: Latency,
    /// Of sessions' waits for redo.
    pub log_sync: Latency,
    /// Of the background's batches of writes.
    pub parallel_write: Latency,
    /// Of the background's writes of redo.
    pub log_write: Latency,
    /// The event with the most time, without idle waits.
    pub top_event: Option<String>,
    /// Its share of database time as printed, percent.
    pub top_event_pct: Option<f64>,
    pub cut: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Latency {
    /// Waits; null where the report does not list them.
    pub waits: Option<f64>,
    pub mean_us: Option<f64>,
    /// Largest error of the mean because of the digits of the printed time, us.
    pub error_us: Option<f64>,
}

impl Latency {
    fn of(waited: Option<Waited>) -> Self {
        Self {
            waits: waited.and_then(Waited::waits),
            mean_us: waited.and_then(Waited::mean_us),
            error_us: waited.and_then(Waited::error_us),
        }
    }
}

pub(super) fn value(figure: Option<Printed>) -> Option<f64> {
    figure.map(|figure| figure.value)
}

pub fn figures(row: ReportRow<'_>) -> Figures {
    let ReportRow { step, report } = row;
    let identity = &report.identity;
    let sessions_wait = |event| Latency::of(report.foreground_waits(event));
    let background_waits = |event| Latency::of(report.background_waits(event));
    let rate = |name: &str| value(report.rate(name));
    let mib = |name: &str| rate(name).map(|bytes| bytes / MIB);
    let (all_writes, redo_writes) = (rate(statistic::ALL_WRITE_REQUESTS), rate(statistic::REDO_WRITES));
    // Some releases of Statspack list new idle waits first.
    let busiest = report.top.iter().find(|line| oracle::class(&line.name) != WaitClass::Idle);
    Figures {
        file: step.file.clone(),
        report: step.what,
        database: identity.database.clone(),
        instance: identity.instance.clone().filter(|_| report.scope == Scope::Instance),
        version: identity.release.clone(),
        cluster: identity.cluster,
        host: identity.host.clone(),
        cpus: identity.cpus,
        begin: report.snapshots.begin.clone(),
        end: report.snapshots.end.clone(),
        sessions: step.sessions,
        elapsed_s: value(report.elapsed()),
        db_time_s: value(report.db_time_s()),
        average_active_sessions: value(report.active_sessions()),
        db_cpu_cores: value(report.cpu_cores()),
        executes_per_s: rate(statistic::EXECUTES),
        logical_reads_per_s: rate(statistic::LOGICAL_READS),
        blocks_read_per_s: rate(statistic::BLOCKS_READ),
        read_requests_per_s: rate(statistic::READ_REQUESTS),
        all_read_requests_per_s: rate(statistic::ALL_READ_REQUESTS),
        all_read_mib_per_s: mib(statistic::ALL_READ_BYTES),
        blocks_written_per_s: rate(statistic::BLOCKS_WRITTEN),
        write_requests_per_s: rate(statistic::WRITE_REQUESTS),
        all_write_requests_per_s: all_writes,
        write_requests_but_redo_per_s: all_writes.zip(redo_writes).map(|(all, redo)| (all - redo).max(0.0)),
        all_write_mib_per_s: mib(statistic::ALL_WRITE_BYTES),
        redo_writes_per_s: redo_writes,
        redo_mib_per_s: mib(statistic::REDO_BYTES),
        buffer_hit_pct: report.efficiency.get("buffer hit %").copied(),
        single_read: sessions_wait(event::SINGLE_READ),
        scattered_read: sessions_wait(event::SCATTERED_READ),
        parallel_read: sessions_wait(event::PARALLEL_READ),
        direct_read: sessions_wait(event::DIRECT_READ),
        direct_read_temp: sessions_wait(event::DIRECT_READ_TEMP),
        log_sync: sessions_wait(event::LOG_SYNC),
        parallel_write: background_waits(event::PARALLEL_WRITE),
        log_write: background_waits(event::LOG_WRITE),
        top_event: busiest.map(|line| line.name.clone()),
        top_event_pct: value(busiest.and_then(|line| line.percent)),
        cut: report.cut,
    }
}

/// A field of a table for other programs: quoted if necessary.
fn field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '@']) || (text.starts_with('-') && text.parse::<f64>().is_err());
    let text = harmless(text, &[]);
    let text = if formula { format!("'{text}") } else { text };
    if text.contains([',', '"', '\'']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// A line of a table for other programs.
pub fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    cells.map(field).collect::<Vec<_>>().join(",") + "\n"
}

pub fn piped(text: &str) -> String {
    harmless(text, &['|'])
}

/// `text` with a space for each control character, and for `marks`.
fn harmless(text: &str, marks: &[char]) -> String {
    text.chars().map(|c| if c.is_control() || marks.contains(&c) { ' ' } else { c }).collect()
}
