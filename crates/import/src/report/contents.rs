//! The figures of a report. An unknown one is `None`, never 0.

use std::collections::BTreeMap;

use mindful_core::record::latency::Latency;
use mindful_oracle_terms as oracle;

use super::histogram::Histogram;
use super::waited::{EventLine, Waited};
use crate::number::Printed;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    Instance,
    Cluster,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Identity {
    pub database: Option<String>,
    pub instance: Option<String>,
    pub instance_number: Option<String>,
    pub release: Option<String>,
    pub cluster: Option<bool>,
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
pub struct Snapshots {
    pub begin_id: Option<String>,
    pub begin: Option<String>,
    pub end_id: Option<String>,
    pub end: Option<String>,
    pub(crate) clock: Option<Span>,
    pub elapsed_min: Option<Printed>,
    pub db_time_min: Option<Printed>,
}

/// Begin and end by a clock, s since the epoch as if it were UTC: reports name no time zone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub(crate) begin_s: i64,
    pub(crate) end_s: i64,
    /// Whether the clock counts minutes only, as in the report of a cluster.
    pub(crate) in_minutes: bool,
}

impl Span {
    fn length_s(self) -> Printed {
        Printed { value: (self.end_s - self.begin_s) as f64, half_step: if self.in_minutes { 60.0 } else { 1.0 } }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Statistic {
    pub total: Option<Printed>,
    pub per_s: Option<Printed>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventList {
    pub lines: Vec<EventLine>,
    /// Whether its end is there. Only then nothing waited for an event that it lacks.
    pub whole: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    pub scope: Scope,
    pub identity: Identity,
    /// Whether two instances of a cluster are on one host.
    pub instances_share_hosts: bool,
    pub snapshots: Snapshots,
    /// The load profile, per second: by its names in small letters, units apart.
    pub profile: BTreeMap<String, Printed>,
    /// The I/O profile, `(read, write)` per second, by its names in small letters.
    pub io_profile: BTreeMap<String, (Option<f64>, Option<f64>)>,
    pub statistics: BTreeMap<String, Statistic>,
    pub time_model: BTreeMap<String, f64>,
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
    /// How long waits took, of foreground and background together, by the names of events.
    pub histograms: BTreeMap<String, Histogram>,
    pub classes: BTreeMap<String, EventLine>,
    pub parameters: BTreeMap<String, String>,
    /// Known sections without a row that could be read.
    pub unread: Vec<String>,
    pub cut: bool,
}

impl Report {
    /// Length, s. A clock of seconds and the printed minutes state it twice, and both have to agree; a clock of whole minutes
    /// has fewer digits than minutes with decimals.
    pub(crate) fn elapsed_s(&self) -> Option<f64> {
        self.elapsed().map(|elapsed| elapsed.value)
    }

    pub(super) fn elapsed(&self) -> Option<Printed> {
        let printed = self.snapshots.elapsed_min.map(|minutes| minutes.scaled(60.0));
        let clock = self.snapshots.clock.map(Span::length_s).filter(|length| length.value > 0.0);
        match (printed, clock) {
            (Some(printed), Some(clock)) => {
                let agree = (printed.value - clock.value).abs() <= printed.half_step + clock.half_step;
                Some(if agree && clock.half_step <= 1.0 { clock } else { printed })
            }
            (printed, clock) => printed.or(clock),
        }
        .filter(|elapsed| elapsed.value > 0.0)
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

    /// Database time, s: by the time model, which has more digits, else as printed at the head.
    pub(crate) fn db_time_s(&self) -> Option<f64> {
        let head = self.snapshots.db_time_min.map(|min| min.value * 60.0);
        self.time_model.get("DB time").copied().or(head)
    }

    /// Average active sessions: as the load profile prints it, or DB time by elapsed time.
    pub(crate) fn active_sessions(&self) -> Option<f64> {
        let computed = self.db_time_s().zip(self.elapsed_s()).map(|(db, elapsed)| db / elapsed);
        computed.or_else(|| self.profiled(&["db time(s)"]))
    }

    pub(crate) fn cpu_s(&self) -> Option<f64> {
        let foreground = self.time_model.get("DB CPU")?;
        Some(foreground + self.time_model.get("background cpu time").unwrap_or(&0.0))
    }

    /// A statistic per second, by the statement with the most digits: as printed, or its total over the elapsed time.
    pub(crate) fn per_s(&self, name: &str) -> Option<f64> {
        self.statistic_per_s(name).map(|rate| rate.value)
    }

    fn statistic_per_s(&self, name: &str) -> Option<Printed> {
        let statistic = self.statistics.get(name)?;
        let computed = statistic.total.zip(self.elapsed()).and_then(|(total, elapsed)| total.over(elapsed));
        Printed::more_exact(statistic.per_s, computed)
    }

    /// A rate by the statistic `name` or by the first of the `lines` of the load profile that is there, whichever has more
    /// digits.
    pub(crate) fn rate(&self, name: &str, lines: &[&str]) -> Option<f64> {
        let line = lines.iter().find_map(|line| self.profile.get(*line).copied());
        Printed::more_exact(self.statistic_per_s(name), line).map(|rate| rate.value)
    }

    /// The first of the lines of the load profile that is there, per second.
    pub fn profiled(&self, names: &[&str]) -> Option<f64> {
        names.iter().find_map(|name| Some(self.profile.get(*name)?.value))
    }

    /// Waits of the foreground for `event` and its counterparts, or of all where these are not distinguishable.
    pub(crate) fn foreground_waits(&self, event: &str) -> Option<Waited> {
        waited(&self.foreground.as_ref().or(self.both.as_ref())?.lines, event)
    }

    /// The same with the digits of the list at the head, where these are more.
    pub(crate) fn best_foreground_waits(&self, event: &str) -> Option<Waited> {
        let section = self.foreground_waits(event);
        let head = waited(&self.top, event);
        let off = |waited: &Option<Waited>| waited.and_then(Waited::error_us).unwrap_or(f64::INFINITY);
        let counts = section.and_then(|waited| waited.waits).zip(head.and_then(|waited| waited.waits));
        let same = counts.is_none_or(|(a, b)| (a - b).abs() <= 0.01 * a.max(b));
        if same && off(&head) < off(&section) { head } else { section.or(head) }
    }

    /// Waits of the background for `event`, or of all where these are not distinguishable.
    pub(crate) fn background_waits(&self, event: &str) -> Option<Waited> {
        let list = self.background.as_ref().or(self.both.as_ref()).map(|list| &list.lines);
        let head = Some(&self.top_background).filter(|_| self.scope == Scope::Cluster);
        waited(list.or(head)?, event)
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
    /// their own.
    pub(crate) fn shares(&self, event: &str) -> Option<&Histogram> {
        let mut alike = self.histograms.iter().filter(|(name, _)| oracle::counterpart(name) == event);
        let first = alike.next().map(|(_, histogram)| histogram);
        first.filter(|_| alike.next().is_none())
    }

    /// Durations of the waits for `event` and its counterparts; `None` if no section contains them.
    pub fn latency(&self, event: &str) -> Option<Latency> {
        let alike: Vec<_> = self.histograms.iter().filter(|(name, _)| oracle::counterpart(name) == event).collect();
        match alike[..] {
            [] => None,
            [(_, histogram)] => histogram.latency(self.all_waits(event)),
            _ => Some(Latency::merge_all(
                &alike.iter().filter_map(|(_, histogram)| histogram.latency(None)).collect::<Vec<_>>(),
            )),
        }
    }

    /// Whether a section of the foreground's waits is there: an event that it lacks was not waited for.
    pub(crate) fn tells_foreground(&self) -> bool {
        self.foreground.is_some() || self.both.is_some()
    }

    /// Whether nothing waited for `event` in the foreground: its waits are listed, and this one is not among them.
    pub(crate) fn foreground_lacks(&self, event: &str) -> bool {
        lacks(self.foreground.as_ref().or(self.both.as_ref()), event)
    }

    pub(crate) fn background_lacks(&self, event: &str) -> bool {
        lacks(self.background.as_ref().or(self.both.as_ref()), event)
    }
}

fn lacks(list: Option<&EventList>, event: &str) -> bool {
    list.is_some_and(|list| list.whole && !list.lines.iter().any(|line| oracle::counterpart(&line.name) == event))
}

/// All waits of `lines` that count as `event`; `None` without such waits.
fn waited(lines: &[EventLine], event: &str) -> Option<Waited> {
    let alike = lines.iter().filter(|line| oracle::counterpart(&line.name) == event);
    alike.map(Waited::of).reduce(Waited::and)
}
