//! Rows of SLOB's `awr_info` and `statspack_info`: a report each, as its users have kept them for years.

use mindful_oracle_terms::{event, statistic};

use super::format::Format;
use super::report_row::{Cells, MIB, RowFormat};
use crate::input;
use crate::number::{self, Printed};
use crate::report::{EventLine, EventList, Report, Statistic, Waited};

const BEGIN: &str = "FILE|SESSIONS|ELAPSED|";
const LATENCIES: [(&str, &str); 3] =
    [("DFSR_LAT", event::SINGLE_READ), ("DPR_LAT", event::DIRECT_READ), ("DFPR_LAT", event::PARALLEL_READ)];
/// Other events of sessions: a row does not contain the number of their waits.
const WITHOUT_COLUMNS: [&str; 3] = [event::SCATTERED_READ, event::DIRECT_READ_TEMP, event::LOG_SYNC];
/// Stored as facts, because a row does not contain the number of their waits.
const KEPT: [&str; 4] = ["DPR_LAT", "DFPR_LAT", "DFPW_LAT", "LFPW_LAT"];

const ROWS: RowFormat = RowFormat {
    what: "row of awr_info",
    file: "FILE",
    report,
    remark: "A row of awr_info contains the mean time of single reads, but not their number. mindful assumes as many as read \
             requests. The row does not name a database or a host.",
};

/// A header, and a line a report.
pub(super) static AWR_INFO: Format = Format {
    what: ROWS.what,
    recognises: |head| head.lines().any(is_header),
    read: |name, input| {
        let text = input::text(name, input)?;
        let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let mut lines = text.lines().skip_while(|line| !is_header(line));
        let columns = cells(lines.next().unwrap_or_default());
        let rows = lines.filter(|line| !line.trim().is_empty() && !is_header(line));
        ROWS.steps(name, &columns, rows.map(cells))
    },
};

fn is_header(line: &str) -> bool {
    line.trim_start().starts_with(BEGIN)
}

fn report(row: &Cells) -> Report {
    let mut report = Report::default();
    let elapsed_s = row.printed("ELAPSED");
    let over = |per_s: Option<Printed>| Some(per_s?.value * elapsed_s?.value);
    report.snapshots.elapsed_min = elapsed_s.map(|s| s.scaled(1.0 / 60.0));
    report.snapshots.db_time_min = over(row.printed("DB Tm")).map(|s| Printed::exact(s / 60.0));
    let cpu = over(row.printed("DB CPU")).map(|s| ("DB CPU".to_owned(), Some(Printed::exact(s))));
    report.time_model.extend(cpu);
    let mib = |column: &str| row.printed(column).map(|mib| mib.scaled(MIB));
    for (line, per_s) in [
        ("logical reads", row.printed("LIO")),
        ("executes", row.printed("EXECUTES")),
        ("db cpu(s)", row.printed("DB CPU")),
        ("db time(s)", row.printed("DB Tm")),
        ("redo size", mib("REDO_MBS")),
    ] {
        report.profile.extend(per_s.map(|per_s| (line.to_owned(), per_s)));
    }
    for (name, per_s) in [
        (statistic::READ_REQUESTS, row.printed("PREADS")),
        (statistic::ALL_READ_BYTES, mib("READ_MBS")),
        (statistic::WRITE_REQUESTS, row.printed("PWRITES")),
        (statistic::ALL_WRITE_BYTES, mib("WRITE_MBS")),
    ] {
        report.statistics.extend(per_s.map(|_| (name.to_owned(), Statistic { total: None, per_s })));
    }
    let reads = over(row.printed("PREADS"));
    let timed = LATENCIES.into_iter().filter_map(|(name, event)| waits(row, name, event, reads));
    let without_columns = WITHOUT_COLUMNS.map(|event| EventLine { name: event.to_owned(), ..EventLine::default() });
    report.foreground = Some(EventList { lines: timed.chain(without_columns).collect(), whole: true });
    report.top.extend(row.text("TOP WAIT").map(top));
    let kept = KEPT.into_iter().filter_map(|name| Some((format!("{name} us"), row.text(name)?.to_owned())));
    report.parameters.extend(kept);
    report
}

/// The line of an event; `None` without waits. The number of waits is known only for single reads, from the number of
/// requests.
fn waits(row: &Cells, column: &str, event: &str, reads: Option<f64>) -> Option<EventLine> {
    let line = EventLine { name: event.to_owned(), ..EventLine::default() };
    let Some(latency) = row.printed(column) else { return Some(line) };
    if latency.value <= 0.0 {
        return None;
    }
    let Some(reads) = reads.filter(|reads| *reads > 0.0 && event == event::SINGLE_READ) else { return Some(line) };
    let waited = Waited { waits: Some(Printed::exact(reads)), time_us: Some(latency.scaled(reads)), mean_us: None };
    Some(EventLine { waited, ..line })
}

/// `db file sequential read 42.6 %`.
fn top(text: &str) -> EventLine {
    let share = text.strip_suffix('%').and_then(|text| text.trim_end().rsplit_once(' '));
    let (name, percent) = match share.map(|(name, share)| (name, number::count(share))) {
        Some((name, Some(share))) => (name.trim_end(), Some(share)),
        _ => (text, None),
    };
    EventLine { name: name.to_owned(), percent, ..EventLine::default() }
}
