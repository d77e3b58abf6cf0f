//! One line a step, for spreadsheets.

use std::fmt::Write as _;

use mindful_analyze::Analysis;
use mindful_analyze::StepAnalysis;
use mindful_core::metric::shared;
use mindful_core::result::{OpSummary, StepSummary};
use mindful_core::workload::OpKind;

type Column = (&'static str, fn(&StepSummary) -> Option<f64>);

type OfOperation = (&'static str, fn(&OpSummary) -> Option<f64>);

/// What was asked for and when it ran: columns after those that name the run. Units are in the names.
const SETTING: &[Column] = &[
    ("sessions", |s| s.sessions.map(f64::from)),
    ("schemas", |s| s.schemas.map(f64::from)),
    ("scale_blocks", |s| s.scale.map(|blocks| blocks as f64)),
    ("iodepth", |s| s.iodepth.map(f64::from)),
    ("block_bytes", |s| s.block_bytes.map(|bytes| bytes as f64)),
    ("work_unit_blocks", |s| s.work_unit.map(|blocks| blocks as f64)),
    ("update_pct", |s| s.update_pct),
    ("update_pct_realised", |s| s.update_pct_realised),
    ("duration_s", |s| s.duration_s),
    ("start_skew_ms", |s| s.start_skew_ms),
];

/// Figures of each kind of operation, each column under the name of its kind.
const OPERATION: &[OfOperation] = &[
    ("count", |op| Some(op.count as f64)),
    ("per_s", |op| Some(op.per_s)),
    ("mean_us", |op| op.mean_us),
    ("p50_us", |op| op.p50_us),
    ("p95_us", |op| op.p95_us),
    ("p99_us", |op| op.p99_us),
    ("p999_us", |op| op.p999_us),
    ("max_us", |op| op.max_us),
];

/// Figures of the whole step.
const FIGURES: &[Column] = &[
    ("scan_direct_share", |s| s.scan_direct_share),
    ("blocks_visited_per_s", |s| s.blocks_visited_per_s),
    ("logical_reads_per_s", |s| s.logical_reads_per_s),
    ("physical_reads_per_s", |s| s.physical_reads_per_s),
    ("process_reads_per_s", |s| s.process_reads_per_s),
    ("device_reads_per_s", |s| s.device_reads_per_s),
    ("page_cache_share", |s| s.page_cache_share),
    ("hit_ratio", |s| s.hit_ratio),
    ("read_latency_mean_us", |s| s.read_latency_mean_us),
    ("device_one_of", |s| s.device.one_of.map(|n| n as f64)),
    ("device_reads_timed", |s| s.device.reads_timed.map(|n| n as f64)),
    ("device_read_p50_us", |s| s.device.read_p50_us),
    ("device_read_p99_us", |s| s.device.read_p99_us),
    ("device_writes_timed", |s| s.device.writes_timed.map(|n| n as f64)),
    ("device_write_p50_us", |s| s.device.write_p50_us),
    ("device_write_p99_us", |s| s.device.write_p99_us),
    ("physical_writes_per_s", |s| s.physical_writes_per_s),
    ("log_bytes_per_s", |s| s.log_bytes_per_s),
    ("commits_per_s", |s| s.commits_per_s),
    ("db_cores", |s| s.cpu.db_cores),
    ("db_user_cores", |s| s.cpu.db_user_cores),
    ("db_system_cores", |s| s.cpu.db_system_cores),
    ("host_busy_share", |s| s.cpu.host_busy_share),
    ("host_kernel_cores", |s| s.cpu.host_kernel_cores),
    ("host_interrupt_cores", |s| s.cpu.host_interrupt_cores),
    ("steal_share", |s| s.cpu.steal_share),
    ("client_cores", |s| s.cpu.client_cores),
    ("watching_cores", |s| s.cpu.watching_cores),
    ("wait_sampling_share", |s| s.cpu.wait_sampling_share),
    ("db_us_per_physical_read", |s| s.cpu.db_us_per_physical_read),
    ("db_us_per_physical_read_marginal", |s| s.cpu.db_us_per_physical_read_marginal),
    ("db_us_per_logical_read", |s| s.cpu.db_us_per_logical_read),
    ("db_us_per_commit", |s| s.cpu.db_us_per_commit),
    ("iops_per_core", |s| s.cpu.iops_per_core),
    ("cores_per_100k_iops", |s| s.cpu.cores_per_100k_iops),
    ("read_requests_per_s", |s| s.read_requests_per_s),
    ("write_requests_per_s", |s| s.write_requests_per_s),
];

/// Columns that need more than the summary: a step and the length of its blocks, bytes. A MiB is 2^20 bytes.
type Derived = (&'static str, fn(&StepAnalysis, Option<f64>) -> Option<f64>);

const DERIVED: &[Derived] = &[
    ("read_mib_per_s", |s, block| Some(s.summary.physical_reads_per_s? * block? / MIB)),
    ("write_mib_per_s", |s, block| Some(s.summary.physical_writes_per_s? * block? / MIB)),
    ("log_mib_per_s", |s, _| Some(s.summary.log_bytes_per_s? / MIB)),
    ("log_writes_per_s", |s, _| s.counters.rate(shared::LOG_WRITES)),
];

const MIB: f64 = 1_048_576.0;

/// A header and a line a step; an unknown figure is an empty field.
pub fn steps(analysis: &Analysis) -> String {
    let summary = &analysis.summary;
    let loaded = summary.dataset.as_ref().map(|dataset| dataset.block_bytes);
    let mut text = format!("id,tag,validity,step,{},like,commit,point,drift_check,verdict\n", titles().join(","));
    for (number, step) in (1..).zip(&analysis.steps) {
        let validity = format!("{:?}", summary.validity).to_lowercase();
        let tag = field(summary.tag.as_deref().unwrap_or(""));
        // Writing to a string cannot fail.
        let _ = write!(text, "{},{tag},{validity},{number}", field(&summary.id));
        let block = step.summary.block_bytes.or(loaded).map(|bytes| bytes as f64);
        for figure in figures(step, block) {
            text.push(',');
            if let Some(value) = figure {
                text.push_str(&value.to_string());
            }
        }
        text.push_str(&names(step));
        text.push('\n');
    }
    text
}

/// The names of the columns of figures.
fn titles() -> Vec<String> {
    let operation = |kind: OpKind| OPERATION.iter().map(move |(name, _)| format!("{}_{name}", kind.name()));
    let mut titles: Vec<String> = SETTING.iter().map(|column| column.0.to_owned()).collect();
    titles.extend(OpKind::ALL.into_iter().flat_map(operation));
    titles.extend(FIGURES.iter().map(|column| column.0.to_owned()));
    titles.extend(DERIVED.iter().map(|column| column.0.to_owned()));
    titles
}

/// The figures of a step in the order of their titles; `block` is the length of a block in bytes.
fn figures(step: &StepAnalysis, block: Option<f64>) -> Vec<Option<f64>> {
    let summary = &step.summary;
    let operation = |kind: OpKind| {
        let op = summary.ops.of(kind);
        OPERATION.iter().map(move |(_, figure)| op.and_then(figure))
    };
    let mut figures: Vec<_> = SETTING.iter().map(|(_, figure)| figure(summary)).collect();
    figures.extend(OpKind::ALL.into_iter().flat_map(operation));
    figures.extend(FIGURES.iter().map(|(_, figure)| figure(summary)));
    figures.extend(DERIVED.iter().map(|(_, figure)| figure(step, block)));
    figures
}

/// The text columns of a step, each after its comma.
fn names(step: &StepAnalysis) -> String {
    let StepAnalysis { summary, verdict, .. } = step;
    let point: Vec<_> = summary.point.values.iter().map(|(key, value)| format!("{key} {value}")).collect();
    let limit = verdict.as_ref().map_or("", |verdict| verdict.limit.name());
    let (like, commit) = (summary.like.kit().unwrap_or("mindful"), summary.commit.as_deref().unwrap_or(""));
    let check = if summary.point.drift_check { "yes" } else { "no" };
    format!(",{},{},{},{check},{}", field(like), field(commit), field(&point.join("; ")), field(limit))
}

/// A text field: quoted when it must be (RFC 4180), and never the start of a spreadsheet's formula.
fn field(text: &str) -> String {
    let text = crate::escape(text);
    let formula = text.starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{text}") } else { text };
    if text.contains([',', '"', '\'']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
