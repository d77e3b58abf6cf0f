//! The line a second that fits a terminal, as iostat prints one: the important metrics of each source, in fixed
//! columns.

use std::collections::BTreeMap;

use super::second::WatchedSecond;
use crate::figure::{maybe, mib};
use mindful_analyze::figures::rates;
use mindful_core::contract::metric::{Counter, Scope};
use mindful_core::contract::wait::{SAMPLES, WaitClass};

/// The header is repeated after so many lines.
const LINES_A_HEADER: u32 = 20;
/// Columns that are left out first if the line is too long.
const EXPENDABLE: [&str; 6] = ["dev MiB/s", "dev w/s", "LIO/s", "dev r/s", "r ms", "second"];

struct Column {
    head: String,
    /// Its name when it is left out, if that differs.
    name: Option<&'static str>,
    wide: usize,
    of: Of,
    text: fn(&WatchedSecond) -> String,
}

/// The scope of a column, and so its source.
#[derive(Clone, Copy)]
enum Of {
    Watch,
    Counter(Counter),
    Waits,
}

impl Column {
    fn width(&self) -> usize {
        self.wide.max(self.head.len())
    }

    fn name(&self) -> &str {
        self.name.unwrap_or(&self.head)
    }
}

/// The columns that `log_name` (WAL, redo) belongs to, and the number of lines below the last header.
pub struct WatchColumns {
    columns: Vec<Column>,
    left_out: Vec<&'static str>,
    scopes: BTreeMap<String, Scope>,
    lines: u32,
}

impl WatchColumns {
    /// Columns for a system that calls its log `log_name`, as many as fit `most`; `scopes` by the names of sources.
    pub fn new(log_name: &str, scopes: BTreeMap<String, Scope>, most: usize) -> Self {
        let mut columns = all(log_name);
        let mut left_out = Vec::new();
        for name in EXPENDABLE {
            if needed(&columns) > most {
                columns.retain(|column| column.name() != name);
                left_out.push(name);
            }
        }
        Self { columns, left_out, scopes, lines: 0 }
    }

    /// The line of `second`, below a header if one is due.
    pub fn second_line(&mut self, second: &WatchedSecond) -> String {
        let due = self.lines.is_multiple_of(LINES_A_HEADER);
        self.lines += 1;
        if due { self.header(second) + &self.line(second) } else { self.line(second) }
    }

    /// The omitted columns, the scope of the columns by the sources of `second`, and their heads.
    pub(crate) fn header(&self, second: &WatchedSecond) -> String {
        let left_out = match self.left_out.as_slice() {
            [] => String::new(),
            names => format!("left out: {}\n", names.join(", ")),
        };
        let heads = self.columns.iter().map(|column| (column.width(), column.head.clone()));
        left_out + &self.scope_line(second) + &joined(heads)
    }

    /// The figures of `second`; unknown ones are `-`.
    pub(crate) fn line(&self, second: &WatchedSecond) -> String {
        joined(self.columns.iter().map(|column| (column.width(), (column.text)(second))))
    }

    /// Neighbours of one scope share its name above them.
    fn scope_line(&self, second: &WatchedSecond) -> String {
        let scope = |column: &Column| {
            let source = match column.of {
                Of::Watch => None,
                Of::Counter(counter) => second.source_of(counter),
                Of::Waits => Some(SAMPLES),
            };
            source.and_then(|source| self.scopes.get(source)).map_or("", |scope| scope.name())
        };
        let groups = self.columns.chunk_by(|a, b| scope(a) == scope(b));
        let group = |columns: &[Column]| {
            let wide = columns.iter().map(|column| column.width() + 2).sum::<usize>() - 2;
            match columns.first().map(scope) {
                None | Some("") => " ".repeat(wide),
                Some(name) if wide < name.len() + 4 => format!("{name:>wide$}"),
                Some(name) => format!("{:-^wide$}", format!(" {name} ")),
            }
        };
        format!("{}\n", groups.map(group).collect::<Vec<_>>().join("  ").trim_end())
    }
}

fn all(log_name: &str) -> Vec<Column> {
    let column = |head: &str, wide, of, text| Column { head: head.to_owned(), name: None, wide, of, text };
    let of = |head: &str, wide, counter, text| column(head, wide, Of::Counter(counter), text);
    let bytes = |counter, text| Column { name: Some("dev MiB/s"), ..of("MiB/s", 6, counter, text) };
    let log = format!("{log_name} MiB/s");
    vec![
        column("second", 6, Of::Watch, |s| s.number().to_string()),
        of("tx/s", 7, Counter::Commits, |s| maybe(s.rate(Counter::Commits))),
        of("LIO/s", 9, Counter::LogicalReads, |s| maybe(s.rate(Counter::LogicalReads))),
        of("hit %", 5, Counter::LogicalReads, |s| maybe(percent(rates::hit_ratio(|counter| s.rate(counter))))),
        of("reads/s", 8, Counter::PhysicalReads, |s| maybe(s.rate(Counter::PhysicalReads))),
        of(&log, 9, Counter::LogBytes, |s| mib(s.rate(Counter::LogBytes))),
        of("dev r/s", 8, Counter::DeviceReads, |s| maybe(s.rate(Counter::DeviceReads))),
        bytes(Counter::DeviceReadBytes, |s| mib(s.rate(Counter::DeviceReadBytes))),
        of("r ms", 6, Counter::DeviceReads, |s| {
            maybe(rates::device_read_us(|counter| s.rate(counter)).map(|us| us / 1e3))
        }),
        of("dev w/s", 7, Counter::DeviceWrites, |s| maybe(s.rate(Counter::DeviceWrites))),
        bytes(Counter::DeviceWriteBytes, |s| mib(s.rate(Counter::DeviceWriteBytes))),
        of("CPU %", 5, Counter::HostCpuBusyUs, |s| maybe(percent(rates::host_busy_share(|counter| s.rate(counter))))),
        column("top wait", 0, Of::Waits, top_wait),
    ]
}

fn percent(share: Option<f64>) -> Option<f64> {
    share.map(|share| 100.0 * share)
}

/// The width of a line; the wait at its end has at least as many as its head and a share.
fn needed(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.width() + 2).sum::<usize>() + 8
}

/// Cells to the right of their columns, two spaces apart; the last is text, aligned left.
fn joined(cells: impl Iterator<Item = (usize, String)>) -> String {
    let mut cells: Vec<(usize, String)> = cells.collect();
    let last = cells.pop().map_or_else(String::new, |(_, text)| text);
    let mut line: Vec<String> = cells.into_iter().map(|(wide, text)| format!("{text:>wide$}")).collect();
    line.push(last);
    format!("{}\n", line.join("  ").trim_end())
}

/// Where clients spent most of their time, and its share of all time in which they were not idle: `DataFileRead 82 %`.
fn top_wait(second: &WatchedSecond) -> String {
    let waits: Vec<(&str, f64)> =
        second.rates_of(SAMPLES).filter(|(name, _)| WaitClass::from_counter(name).is_busy()).collect();
    let all: f64 = waits.iter().map(|(_, rate)| rate).sum();
    let most = waits.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, rate)| *rate > 0.0);
    most.map_or_else(String::new, |(name, rate)| {
        let name = name.rsplit('/').next().unwrap_or(name);
        format!("{} {:.0} %", crate::escape(name), 100.0 * rate / all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(most: usize) -> WatchColumns {
        let scopes = [("db", Scope::Database), ("wal", Scope::Server), ("diskstats", Scope::Host)];
        WatchColumns::new("WAL", scopes.map(|(source, scope)| (source.to_owned(), scope)).into(), most)
    }

    #[test]
    fn the_header_is_repeated_and_unknown_is_a_dash() {
        let mut columns = columns(usize::MAX);
        let second = WatchedSecond::from_rates(
            1,
            &[("db/commits", Some(1_200.0)), ("db/logical_reads", Some(100.0)), ("db/physical_reads", Some(25.0))],
        );
        let text = columns.second_line(&second);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].contains("WAL MiB/s"), "{text}");
        let cells: Vec<&str> = lines[2].split_whitespace().collect();
        assert_eq!(cells[..5], ["1", "1,200", "100", "75.0", "25.0"]);
        assert_eq!(cells[5], "-");
        assert_eq!(columns.second_line(&second).lines().count(), 1);
        let heads = (0..40).filter(|_| columns.second_line(&second).lines().count() == 3).count();
        assert_eq!(heads, 2);
    }

    #[test]
    fn each_column_is_below_its_scope() {
        let rates = ["db/commits", "db/logical_reads", "wal/physical_reads", "wal/log_bytes", "diskstats/device_reads"];
        let second = WatchedSecond::from_rates(1, &rates.map(|name| (name, Some(1.0))));
        let text = columns(usize::MAX).second_line(&second);
        let [scopes, heads, _] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
        for (scope, first, after) in [("database", "tx/s", "reads/s"), ("server", "reads/s", "dev r/s")] {
            let at = scopes.find(scope).unwrap();
            assert!(at > heads.find(first).unwrap() - 4 && at < heads.find(after).unwrap(), "{text}");
        }
        assert!(scopes.find("host").unwrap() > heads.find("WAL MiB/s").unwrap() + 8, "{text}");
    }

    #[test]
    fn columns_that_do_not_fit_are_left_out_and_named() {
        let shown = |most| columns(most).second_line(&WatchedSecond::from_rates(1, &[]));
        let wide = |most| shown(most).lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(wide(60) <= 60 && wide(60) > 40, "{}", wide(60));
        assert!(wide(usize::MAX) > 100 && !shown(usize::MAX).contains("left out"));
        let narrow = shown(90);
        let (left_out, heads) = narrow.split_once('\n').unwrap();
        for name in left_out.strip_prefix("left out: ").unwrap().split(", ").filter(|name| *name != "dev MiB/s") {
            assert!(!heads.contains(name), "{name}: {narrow}");
        }
    }

    #[test]
    fn the_top_wait_leaves_idle_clients_out() {
        let rates = [
            ("waits/idle/ClientRead", Some(90.0)),
            ("waits/read/DataFileRead", Some(6.0)),
            ("waits/cpu/cpu", Some(2.0)),
        ];
        assert_eq!(top_wait(&WatchedSecond::from_rates(1, &rates)), "DataFileRead 75 %");
        assert_eq!(top_wait(&WatchedSecond::from_rates(1, &rates[..1])), "");
    }
}
