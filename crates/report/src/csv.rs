//! One line a step, for spreadsheets.

use std::fmt::Write as _;

use mindful_core::result::{OpSummary, StepSummary, Summary};

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

/// A header and a line a step; an unknown figure is an empty field.
pub fn steps(summary: &Summary) -> String {
    let mut text = String::from("id,tag,validity,step");
    for (name, _) in COLUMNS {
        text.push(',');
        text.push_str(name);
    }
    text.push_str(",like,commit");
    text.push('\n');
    for (number, step) in (1..).zip(&summary.steps) {
        let validity = format!("{:?}", summary.validity).to_lowercase();
        let tag = field(summary.tag.as_deref().unwrap_or(""));
        let _ = write!(text, "{},{tag},{validity},{number}", field(&summary.id));
        for (_, figure) in COLUMNS {
            text.push(',');
            if let Some(value) = figure(step) {
                text.push_str(&value.to_string());
            }
        }
        let like = step.like.kit().unwrap_or("mindful");
        let _ = write!(text, ",{},{}", field(like), field(step.commit.as_deref().unwrap_or("")));
        text.push('\n');
    }
    text
}

/// A text field: quoted when it must be (RFC 4180), and never the start of a spreadsheet's formula.
fn field(text: &str) -> String {
    let text = crate::escape(text);
    let formula = text.starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{text}") } else { text };
    if text.contains([',', '"', '\'']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
