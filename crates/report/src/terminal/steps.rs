//! Many steps in one table, and where more sessions stop helping.

use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::result::{KneeSummary, StepSummary};

use super::Page;
use crate::escape;
use crate::figure::{UNKNOWN, maybe, number, percent};
use crate::table::Side::{Left, Right};
use crate::table::Table;

/// From so many steps on, a table tells more than a page for each.
pub const FEWEST: usize = 3;

/// A line a step, in the order of sessions.
pub fn table(page: &mut Page, analysis: &Analysis) {
    let varied = analysis.summary.steps.iter().any(|step| !varied(step).is_empty());
    let mut header = vec![
        ("step", Right),
        ("sessions", Right),
        ("blocks/s", Right),
        ("phys reads/s", Right),
        ("mean us", Right),
        ("p99 us", Right),
        ("hits", Right),
        ("server cores", Right),
        ("limited by", Left),
    ];
    if varied {
        header.insert(1, ("values", Left));
    }
    let mut table = Table::new(&header);
    let mut steps: Vec<_> = (1..).zip(&analysis.steps).collect();
    steps.sort_by_key(|(number, step)| (step.summary.sessions, *number));
    for (number, step) in steps {
        let mut cells = cells(number, step);
        if varied {
            cells.insert(1, self::varied(&step.summary));
        }
        table.row(cells);
    }
    page.blank();
    page.table(&table);
    if let Some(knee) = &analysis.summary.knee {
        self::knee(page, "knee", knee);
    }
    for curve in &analysis.summary.curves {
        let values: Vec<_> =
            curve.values.iter().map(|(key, value)| format!("{}={}", escape(key), escape(value))).collect();
        self::knee(page, &format!("knee at {}", values.join(" ")), &curve.knee);
    }
}

/// What a step differs in from the others, sessions apart.
fn varied(step: &StepSummary) -> String {
    let values = step.point.values.iter().filter(|(key, _)| key.as_str() != "sessions");
    let mut values: Vec<_> = values.map(|(key, value)| format!("{}={}", escape(key), escape(value))).collect();
    if step.point.drift_check {
        values.push("again".to_owned());
    }
    values.join(" ")
}

fn cells(step_number: usize, step: &StepAnalysis) -> Vec<String> {
    let summary = &step.summary;
    let op = summary.ops.select.as_ref().or(summary.ops.update.as_ref());
    vec![
        step_number.to_string(),
        summary.sessions.to_string(),
        maybe(summary.blocks_visited_per_s),
        maybe(summary.physical_reads_per_s),
        maybe(op.and_then(|op| op.mean_us)),
        maybe(op.and_then(|op| op.p99_us)),
        percent(summary.hit_ratio),
        maybe(summary.cpu.db_cores),
        step.verdict.as_ref().map_or(UNKNOWN, |verdict| verdict.limit.name()).to_owned(),
    ]
}

fn knee(page: &mut Page, heading: &str, knee: &KneeSummary) {
    page.heading(heading);
    let interval = |name: &str| {
        let interval = knee.intervals.get(name);
        interval.map_or_else(String::new, |[low, high]| format!(" ({} to {})", number(*low), number(*high)))
    };
    let mut pairs = Vec::new();
    let mut pair = |name: &str, key: &str, value: Option<String>| {
        if let Some(value) = value {
            pairs.push((name.to_owned(), format!("{value}{}", interval(key))));
        }
    };
    let model = knee.model.as_deref().map(escape);
    pair("model", "model", model.or_else(|| knee.why_not.as_deref().map(|why| format!("none: {}", escape(why)))));
    pair("sessions start to queue at", "asymptote_sessions", knee.asymptote_sessions.map(number));
    pair("best throughput for its latency", "best_power_sessions", knee.best_power_sessions.map(number));
    pair("most sessions within the objective", "slo_sessions", knee.slo_sessions.map(|n| n.to_string()));
    pair("throughput falls beyond", "peak_sessions", knee.peak_sessions.map(number));
    pair("highest throughput, blocks/s", "max_per_s", knee.max_per_s.map(number));
    page.pairs(&pairs);
}
