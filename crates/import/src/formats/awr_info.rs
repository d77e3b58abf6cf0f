//! Rows of SLOB's `awr_info` and `statspack_info`: a report each, as its users have kept them for years.

use std::io::BufRead;

use mindful_core::Result;
use mindful_core::result::finding::codes;
use mindful_oracle_terms::{event, statistic};

use super::format::Format;
use crate::input;
use crate::number::{self, Printed};
use crate::old_step::{OldStep, sessions_of};
use crate::report::step::{self, MOST_COLUMNS, MOST_REPORTS};
use crate::report::{EventLine, EventList, Report, Statistic};

const WHAT: &str = "row of awr_info";
const BEGIN: &str = "FILE|SESSIONS|ELAPSED|";
const MIB: f64 = 1_048_576.0;
const LATENCIES: [(&str, &str); 3] =
    [("DFSR_LAT", event::SINGLE_READ), ("DPR_LAT", event::DIRECT_READ), ("DFPR_LAT", event::PARALLEL_READ)];
/// Other events of sessions: a row does not show how often they were waited for.
const WITHOUT_COLUMNS: [&str; 3] = [event::SCATTERED_READ, event::DIRECT_READ_TEMP, event::LOG_SYNC];
/// Kept as facts, because a row does not show how many waits they are of.
const KEPT: [&str; 4] = ["DPR_LAT", "DFPR_LAT", "DFPW_LAT", "LFPW_LAT"];

/// A header, and a line a report.
pub(crate) struct AwrInfo;

impl Format for AwrInfo {
    fn what(&self) -> &'static str {
        WHAT
    }

    fn recognises(&self, head: &str) -> bool {
        head.lines().any(is_header)
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<OldStep>> {
        let text = input::text(name, input)?;
        let mut lines = text.lines().skip_while(|line| !is_header(line));
        let columns: Vec<&str> =
            lines.next().unwrap_or_default().split('|').map(str::trim).take(MOST_COLUMNS).collect();
        let (mut rows, mut damaged) = (Vec::new(), 0);
        for line in lines.filter(|line| !line.trim().is_empty() && !is_header(line)) {
            damaged += u64::from(line.split('|').count() != columns.len());
            if line.contains('|') && rows.len() <= MOST_REPORTS {
                rows.push(Cells::of(&columns, line));
            }
        }
        let reports = rows.iter().map(Cells::report);
        let mut steps = step::steps(name, |_| WHAT, reports)?;
        for (step, row) in steps.iter_mut().zip(&rows) {
            row.complete(step);
        }
        if let Some(step) = steps.first_mut() {
            step.add_damage(damaged, "row");
        }
        Ok(steps)
    }
}

fn is_header(line: &str) -> bool {
    line.trim_start_matches('\u{feff}').trim_start().starts_with(BEGIN)
}

struct Cells<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Cells<'a> {
    fn of(columns: &[&'a str], line: &'a str) -> Self {
        Self(columns.iter().copied().zip(line.split('|').map(str::trim)).collect())
    }

    fn text(&self, column: &str) -> Option<&'a str> {
        let cell = self.0.iter().find(|(name, _)| *name == column)?.1;
        Some(cell).filter(|cell| !cell.is_empty())
    }

    fn printed(&self, column: &str) -> Option<Printed> {
        number::count(self.text(column)?).filter(within)
    }

    fn report(&self) -> Report {
        let mut report = Report::default();
        let elapsed_s = self.printed("ELAPSED");
        let over = |per_s: Option<Printed>| Some(per_s?.value * elapsed_s?.value);
        report.snapshots.elapsed_min = elapsed_s.map(|s| s.scaled(1.0 / 60.0));
        report.snapshots.db_time_min = over(self.printed("DB Tm")).map(|s| Printed::exact(s / 60.0));
        let cpu = over(self.printed("DB CPU")).map(|s| ("DB CPU".to_owned(), s));
        report.time_model.extend(cpu);
        let mib = |column: &str| self.printed(column).map(|mib| mib.scaled(MIB));
        for (line, per_s) in [
            ("logical reads", self.printed("LIO")),
            ("executes", self.printed("EXECUTES")),
            ("db cpu(s)", self.printed("DB CPU")),
            ("db time(s)", self.printed("DB Tm")),
            ("redo size", mib("REDO_MBS")),
        ] {
            report.profile.extend(per_s.map(|per_s| (line.to_owned(), per_s)));
        }
        for (name, per_s) in [
            (statistic::READ_REQUESTS, self.printed("PREADS")),
            (statistic::ALL_READ_BYTES, mib("READ_MBS")),
            (statistic::WRITE_REQUESTS, self.printed("PWRITES")),
            (statistic::ALL_WRITE_BYTES, mib("WRITE_MBS")),
        ] {
            report.statistics.extend(per_s.map(|_| (name.to_owned(), Statistic { total: None, per_s })));
        }
        let reads = over(self.printed("PREADS"));
        let timed = LATENCIES.into_iter().filter_map(|(name, event)| self.waits(name, event, reads));
        let without_columns = WITHOUT_COLUMNS.map(|event| EventLine { name: event.to_owned(), ..EventLine::default() });
        report.foreground = Some(EventList { lines: timed.chain(without_columns).collect(), whole: true });
        report.top.extend(self.text("TOP WAIT").map(top));
        let kept = KEPT.into_iter().filter_map(|name| Some((format!("{name} us"), self.text(name)?.to_owned())));
        report.parameters.extend(kept);
        report
    }

    /// The line of an event; `None` where nothing waited for it. Its waits are known of single reads alone: as many as
    /// there were requests.
    fn waits(&self, column: &str, event: &str, reads: Option<f64>) -> Option<EventLine> {
        let line = EventLine { name: event.to_owned(), ..EventLine::default() };
        let Some(latency) = self.text(column).and_then(number::count).filter(within) else { return Some(line) };
        if latency.value <= 0.0 {
            return None;
        }
        let Some(reads) = reads.filter(|reads| *reads > 0.0 && event == event::SINGLE_READ) else { return Some(line) };
        Some(EventLine { waits: Some(Printed::exact(reads)), time_us: Some(latency.scaled(reads)), ..line })
    }

    fn complete(&self, step: &mut OldStep) {
        if let Some(file) = self.text("FILE") {
            file.clone_into(&mut step.file);
        }
        let column = self.text("SESSIONS").and_then(|sessions| sessions.parse().ok());
        step.sessions = column.or_else(|| sessions_of(&step.file));
        let text = "A row of awr_info contains the mean time of single reads, but not their number. mindful \
                    assumes as many as read requests. The row does not name a database or a host.";
        step.add_finding(codes::IMPORTED_FIGURES, text, step.file.clone());
    }
}

fn within(figure: &Printed) -> bool {
    (0.0..1e15).contains(&figure.value)
}

/// `db file sequential read 42.6 %`.
fn top(text: &str) -> EventLine {
    let share = text.strip_suffix('%').and_then(|text| text.trim_end().rsplit_once(' '));
    let (name, percent) = match share.map(|(name, share)| (name, number::count(share))) {
        Some((name, Some(share))) => (name.trim_end(), Some(share.value)),
        _ => (text, None),
    };
    EventLine { name: name.to_owned(), percent, ..EventLine::default() }
}
