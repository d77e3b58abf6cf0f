//! The line a second that fits a terminal, as iostat prints one: what matters of each source, in fixed columns.

use super::second::WatchedSecond;
use crate::figure::{UNKNOWN, number};
use mindful_analyze::figures::rates;
use mindful_core::contract::metric::Counter;
use mindful_core::contract::metric::shared as counter;
use mindful_core::contract::wait::{SAMPLES, WaitClass};

/// The header is repeated after so many lines.
const LINES_A_HEADER: u32 = 20;
/// Columns that are left out first if the line is too long.
const EXPENDABLE: [&str; 6] = ["MiB/s", "dev w/s", "LIO/s", "dev r/s", "r ms", "second"];
const MIB: f64 = 1_048_576.0;

struct Column {
    head: String,
    wide: usize,
    text: fn(&WatchedSecond) -> String,
}

/// The columns that `log_name` (WAL, redo) belongs to, and how many lines stand below the last header.
pub struct WatchColumns {
    columns: Vec<Column>,
    lines: u32,
}

impl WatchColumns {
    /// Columns for a system that calls its log `log_name`, as many as fit `most`.
    pub fn new(log_name: &str, most: usize) -> Self {
        let column = |head: &str, wide, text| Column { head: head.to_owned(), wide, text };
        let mut columns = vec![
            column("second", 6, |second| second.number().to_string()),
            column("tx/s", 7, |second| rate(second, counter::COMMITS, 1.0)),
            column("LIO/s", 9, |second| rate(second, counter::LOGICAL_READS, 1.0)),
            column("hit %", 5, hits),
            column("reads/s", 8, |second| rate(second, counter::PHYSICAL_READS, 1.0)),
            column(&format!("{log_name} MiB/s"), 9, |second| rate(second, counter::LOG_BYTES, MIB)),
            column("dev r/s", 8, |second| rate(second, counter::DEVICE_READS, 1.0)),
            column("MiB/s", 6, |second| rate(second, counter::DEVICE_READ_BYTES, MIB)),
            column("r ms", 6, read_ms),
            column("dev w/s", 7, |second| rate(second, counter::DEVICE_WRITES, 1.0)),
            column("MiB/s", 6, |second| rate(second, counter::DEVICE_WRITE_BYTES, MIB)),
            column("CPU %", 5, cpu),
            column("top wait", 0, top_wait),
        ];
        for head in EXPENDABLE {
            if needed(&columns) > most {
                columns.retain(|column| column.head != head);
            }
        }
        Self { columns, lines: 0 }
    }

    /// The line of `second`, with the header above where it is due. What is not known is `-`.
    pub fn second_line(&mut self, second: &WatchedSecond) -> String {
        let cells = self.columns.iter().map(|column| (column.wide.max(column.head.len()), (column.text)(second)));
        let line = joined(cells);
        let due = self.lines.is_multiple_of(LINES_A_HEADER);
        self.lines += 1;
        if !due {
            return line;
        }
        let heads = self.columns.iter().map(|column| (column.wide.max(column.head.len()), column.head.clone()));
        joined(heads) + &line
    }
}

/// The width of a line; the wait at its end has at least as many as its head and a share.
fn needed(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.wide.max(column.head.len()) + 2).sum::<usize>() + 8
}

/// Cells to the right of their columns, two spaces apart; the last is text and stands to the left.
fn joined(cells: impl Iterator<Item = (usize, String)>) -> String {
    let mut cells: Vec<(usize, String)> = cells.collect();
    let last = cells.pop().map_or_else(String::new, |(_, text)| text);
    let mut line: Vec<String> = cells.into_iter().map(|(wide, text)| format!("{text:>wide$}")).collect();
    line.push(last);
    format!("{}\n", line.join("  ").trim_end())
}

fn rate(second: &WatchedSecond, counter: Counter, unit: f64) -> String {
    figure(second.rate(counter).map(|rate| rate / unit))
}

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), number)
}

/// Logical reads that needed no physical one, % (of the block requests to the database's cache).
fn hits(second: &WatchedSecond) -> String {
    figure(rates::hit_ratio(|counter| second.rate(counter)).map(|share| 100.0 * share))
}

/// Mean time of a read at the device, ms.
fn read_ms(second: &WatchedSecond) -> String {
    figure(rates::device_read_us(|counter| second.rate(counter)).map(|us| us / 1e3))
}

/// Busy share of the host's CPUs, %.
fn cpu(second: &WatchedSecond) -> String {
    figure(rates::host_busy_share(|counter| second.rate(counter)).map(|share| 100.0 * share))
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

    #[test]
    fn the_header_is_repeated_and_unknown_is_a_dash() {
        let mut columns = WatchColumns::new("WAL", usize::MAX);
        let second = WatchedSecond::from_rates(
            1,
            &[("db/commits", Some(1_200.0)), ("db/logical_reads", Some(100.0)), ("db/physical_reads", Some(25.0))],
        );
        let text = columns.second_line(&second);
        let (head, line) = text.split_once('\n').unwrap();
        assert!(head.contains("WAL MiB/s"), "{head}");
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells[..5], ["1", "1,200", "100", "75.0", "25.0"]);
        assert_eq!(cells[5], UNKNOWN);
        assert_eq!(columns.second_line(&second).lines().count(), 1);
        let heads = (0..40).filter(|_| columns.second_line(&second).lines().count() == 2).count();
        assert_eq!(heads, 2);
    }

    #[test]
    fn what_has_no_room_is_left_out() {
        let wide = |most| {
            let text = WatchColumns::new("WAL", most).second_line(&WatchedSecond::from_rates(1, &[]));
            text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
        };
        assert!(wide(60) <= 60 && wide(60) > 40, "{}", wide(60));
        assert!(wide(usize::MAX) > 100);
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
