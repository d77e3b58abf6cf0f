//! A run for programs that keep figures over time: Bencher, github-action-benchmark, and readers of OpenMetrics.

use std::fmt::Write as _;

use mindful_analyze::{StepAnalysis, curve};
use serde_json::{Map, Value, json};

use crate::charts::Side;
use crate::charts::ladder::{ladders, middle};
use crate::charts::latency_iops::{median, p99};
use crate::escape;

/// A figure: its name, its unit, whether more of it is better, and its value.
type Kept = (&'static str, &'static str, bool, fn(&StepAnalysis) -> Option<f64>);

const KEPT: [Kept; 5] = [
    ("blocks-per-second", "blocks/s", true, |step| curve::throughput(&step.summary)),
    ("physical-reads-per-second", "reads/s", true, |step| step.summary.physical_reads_per_s),
    ("latency-p50", "us", false, median),
    ("latency-p99", "us", false, p99),
    ("server-cpu-per-logical-read", "us", false, |step| step.summary.cpu.db_us_per_logical_read),
];

/// A figure of one load with the least and the most if it was measured more than once.
type Figure = (&'static Kept, f64, Option<[f64; 2]>);

/// `(benchmark, its figures)`: one a load; a plain run has one.
fn benchmarks(side: Side) -> Vec<(String, Vec<Figure>)> {
    let mut all = Vec::new();
    for ladder in ladders(side) {
        for (load, steps) in &ladder.by_load {
            let figures = KEPT.iter().filter_map(|kept| middle(steps, kept.3).map(|(value, ends)| (kept, value, ends)));
            all.push((format!("{}, {load} {}", ladder.name, ladder.loads), figures.collect()));
        }
    }
    all
}

/// Bencher Metric Format: `{benchmark: {measure: {value, lower_value, upper_value}}}`.
pub fn bencher(side: Side) -> String {
    let mut all = Map::new();
    for (name, figures) in benchmarks(side) {
        let mut measures = Map::new();
        for ((name, ..), value, ends) in figures {
            let mut measure = json!({ "value": value });
            if let Some([low, high]) = ends {
                (measure["lower_value"], measure["upper_value"]) = (low.into(), high.into());
            }
            measures.insert((*name).to_owned(), measure);
        }
        all.insert(name, measures.into());
    }
    format!("{:#}\n", Value::Object(all))
}

/// Input for github-action-benchmark: `customBiggerIsBetter` (`more_is_better`) or `customSmallerIsBetter`.
pub fn github((run, analysis): Side, more_is_better: bool) -> String {
    let notice = analysis.summary.notice.as_ref().map(|notice| format!(". {}", escape(notice))).unwrap_or_default();
    let extra = format!("run {}, {}{notice}", analysis.summary.id, analysis.summary.validity.name());
    let entry = |name: &str, ((figure, unit, ..), value, ends): &Figure| {
        let mut entry = json!({ "name": format!("{name}: {figure}"), "unit": unit, "value": value, "extra": extra });
        if let Some([low, high]) = ends {
            entry["range"] = format!("{}", (high - low) / 2.0).into();
        }
        entry
    };
    let of = |(name, figures): (String, Vec<Figure>)| {
        let wanted = figures.into_iter().filter(|((.., more, _), ..)| *more == more_is_better);
        wanted.map(|figure| entry(&name, &figure)).collect::<Vec<_>>()
    };
    let entries: Vec<Value> = benchmarks((run, analysis)).into_iter().flat_map(of).collect();
    format!("{:#}\n", Value::Array(entries))
}

/// A gauge of OpenMetrics: name with its unit, help, and the figure in base units.
type Gauge = (&'static str, &'static str, fn(&StepAnalysis) -> Option<f64>);

const GAUGES: [Gauge; 7] = [
    ("mindful_blocks_per_second", "Blocks visited per second", |step| curve::throughput(&step.summary)),
    ("mindful_physical_reads_per_second", "Blocks the database read per second", |step| {
        step.summary.physical_reads_per_s
    }),
    ("mindful_device_reads_per_second", "Read requests completed by the device per second", |step| {
        step.summary.device_reads_per_s
    }),
    ("mindful_latency_p50_seconds", "Median of the main operation", |step| median(step).map(|us| us / 1e6)),
    ("mindful_latency_p99_seconds", "99th percentile of the main operation", |step| p99(step).map(|us| us / 1e6)),
    ("mindful_hit_ratio", "Share of logical reads that the database's cache served", |step| step.summary.hit_ratio),
    ("mindful_server_cores", "Cores' worth of CPU that the server used", |step| step.summary.cpu.db_cores),
];

/// OpenMetrics text: a gauge a figure, a sample a step; unknown figures have no sample. The target's notice is a label,
/// because the format has no comments.
pub fn openmetrics((run, analysis): Side) -> String {
    let mut text = String::new();
    let summary = &analysis.summary;
    for (name, help, figure) in GAUGES {
        let _ = write!(text, "# TYPE {name} gauge\n# HELP {name} {help}.\n");
        for (number, step) in (1..).zip(&analysis.steps) {
            let Some(value) = figure(step).filter(|value| value.is_finite()) else { continue };
            let sessions = step.summary.sessions.map_or_else(String::new, |sessions| sessions.to_string());
            let labels = [
                ("run", summary.id.as_str()),
                ("engine", &run.head.engine),
                ("target", &summary.target),
                ("tag", summary.tag.as_deref().unwrap_or_default()),
                ("validity", summary.validity.name()),
                ("sessions", &sessions),
                ("step", &number.to_string()),
            ]
            .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)));
            let _ = writeln!(text, "{name}{{{}}} {value}", labels.join(","));
        }
    }
    if let Some(notice) = &summary.notice {
        let name = "mindful_notice";
        let _ = write!(text, "# TYPE {name} info\n# HELP {name} Notice that must accompany these figures.\n");
        let _ = writeln!(text, "{name}_info{{run=\"{}\",notice=\"{}\"}} 1", escaped(&summary.id), escaped(notice));
    }
    text.push_str("# EOF\n");
    text
}

/// A value of a label with the escapes of the format, which does not allow other control characters.
fn escaped(value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    escaped.replace(char::is_control, "\u{fffd}")
}
