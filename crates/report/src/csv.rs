//! One line a step, for spreadsheets.

use std::fmt::Write as _;

use mindful_analyze::Analysis;
use mindful_analyze::StepAnalysis;
use mindful_core::result::{OpSummary, StepSummary};

type Column = (&'static str, fn(&StepSummary) -> Option<f64>);

/// Columns after those that name the run. Units are in the names.
const COLUMNS: &[Column] = &[
    ("sessions", |s| Some(f64::from(s.sessions))),
    ("schemas", |s| Some(f64::from(s.schemas))),
    ("scale_blocks", |s| Some(s.scale as f64)),
    ("work_unit_blocks", |s| Some(s.work_unit as f64)),
    ("update_pct", |s| Some(s.update_pct)),
    ("update_pct_realised", |s| s.update_pct_realised),
    ("duration_s", |s| s.duration_s),
    ("start_skew_ms", |s| s.start_skew_ms),
    ("select_per_s", |s| select(s, |op| Some(op.per_s))),
    ("select_mean_us", |s| select(s, |op| op.mean_us)),
    ("select_p50_us", |s| select(s, |op| op.p50_us)),
    ("select_p95_us", |s| select(s, |op| op.p95_us)),
    ("select_p99_us", |s| select(s, |op| op.p99_us)),
    ("select_p999_us", |s| select(s, |op| op.p999_us)),
    ("select_max_us", |s| select(s, |op| op.max_us)),
    ("update_per_s", |s| update(s, |op| Some(op.per_s))),
    ("update_mean_us", |s| update(s, |op| op.mean_us)),
    ("update_p50_us", |s| update(s, |op| op.p50_us)),
    ("update_p95_us", |s| update(s, |op| op.p95_us)),
    ("update_p99_us", |s| update(s, |op| op.p99_us)),
    ("update_p999_us", |s| update(s, |op| op.p999_us)),
    ("update_max_us", |s| update(s, |op| op.max_us)),
    ("scan_per_s", |s| s.ops.scan.as_ref().map(|op| op.per_s)),
    ("scan_direct_share", |s| s.scan_direct_share),
    ("blocks_visited_per_s", |s| s.blocks_visited_per_s),
    ("logical_reads_per_s", |s| s.logical_reads_per_s),
    ("physical_reads_per_s", |s| s.physical_reads_per_s),
    ("process_reads_per_s", |s| s.process_reads_per_s),
    ("device_reads_per_s", |s| s.device_reads_per_s),
    ("page_cache_share", |s| s.page_cache_share),
    ("hit_ratio", |s| s.hit_ratio),
    ("read_latency_mean_us", |s| s.read_latency_mean_us),
    ("device_read_p50_us", |s| s.device.read_p50_us),
    ("device_read_p99_us", |s| s.device.read_p99_us),
    ("device_write_p50_us", |s| s.device.write_p50_us),
    ("device_write_p99_us", |s| s.device.write_p99_us),
    ("physical_writes_per_s", |s| s.physical_writes_per_s),
    ("log_bytes_per_s", |s| s.log_bytes_per_s),
    ("commits_per_s", |s| s.commits_per_s),
    ("db_cores", |s| s.cpu.db_cores),
    ("host_busy_share", |s| s.cpu.host_busy_share),
    ("client_cores", |s| s.cpu.client_cores),
    ("db_us_per_physical_read", |s| s.cpu.db_us_per_physical_read),
    ("db_us_per_logical_read", |s| s.cpu.db_us_per_logical_read),
];

fn select(step: &StepSummary, figure: fn(&OpSummary) -> Option<f64>) -> Option<f64> {
    step.ops.select.as_ref().and_then(figure)
}

fn update(step: &StepSummary, figure: fn(&OpSummary) -> Option<f64>) -> Option<f64> {
    step.ops.update.as_ref().and_then(figure)
}

/// Columns that need more than the summary: a step and the length of its blocks, bytes. A MiB is 2^20 bytes.
type Derived = (&'static str, fn(&StepAnalysis, Option<f64>) -> Option<f64>);

const DERIVED: &[Derived] = &[
    ("read_mib_per_s", |s, block| Some(s.summary.physical_reads_per_s? * block? / MIB)),
    ("write_mib_per_s", |s, block| Some(s.summary.physical_writes_per_s? * block? / MIB)),
    ("log_mib_per_s", |s, _| Some(s.summary.log_bytes_per_s? / MIB)),
    ("log_writes_per_s", |s, _| s.counters.rate("wal_write")),
];

const MIB: f64 = 1_048_576.0;

/// A header and a line a step; an unknown figure is an empty field.
pub fn steps(analysis: &Analysis) -> String {
    let summary = &analysis.summary;
    let mut text = String::from("id,tag,validity,step");
    for name in COLUMNS.iter().map(|column| column.0).chain(DERIVED.iter().map(|column| column.0)) {
        text.push(',');
        text.push_str(name);
    }
    text.push_str(",like,commit,point,drift_check,verdict\n");
    let loaded = summary.dataset.as_ref().map(|dataset| dataset.block_bytes);
    for (number, step) in (1..).zip(&analysis.steps) {
        let validity = format!("{:?}", summary.validity).to_lowercase();
        let tag = field(summary.tag.as_deref().unwrap_or(""));
        // Writing to a string cannot fail.
        let _ = write!(text, "{},{tag},{validity},{number}", field(&summary.id));
        let block = step.summary.block_bytes.or(loaded).map(|bytes| bytes as f64);
        let figures = COLUMNS.iter().map(|(_, figure)| figure(&step.summary));
        for figure in figures.chain(DERIVED.iter().map(|(_, figure)| figure(step, block))) {
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
