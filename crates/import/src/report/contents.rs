//! What stands in a report. What it does not tell is `None`, never 0.

use std::collections::BTreeMap;

use mindful_core::record::latency::Latency;
use mindful_oracle_terms as oracle;

use super::histogram::Histogram;
use super::waited::Waited;
use crate::number::Printed;

/// Which instances a report is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// One.
    #[default]
    Instance,
    /// All of a cluster.
    Cluster,
}

/// Where and what.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Identity {
    /// Name of the database.
    pub database: Option<String>,
    /// Name of the instance.
    pub instance: Option<String>,
    /// Its number.
    pub instance_number: Option<String>,
    /// Version of the software.
    pub release: Option<String>,
    /// Whether it is clustered.
    pub cluster: Option<bool>,
    /// Name of the host.
    pub host: Option<String>,
    /// Its platform.
    pub platform: Option<String>,
    /// CPUs of the host.
    pub cpus: Option<f64>,
    /// Cores of the host.
    pub cores: Option<f64>,
    /// Sockets of the host.
    pub sockets: Option<f64>,
    /// Memory of the host, GiB.
    pub memory_gib: Option<f64>,
    /// Length of a block, bytes.
    pub block_bytes: Option<f64>,
    /// Buffer cache at the begin, bytes.
    pub cache_bytes: Option<f64>,
}

/// When.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshots {
    /// Number of the first snapshot.
    pub begin_id: Option<String>,
    /// Its time as printed.
    pub begin: Option<String>,
    /// Number of the last snapshot.
    pub end_id: Option<String>,
    /// Its time as printed.
    pub end: Option<String>,
    /// Begin and end, s since the epoch as if the clock were UTC: reports name no time zone.
    pub clock_s: Option<(i64, i64)>,
    /// Elapsed minutes as printed.
    pub elapsed_min: Option<Printed>,
    /// DB time as printed, minutes.
    pub db_time_min: Option<Printed>,
}

/// A statistic over the report.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Statistic {
    /// Total.
    pub total: Option<f64>,
    /// Per second, as printed.
    pub per_s: Option<f64>,
}

/// A wait event, or CPU, in one of the report's lists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventLine {
    /// Its name, whole where it is known.
    pub name: String,
    /// Waits.
    pub waits: Option<Printed>,
    /// Time, us.
    pub time_us: Option<Printed>,
    /// Share of database time as printed, percent.
    pub percent: Option<f64>,
    /// Its class as printed.
    pub class: Option<String>,
}

/// A report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Which instances it is about.
    pub scope: Scope,
    /// Where and what.
    pub identity: Identity,
    /// Whether two instances of a cluster are on one host.
    pub instances_share_hosts: bool,
    /// When.
    pub snapshots: Snapshots,
    /// The load profile, per second: by its names in small letters, units apart.
    pub profile: BTreeMap<String, f64>,
    /// The I/O profile, `(read, write)` per second, by its names in small letters.
    pub io_profile: BTreeMap<String, (Option<f64>, Option<f64>)>,
    /// Instance statistics by their names.
    pub statistics: BTreeMap<String, Statistic>,
    /// The time model, s.
    pub time_model: BTreeMap<String, f64>,
    /// Statistics of the operating system by their names.
    pub host: BTreeMap<String, f64>,
    /// Percentages of instance efficiency, by their names in small letters.
    pub efficiency: BTreeMap<String, f64>,
    /// The list at the head: events of the foreground with most time.
    pub top: Vec<EventLine>,
    /// The same of the background, which the report of a cluster has.
    pub top_background: Vec<EventLine>,
    /// Waits of the foreground; `None` without such a section.
    pub foreground: Option<Vec<EventLine>>,
    /// Waits of the background; `None` without such a section.
    pub background: Option<Vec<EventLine>>,
    /// Waits of both, which is all that old versions tell; `None` without such a section.
    pub both: Option<Vec<EventLine>>,
    /// How long waits took, of foreground and background together, by the names of events.
    pub histograms: BTreeMap<String, Histogram>,
    /// Wait classes of the foreground, by their names.
    pub classes: BTreeMap<String, EventLine>,
    /// Parameters of the instance.
    pub parameters: BTreeMap<String, String>,
}

impl Report {
    /// Length, s: by the clock of the snapshots where it agrees with the printed minutes, else by these.
    pub fn elapsed_s(&self) -> Option<f64> {
        let printed = self.snapshots.elapsed_min.map(|min| (min.value * 60.0, min.half_step * 60.0 + 1.0));
        let clock = self.snapshots.clock_s.map(|(begin, end)| (end - begin) as f64).filter(|s| *s > 0.0);
        match (printed, clock) {
            (Some((seconds, off)), Some(clock)) if (seconds - clock).abs() <= off => Some(clock),
            (Some((seconds, _)), _) => Some(seconds),
            (None, clock) => clock,
        }
        .filter(|seconds| *seconds > 0.0)
    }

    /// Database time, s: by the time model, which has more digits, else as printed at the head.
    pub fn db_time_s(&self) -> Option<f64> {
        let head = self.snapshots.db_time_min.map(|min| min.value * 60.0);
        self.time_model.get("DB time").copied().or(head)
    }

    /// Average active sessions: as the load profile prints it, or DB time by elapsed time.
    pub fn active_sessions(&self) -> Option<f64> {
        let computed = self.db_time_s().zip(self.elapsed_s()).map(|(db, elapsed)| db / elapsed);
        computed.or_else(|| self.profile.get("db time(s)").copied())
    }

    /// CPU of foreground and background, s.
    pub fn cpu_s(&self) -> Option<f64> {
        let foreground = self.time_model.get("DB CPU")?;
        Some(foreground + self.time_model.get("background cpu time").unwrap_or(&0.0))
    }

    /// A statistic per second: as printed, or from its total.
    pub fn per_s(&self, name: &str) -> Option<f64> {
        let statistic = self.statistics.get(name)?;
        statistic.per_s.or_else(|| Some(statistic.total? / self.elapsed_s()?))
    }

    /// A statistic over the whole report.
    pub fn total(&self, name: &str) -> Option<f64> {
        let statistic = self.statistics.get(name)?;
        statistic.total.or_else(|| Some(statistic.per_s? * self.elapsed_s()?))
    }

    /// The first of the lines of the load profile that is there, per second.
    pub fn profiled(&self, names: &[&str]) -> Option<f64> {
        names.iter().find_map(|name| self.profile.get(*name).copied())
    }

    /// Waits of the foreground for `event` and its counterparts, or of all where these are not distinguishable.
    pub fn foreground_waits(&self, event: &str) -> Option<Waited> {
        waited(self.foreground.as_ref().or(self.both.as_ref())?, event)
    }

    /// The same with the digits of the list at the head, where these are more.
    pub fn best_foreground_waits(&self, event: &str) -> Option<Waited> {
        let section = self.foreground_waits(event);
        let head = waited(&self.top, event);
        let off = |waited: &Option<Waited>| waited.and_then(Waited::error_us).unwrap_or(f64::INFINITY);
        let same = section.zip(head).is_none_or(|(a, b)| (a.waits - b.waits).abs() <= 0.01 * a.waits.max(b.waits));
        if same && off(&head) < off(&section) { head } else { section }
    }

    /// Waits of the background for `event`, or of all where these are not distinguishable.
    pub fn background_waits(&self, event: &str) -> Option<Waited> {
        waited(self.background.as_ref().or(self.both.as_ref()).or(self.of_cluster(&self.top_background))?, event)
    }

    fn of_cluster<'a>(&self, lines: &'a Vec<EventLine>) -> Option<&'a Vec<EventLine>> {
        Some(lines).filter(|_| self.scope == Scope::Cluster)
    }

    /// Waits of foreground and background for `event`.
    pub fn all_waits(&self, event: &str) -> Option<Waited> {
        match (&self.foreground, &self.background) {
            (Some(foreground), Some(background)) => match (waited(foreground, event), waited(background, event)) {
                (Some(a), Some(b)) => Some(a.and(b)),
                (a, b) => a.or(b),
            },
            _ => waited(self.both.as_ref()?, event),
        }
    }

    /// Shares of the waits for `event` by how long they took; `None` where no section tells them, or several counterparts
    /// have their own.
    pub fn shares(&self, event: &str) -> Option<&Histogram> {
        let mut alike = self.histograms.iter().filter(|(name, _)| oracle::counterpart(name) == event);
        let first = alike.next().map(|(_, histogram)| histogram);
        first.filter(|_| alike.next().is_none())
    }

    /// How long waits for `event` and its counterparts took; `None` where no section tells it.
    pub fn latency(&self, event: &str) -> Option<Latency> {
        let alike: Vec<_> = self.histograms.iter().filter(|(name, _)| oracle::counterpart(name) == event).collect();
        match alike[..] {
            [] => None,
            [(_, histogram)] => histogram.latency(self.all_waits(event)),
            _ => Some(Latency::merge_all(&alike.iter().filter_map(|(_, h)| h.latency(None)).collect::<Vec<_>>())),
        }
    }

    /// Whether a section of the foreground's waits is there: an event that it lacks was not waited for.
    pub fn tells_foreground(&self) -> bool {
        self.foreground.is_some() || self.both.is_some()
    }

    /// Whether nothing waited for `event` in the foreground: its waits are listed, and this one is not among them.
    pub fn foreground_lacks(&self, event: &str) -> bool {
        lacks(self.foreground.as_ref().or(self.both.as_ref()), event)
    }

    /// The same of the background.
    pub fn background_lacks(&self, event: &str) -> bool {
        lacks(self.background.as_ref().or(self.both.as_ref()), event)
    }
}

fn lacks(lines: Option<&Vec<EventLine>>, event: &str) -> bool {
    lines.is_some_and(|lines| !lines.iter().any(|line| oracle::counterpart(&line.name) == event))
}

/// All waits of `lines` that count as `event`; `None` where there are none, or one of them is not reported.
fn waited(lines: &[EventLine], event: &str) -> Option<Waited> {
    let alike = lines.iter().filter(|line| oracle::counterpart(&line.name) == event);
    let reported = alike.map(|line| Some(Waited { waits: line.waits?.value, time_us: line.time_us? }));
    reported.reduce(|a, b| Some(a?.and(b?)))?
}
