//! Our own rows: JSON, CSV, and cells of a table for the eye.

use serde_json::Value;

use super::figures::{Latency, ReportRow, figures, line};

/// A list of all figures, null where unknown; one newline at the end.
pub fn json(rows: &[ReportRow<'_>]) -> String {
    let rows: Vec<_> = rows.iter().map(|row| figures(*row)).collect();
    let mut text = serde_json::to_string_pretty(&rows).unwrap_or_else(|_| unreachable!("figures are plain data"));
    text.push('\n');
    text
}

/// A header and a line a report; an unknown figure is an empty field.
pub fn csv(rows: &[ReportRow<'_>]) -> String {
    let rows: Vec<_> = rows.iter().map(|row| flat(*row)).collect();
    let names = rows.first().into_iter().map(|cells| line(cells.iter().map(|(name, _)| name.as_str())));
    names.chain(rows.iter().map(|cells| line(cells.iter().map(|(_, cell)| cell.as_str())))).collect()
}

/// All figures, those of a latency under its name.
fn flat(row: ReportRow<'_>) -> Vec<(String, String)> {
    let Ok(Value::Object(figures)) = serde_json::to_value(figures(row)) else { return Vec::new() };
    let cell = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut cells = Vec::new();
    for (name, value) in &figures {
        match value {
            Value::Object(parts) => {
                cells.extend(parts.iter().map(|(part, value)| (format!("{name}_{part}"), cell(value))));
            }
            value => cells.push((name.clone(), cell(value))),
        }
    }
    cells
}

/// Titles and cells of a table for the eye; `-` where a figure is unknown.
pub fn table(rows: &[ReportRow<'_>]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    const TITLES: &str =
        "file|sessions|s|AAS|CPU|exec/s|LIO/s|reads/s|MiB/s|writes/s|redo MiB/s|read us|log us|top event";
    let titles = TITLES.split('|').collect();
    (titles, rows.iter().map(|row| cells(*row)).collect())
}

fn cells(row: ReportRow<'_>) -> Vec<String> {
    let figures = figures(row);
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
    let latency = |latency: Latency| match (latency.mean_us, latency.error_us) {
        (Some(us), Some(error)) if error >= 0.5 => format!("{us:.0} +-{error:.0}"),
        (us, _) => number(us),
    };
    let share = figures.top_event_pct.map_or_else(String::new, |percent| format!(" {percent} %"));
    let file = figures.file.rsplit('/').next().unwrap_or(&figures.file).to_owned();
    vec![
        file,
        figures.sessions.map_or_else(|| "-".to_owned(), |sessions| sessions.to_string()),
        number(figures.elapsed_s),
        number(figures.average_active_sessions),
        number(figures.db_cpu_cores),
        number(figures.executes_per_s),
        number(figures.logical_reads_per_s),
        number(figures.read_requests_per_s),
        number(figures.all_read_mib_per_s),
        number(figures.write_requests_per_s),
        number(figures.redo_mib_per_s),
        latency(figures.single_read),
        latency(figures.log_write),
        figures.top_event.map_or_else(|| "-".to_owned(), |name| format!("{name}{share}")),
    ]
}

/// Whole above 100, else with a digit or two.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
