//! The figures of a report. An unknown one is `None`, never 0.

use std::collections::BTreeMap;

use mindful_core::record::latency::Latency;
use mindful_oracle_terms::{self as oracle, event, statistic};

use super::histogram::Histogram;
use super::waited::{EventLine, Waited};
use crate::number::Printed;

/// Statistics, and the lines of the load profile that state their rate again.
const STATED: [(&str, &[&str]); 9] = [
    (statistic::REDO_BYTES, &["redo size"]),
    (statistic::LOGICAL_READS, &["logical reads", "logical read"]),
    (statistic::BLOCKS_READ, &["physical reads", "physical read"]),
    (statistic::BLOCKS_WRITTEN, &["physical writes", "physical write"]),
    (statistic::READ_REQUESTS, &["read io requests"]),
    (statistic::WRITE_REQUESTS, &["write io requests"]),
    ("db block changes", &["block changes"]),
    ("user calls", &["user calls"]),
    (statistic::EXECUTES, &["executes"]),
];
/// Statistics, the lines of the I/O profile that do so, and whether it is the column of writes.
const IO_STATED: [(&str, &str, bool); 3] = [
    (statistic::ALL_READ_REQUESTS, "total requests", false),
    (statistic::ALL_WRITE_REQUESTS, "total requests", true),
    (statistic::REDO_WRITES, "redo requests", true),
];
/// Possible lengths of a report, s.
const LENGTHS_S: std::ops::Range<f64> = 1e-3..1e10;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    #[default]
    Instance,
    Cluster,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Identity {
    pub database: Option<String>,
    pub instance: Option<String>,
    pub instance_number: Option<String>,
    pub release: Option<String>,
    pub cluster: Option<bool>,
    /// The pluggable database, where the report is of one.
    pub container: Option<String>,
    pub host: Option<String>,
    pub platform: Option<String>,
    pub cpus: Option<f64>,
    pub cores: Option<f64>,
    pub sockets: Option<f64>,
    pub memory_gib: Option<f64>,
    pub block_bytes: Option<f64>,
    /// Buffer cache at the begin, bytes.
    pub cache_bytes: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Snapshots {
    pub begin_id: Option<String>,
    pub begin: Option<String>,
    pub end_id: Option<String>,
    pub end: Option<String>,
    pub clock: Option<Span>,
    pub elapsed_min: Option<Printed>,
    pub db_time_min: Option<Printed>,
}

/// Begin and end by a clock, s since the epoch as if it were UTC: reports name no time zone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub begin_s: i64,
    pub end_s: i64,
    /// Whether the clock counts minutes only, as in the report of a cluster.
    pub in_minutes: bool,
}

impl Span {
    fn length_s(self) -> Printed {
        Printed { value: (self.end_s - self.begin_s) as f64, half_step: if self.in_minutes { 60.0 } else { 1.0 } }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Statistic {
    pub total: Option<Printed>,
    pub per_s: Option<Printed>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EventList {
    pub lines: Vec<EventLine>,
    /// Whether its end is there. Only then nothing waited for an event that it lacks.
    pub whole: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Report {
    pub scope: Scope,
    pub identity: Identity,
    /// Whether two instances of a cluster are on one host.
    pub instances_share_hosts: bool,
    pub snapshots: Snapshots,
    /// The load profile, per second: by its names in small letters, units apart.
    pub profile: BTreeMap<String, Printed>,
    /// The I/O profile, `(read, write)` per second, by its names in small letters.
    pub io_profile: BTreeMap<String, (Option<Printed>, Option<Printed>)>,
    pub statistics: BTreeMap<String, Statistic>,
    /// Seconds; `None` for an entry with an unknown time.
    pub time_model: BTreeMap<String, Option<Printed>>,
    pub host: BTreeMap<String, f64>,
    /// Percentages of instance efficiency, by their names in small letters.
    pub efficiency: BTreeMap<String, f64>,
    /// The list at the head: events of the foreground with most time.
    pub top: Vec<EventLine>,
    /// The same of the background, which the report of a cluster has.
    pub top_background: Vec<EventLine>,
    /// Waits of the foreground; `None` without such a section.
    pub foreground: Option<EventList>,
    /// Waits of the background; `None` without such a section.
    pub background: Option<EventList>,
    /// Waits of both, the only kind in old versions; `None` without such a section.
    pub both: Option<EventList>,
    /// Durations of waits, of foreground and background together, by the names of events.
    pub histograms: BTreeMap<String, Histogram>,
    pub classes: BTreeMap<String, EventLine>,
    pub parameters: BTreeMap<String, String>,
    /// Known sections without a row that could be read.
    pub unread: Vec<String>,
    pub cut: bool,
}

impl Report {
    /// Length, s. The clock of the snapshots and the printed minutes state it twice: where they agree, the one with more digits
    /// counts, else the minutes.
    pub(crate) fn elapsed(&self) -> Option<Printed> {
        let printed = self.snapshots.elapsed_min.map(|minutes| minutes.scaled(60.0));
        let clock = self.snapshots.clock.map(Span::length_s).filter(|length| length.value > 0.0);
        Printed::agreed(printed, clock, 0.0).filter(|elapsed| LENGTHS_S.contains(&elapsed.value))
    }

    /// The printed minutes and the clock, where they contradict each other.
    pub(super) fn contradicting_clock(&self) -> Option<String> {
        let printed = self.snapshots.elapsed_min?.scaled(60.0);
        let clock = self.snapshots.clock?.length_s();
        let off = (printed.value - clock.value).abs() - printed.half_step - clock.half_step;
        // Summer time begins and ends within a report.
        let hour = (off - 3_600.0).abs() < 60.0;
        (off > 0.01 * clock.value && !hour)
            .then(|| format!("elapsed time: {:.0} s printed, {:.0} s by the snapshots", printed.value, clock.value))
    }

    pub(super) fn modelled(&self, name: &str) -> Option<Printed> {
        self.time_model.get(name).copied().flatten()
    }

    fn over_time(&self, seconds: Option<Printed>) -> Option<Printed> {
        seconds?.over(self.elapsed()?)
    }

    /// Database time, s: by the time model or at the head.
    pub(crate) fn db_time_s(&self) -> Option<Printed> {
        let head = self.snapshots.db_time_min.map(|min| min.scaled(60.0));
        Printed::more_exact(self.modelled("DB time"), head)
    }

    /// Average active sessions: DB time by elapsed time, or the line of the load profile.
    pub(crate) fn active_sessions(&self) -> Option<Printed> {
        Printed::more_exact(self.over_time(self.db_time_s()), self.line(&["db time(s)", "db time"]))
    }

    /// CPU of sessions, s: by the time model or the list at the head.
    pub(crate) fn session_cpu_s(&self) -> Option<Printed> {
        let listed = self.top.iter().find(|line| event::CPU.contains(&line.name.as_str()));
        let listed = listed.and_then(|line| Some(line.waited.time_us?.scaled(1e-6)));
        Printed::more_exact(self.modelled("DB CPU"), listed)
    }

    /// Cores used by sessions and background. Background without an entry used none, unless the report was truncated.
    pub(crate) fn cpu_cores(&self) -> Option<Printed> {
        let model = "background cpu time";
        let sessions = Printed::more_exact(self.over_time(self.modelled("DB CPU")), self.line(&["db cpu(s)"]));
        let background = Printed::more_exact(self.over_time(self.modelled(model)), self.line(&["background cpu(s)"]));
        let none = !self.cut && !self.time_model.contains_key(model);
        Some(sessions?.plus(background.or(none.then_some(Printed::exact(0.0)))?))
    }

    /// The rate of a statistic by the statement with the most digits: as printed, by its total, or in one of the profiles.
    pub(crate) fn rate(&self, name: &str) -> Option<Printed> {
        let profiles = Printed::more_exact(self.load_line(name), self.io_line(name));
        Printed::more_exact(self.statistic_per_s(name), profiles)
    }

    /// The rate of a statistic in the load profile.
    pub(super) fn load_line(&self, name: &str) -> Option<Printed> {
        let (_, lines) = STATED.iter().find(|(of, _)| *of == name)?;
        self.line(lines)
    }

    /// The same of the I/O profile.
    pub(super) fn io_line(&self, name: &str) -> Option<Printed> {
        let (_, line, writes) = IO_STATED.iter().find(|(of, ..)| *of == name)?;
        let (read, written) = *self.io_profile.get(*line)?;
        if *writes { written } else { read }
    }

    /// How often foreground and background waited for the event of that name by their whole lists.
    pub(super) fn listed_waits(&self, name: &str) -> Option<Printed> {
        let lists = match (&self.foreground, &self.background, &self.both) {
            (Some(foreground), Some(background), _) => vec![foreground, background],
            (None, _, Some(both)) => vec![both],
            _ => return None,
        };
        let lines = lists.iter().flat_map(|list| &list.lines).filter(|line| line.name == name);
        let waits = lines.map(|line| line.waited.waits).reduce(|sum, waits| Some(sum?.plus(waits?)))?;
        waits.filter(|_| lists.iter().all(|list| list.whole))
    }

    pub(super) fn statistic_per_s(&self, name: &str) -> Option<Printed> {
        let Statistic { total, per_s } = *self.statistics.get(name)?;
        Printed::more_exact(per_s, self.over_time(total))
    }

    /// The rate that a line of the load profile states, with the digits of its statistic where these are more.
    pub(crate) fn line_rate(&self, line: &str) -> Option<Printed> {
        let stated = STATED.iter().find(|(_, lines)| lines.contains(&line));
        stated.map_or_else(|| self.line(&[line]), |(name, _)| self.rate(name))
    }

    /// The first of the lines of the load profile that is there, per second.
    pub(crate) fn line(&self, names: &[&str]) -> Option<Printed> {
        names.iter().find_map(|name| self.profile.get(*name).copied())
    }

    /// Waits of the foreground for `event` and its counterparts, or of all where these are not distinguishable: of their list
    /// and that at the head, the one with more digits.
    pub(crate) fn foreground_waits(&self, event: &str) -> Option<Waited> {
        let list = self.foreground.as_ref().or(self.both.as_ref());
        let section = list.and_then(|list| waited(&list.lines, event));
        let head = waited(&self.top, event);
        let off = |waited: &Option<Waited>| waited.and_then(Waited::error_us).unwrap_or(f64::INFINITY);
        let counts = section.and_then(Waited::waits).zip(head.and_then(Waited::waits));
        let same = counts.is_none_or(|(a, b)| (a - b).abs() <= 0.01 * a.max(b));
        let more_exact = if same && off(&head) < off(&section) { head } else { section.or(head) };
        more_exact.or_else(|| none_in(list))
    }

    /// Waits of the background for `event`, or of all where these are not distinguishable.
    pub(crate) fn background_waits(&self, event: &str) -> Option<Waited> {
        let list = self.background.as_ref().or(self.both.as_ref());
        let head = Some(&self.top_background).filter(|_| self.scope == Scope::Cluster);
        waited(list.map(|list| &list.lines).or(head)?, event).or_else(|| none_in(list))
    }

    /// Waits of foreground and background for `event`.
    pub(crate) fn all_waits(&self, event: &str) -> Option<Waited> {
        match (&self.foreground, &self.background) {
            (Some(foreground), Some(background)) => {
                match (waited(&foreground.lines, event), waited(&background.lines, event)) {
                    (Some(a), Some(b)) => Some(a.and(b)),
                    (a, b) => a.or(b),
                }
            }
            _ => waited(&self.both.as_ref()?.lines, event),
        }
    }

    /// Shares of the waits for `event` by duration; `None` if no section contains them, or if several counterparts have
    /// separate ones.
    pub(crate) fn shares(&self, event: &str) -> Option<&Histogram> {
        let mut alike = self.histograms.iter().filter(|(name, _)| oracle::counterpart(name) == event);
        let first = alike.next().map(|(_, histogram)| histogram);
        first.filter(|_| alike.next().is_none())
    }

    /// Durations of the waits for `event` and its counterparts; `None` if no section contains them.
    pub(crate) fn latency(&self, event: &str) -> Option<Latency> {
        let alike: Vec<_> = self.histograms.iter().filter(|(name, _)| oracle::counterpart(name) == event).collect();
        match alike[..] {
            [] => None,
            [(_, histogram)] => histogram.latency(self.all_waits(event)),
            _ => Some(Latency::merge_all(
                &alike.iter().filter_map(|(_, histogram)| histogram.latency(None)).collect::<Vec<_>>(),
            )),
        }
    }
}

/// No waits where an event is not in a whole list.
fn none_in(list: Option<&EventList>) -> Option<Waited> {
    list.filter(|list| list.whole).map(|_| Waited::NONE)
}

/// All waits of `lines` that count as `event`; `None` without such waits.
fn waited(lines: &[EventLine], event: &str) -> Option<Waited> {
    let alike = lines.iter().filter(|line| oracle::counterpart(&line.name) == event);
    alike.map(|line| line.waited).reduce(Waited::and)
}
