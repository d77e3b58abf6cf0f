//! Lists of wait events and wait classes.

use mindful_oracle_terms as oracle;

use super::contents::{EventList, Report, Scope};
use super::waited::{EventLine, Waited};
use crate::number::{self, Printed};
use crate::tables::{Table, is_called};

/// Takes a list of waits, if `table` is one; returns the number of its lines.
pub(super) fn read(table: &Table, report: &mut Report) -> usize {
    let title = table.title.as_str();
    if title.contains("Histogram") || title.starts_with("Service") || title.starts_with("SQL") {
        return 0;
    }
    if let Some(name) = table.named("wait class").filter(|_| table.called("event").is_none()) {
        return classes(table, name, report);
    }
    let Some(columns) = table.called("event").and_then(|event| Columns::of(table, event)) else { return 0 };
    let lines = columns.lines(table, report.scope);
    let found = lines.len();
    if found == 0 {
        return 0;
    }
    let more = |into: &mut Option<EventList>, lines: Vec<EventLine>| {
        let list = into.get_or_insert_default();
        list.lines.extend(lines);
        // Each page of a list is a separate table.
        list.whole = table.whole;
    };
    match title {
        // A cluster has three lists of the top events, and no complete ones up to 12.1.
        _ if title.starts_with("Top Timed Background") => report.top_background = lines,
        _ if title.starts_with("Top Timed Foreground") => report.top = lines,
        _ if title.starts_with("Top") && report.top.is_empty() => report.top = lines,
        _ if title.starts_with("Background Wait Events") => more(&mut report.background, lines),
        _ if title.starts_with("Foreground Wait Events") => more(&mut report.foreground, lines),
        _ if title.starts_with("Wait Events") => more(&mut report.both, lines),
        _ => {}
    }
    found
}

/// A column of times, and the unit in its name, us.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TimeColumn {
    at: usize,
    unit_us: Option<f64>,
}

impl TimeColumn {
    fn find(table: &Table, wanted: impl Fn(&str) -> bool) -> Option<Self> {
        table.columns.iter().enumerate().find_map(|(at, name)| {
            let name = name.to_ascii_lowercase();
            let (stem, unit_us) = match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
                Some((stem, unit)) => (stem.trim_end(), Some(number::unit_us_of(unit.trim())?)),
                None => (name.as_str(), None),
            };
            wanted(stem).then_some(Self { at, unit_us })
        })
    }

    /// The time of all waits together: `Total Wait Time (s)`, `Time (cs)` before 9i, `Wait Time Total(s)` in a cluster.
    fn total(table: &Table) -> Option<Self> {
        Self::find(table, |stem| {
            !is_mean(stem) && !stem.contains('%') && ["time", "total"].iter().any(|name| is_called(stem, name))
        })
    }

    /// The time of one wait: `Avg wait (ms)`, since 12.2 `Avg wait` with a unit in each cell. The means of the instances'
    /// means in a cluster are something else.
    fn mean(table: &Table) -> Option<Self> {
        Self::find(table, |stem| is_mean(stem) && !stem.contains("summary") && !stem.contains(['%', '/']))
    }

    fn cell(self, row: &[String]) -> Option<Printed> {
        number::time_us(&row[self.at], self.unit_us)
    }
}

fn is_mean(stem: &str) -> bool {
    stem.split(' ').any(|word| matches!(word, "avg" | "average"))
}

struct Columns {
    event: usize,
    waits: usize,
    time: TimeColumn,
    mean: Option<TimeColumn>,
    percent: Option<usize>,
    class: Option<usize>,
    instance: Option<usize>,
}

impl Columns {
    /// The columns of a list with names in the column `event`; `None` for another table.
    fn of(table: &Table, event: usize) -> Option<Self> {
        Some(Self {
            event,
            waits: table.called("waits")?,
            time: TimeColumn::total(table)?,
            mean: TimeColumn::mean(table),
            percent: percent(table),
            class: table.called("class"),
            instance: table.column(|name| name == "i#" || name == "i #"),
        })
    }

    fn lines(&self, table: &Table, scope: Scope) -> Vec<EventLine> {
        // Of a cluster's list the part of all instances is named by a star, once.
        let mut of_all = scope == Scope::Instance || self.instance.is_none();
        let mut lines = Vec::new();
        for row in &table.rows {
            if let Some(instance) = self.instance.map(|at| &row[at]).filter(|instance| !instance.is_empty()) {
                of_all = scope == Scope::Instance || instance == "*";
            }
            if !of_all || row[self.event].is_empty() {
                continue;
            }
            if self.shows_waits(row) {
                lines.push(self.line(row, oracle::whole(&row[self.event])));
            }
        }
        lines
    }

    fn line(&self, row: &[String], name: &str) -> EventLine {
        EventLine {
            name: name.to_owned(),
            waited: Waited {
                waits: number::count(&row[self.waits]).map(Printed::counted),
                time_us: self.time.cell(row),
                mean_us: self.mean.and_then(|mean| mean.cell(row)),
            },
            percent: self.percent.and_then(|at| number::count(&row[at])),
            class: self.class.map(|at| row[at].clone()).filter(|class| !class.is_empty()),
        }
    }

    /// Whether there were waits; an unreadable figure hides their number.
    fn shows_waits(&self, row: &[String]) -> bool {
        let begins = |c: char| c.is_ascii_digit() || c == '.' || c == '#';
        [self.waits, self.time.at].iter().any(|at| row[*at].starts_with(begins))
    }
}

/// The share of database time, by the names that it has had: `% DB time`, `%Total Call Time`, `% Total Ela Time`.
fn percent(table: &Table) -> Option<usize> {
    const NAMES: [&str; 5] = ["db time", "call time", "ela time", "bg time", "wt time"];
    table.column(|name| {
        let plain = name.replace('%', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        name.contains('%') && NAMES.iter().any(|of| is_called(&plain, of))
    })
}

/// Wait classes of the foreground; where these are not distinguishable, of all.
fn classes(table: &Table, name: usize, report: &mut Report) -> usize {
    let Some(columns) = Columns::of(table, name) else { return 0 };
    let foreground = table.title.starts_with("Foreground");
    let mut found = 0;
    for row in table.rows.iter().filter(|row| !row[name].is_empty() && columns.shows_waits(row)) {
        found += 1;
        let line = columns.line(row, &row[name]);
        if foreground {
            report.classes.insert(line.name.clone(), line);
        } else {
            report.classes.entry(line.name.clone()).or_insert(line);
        }
    }
    found
}
