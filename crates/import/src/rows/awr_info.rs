//! The tuple of SLOB's `awr_info` and `statspack_info`, under its old names and separators, without their faults.

use mindful_oracle_terms::event;

use super::figures::{ReportRow, figures, piped};
use crate::report::Waited;

pub const HEADER: &str = "FILE|SESSIONS|ELAPSED|DB CPU|DB Tm|EXECUTES|LIO|PREADS|READ_MBS|PWRITES|WRITE_MBS|REDO_MBS|DFSR_LAT|\
                      DPR_LAT|DFPR_LAT|DFPW_LAT|LFPW_LAT|TOP WAIT";

/// A header and a line a report. An unknown figure is an empty field; the latency of an event that was not waited for is
/// 0, as it always was.
pub fn awr_info(rows: &[ReportRow<'_>]) -> String {
    format!("{HEADER}\n") + &rows.iter().map(|row| line(*row) + "\n").collect::<String>()
}

fn line(row: ReportRow<'_>) -> String {
    let report = row.report;
    let figures = figures(row);
    let whole = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{}", value.trunc()));
    let tenths =
        |value: Option<f64>| value.map_or_else(String::new, |value| format!("{}", (value * 10.0).round() / 10.0));
    let latency = |waited: Option<Waited>| match waited.and_then(Waited::mean_us) {
        Some(us) => format!("{}", us.round()),
        None if waited.is_some() => "0".to_owned(),
        None => String::new(),
    };
    let foreground = |event| latency(report.foreground_waits(event));
    let background = |event| latency(report.background_waits(event));
    let fields = [
        piped(&row.step.file),
        figures.sessions.map_or_else(String::new, |sessions| sessions.to_string()),
        whole(figures.elapsed_s.map(|s| s + 1e-6)),
        tenths(figures.db_cpu_cores),
        tenths(figures.average_active_sessions),
        whole(figures.executes_per_s),
        whole(figures.logical_reads_per_s),
        whole(figures.read_requests_per_s),
        tenths(figures.all_read_mib_per_s),
        whole(figures.write_requests_per_s),
        tenths(figures.all_write_mib_per_s),
        tenths(figures.redo_mib_per_s),
        foreground(event::SINGLE_READ),
        foreground(event::DIRECT_READ),
        foreground(event::PARALLEL_READ),
        background(event::PARALLEL_WRITE),
        background(event::LOG_WRITE),
        top(row),
    ];
    fields.join("|")
}

/// The first line of the list at the head, and its share.
fn top(row: ReportRow<'_>) -> String {
    let Some(line) = row.report.top.first() else { return String::new() };
    let share = line.percent.map_or_else(String::new, |percent| format!(" {} %", percent.value));
    format!("{}{share}", piped(&line.name))
}
