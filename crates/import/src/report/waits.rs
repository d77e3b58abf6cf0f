//! Lists of wait events and wait classes.

use mindful_oracle_terms as oracle;

use super::contents::{EventLine, Report, Scope};
use crate::number;
use crate::tables::Table;

/// Takes a list of waits, if `table` is one.
pub fn read(table: &Table, report: &mut Report) {
    let title = table.title.as_str();
    if title.contains("Histogram") || title.starts_with("Service") || title.starts_with("SQL") {
        return;
    }
    if let Some(name) = table.named("wait class").filter(|_| table.column(|name| name.ends_with("event")).is_none()) {
        classes(table, name, report);
        return;
    }
    let Some(columns) = Columns::of(table) else { return };
    let lines = columns.lines(table, report.scope);
    let more = |into: &mut Option<Vec<EventLine>>, lines: Vec<EventLine>| into.get_or_insert_default().extend(lines);
    match title {
        // A cluster has three lists of what took most time, and no whole ones up to 12.1.
        _ if title.starts_with("Top Timed Background") => report.top_background = lines,
        _ if title.starts_with("Top Timed Foreground") => report.top = lines,
        _ if title.starts_with("Top") && report.top.is_empty() => report.top = lines,
        _ if title.starts_with("Background Wait Events") => more(&mut report.background, lines),
        _ if title.starts_with("Foreground Wait Events") => more(&mut report.foreground, lines),
        _ if title.starts_with("Wait Events") => more(&mut report.both, lines),
        _ => {}
    }
}

struct Columns {
    event: usize,
    waits: usize,
    time: usize,
    percent: Option<usize>,
    class: Option<usize>,
    instance: Option<usize>,
}

impl Columns {
    /// The columns of a list of events; `None` where it is something else.
    fn of(table: &Table) -> Option<Self> {
        let share = |name: &str| name.contains('%') || name.contains("avg") || name.contains("average");
        let time = |name: &str| name.contains("time") || name.ends_with("total(s)");
        Some(Self {
            event: table.column(|name| name == "event" || name.ends_with(" event"))?,
            waits: table.column(|name| name.ends_with("waits") && !share(name))?,
            time: table.column(|name| time(name) && !share(name) && !name.contains("/txn"))?,
            percent: table.column(|name| {
                name.contains('%')
                    && (name.contains("db") || name.contains("call") || name.contains("bg"))
                    && !name.contains("out")
            }),
            class: table.column(|name| name == "wait class" || name == "class" || name.ends_with(" class")),
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
            let line = EventLine {
                name: oracle::whole(&row[self.event]).to_owned(),
                waits: number::count(&row[self.waits]),
                time_us: number::time_us(&row[self.time], 1e6),
                percent: self.percent.and_then(|at| Some(number::count(&row[at])?.value)),
                class: self.class.map(|at| row[at].clone()).filter(|class| !class.is_empty()),
            };
            if line.waits.is_some() || line.time_us.is_some() {
                lines.push(line);
            }
        }
        lines
    }
}

/// Wait classes of the foreground; where these are not distinguishable, of all.
fn classes(table: &Table, name: usize, report: &mut Report) {
    let share = |name: &str| name.contains('%') || name.contains("avg");
    let Some(waits) = table.column(|name| name.ends_with("waits") && !share(name)) else { return };
    let Some(time) = table.column(|name| name.contains("time") && !share(name)) else { return };
    let percent = table.column(|name| name.contains('%') && name.contains("db"));
    let foreground = table.title.starts_with("Foreground");
    for row in table.rows.iter().filter(|row| !row[name].is_empty()) {
        let line = EventLine {
            name: row[name].clone(),
            waits: number::count(&row[waits]),
            time_us: number::time_us(&row[time], 1e6),
            percent: percent.and_then(|at| Some(number::count(&row[at])?.value)),
            class: None,
        };
        if line.time_us.is_none() {
            continue;
        }
        if foreground {
            report.classes.insert(line.name.clone(), line);
        } else {
            report.classes.entry(line.name.clone()).or_insert(line);
        }
    }
}
