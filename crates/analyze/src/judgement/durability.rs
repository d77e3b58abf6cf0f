//! Whether commits waited for storage: flushes at the device of the log, compared with the requested syncs.
//!
//! A sync reaches no device if a library swallows it, or if the file system is in memory. A database has one sync of
//! its log under way at a time, so each needs a flush. The kernel merges simultaneous flushes of bare files. A database
//! merges simultaneous commits. Several of them therefore need fewer flushes.
//!
//! A device also counts the flushes of others, so flushes alone prove nothing. A sync that reached the device took as
//! long as a flush.

use mindful_core::contract::description::Words;
use mindful_core::contract::fact::Kept;
use mindful_core::contract::metric::{Counter, MetricFamily};
use mindful_core::contract::wait::{SAMPLES, WaitClass};
use mindful_core::plan::units::format_rounded;
use mindful_core::record::run::{Facts, Run, StepRecord};
use mindful_core::workload::{Commit, Compatibility, OpKind};

use crate::figures::counters::Counters;
use crate::figures::floors::{BUFFERED, places};
use crate::figures::foreign_writes;
use crate::figures::log::commits;
use crate::figures::work::Work;
use crate::judgement::little;
use crate::judgement::subject::format_time;
use crate::{commit_contrast, io_job};

const FEWEST_UPDATES: f64 = 100.0;
/// Share of the syncs one after another that must have reached the device: both are counted at once.
const LEAST_FLUSHED: f64 = 0.95;
/// Share of the writes of the log of single commits that must have been flushed: on a full host, two may share a sync.
const LEAST_OF_WRITES: f64 = 0.5;
/// Time of a sync or of a commit by the mean time of a flush, below which it did not wait for one.
const LEAST_WAITED: f64 = 0.5;
/// The same where others may have flushed the device: their flushes can be slower, which raises the mean.
const LEAST_WAITED_BESIDE_OTHERS: f64 = 0.1;
/// Fewest samples of waiting sessions, seen or expected where commits wait for flushes: half of them is no chance then.
const FEWEST_SAMPLES: f64 = 50.0;

#[derive(Debug, Clone, Default, PartialEq)]
pub enum Durability {
    /// There were no commits, or too few to judge by.
    #[default]
    NotAsked,
    /// The plan did not wait for commits, or these settings of the server let a crash lose or tear committed data.
    Off(Vec<String>),
    /// The device was flushed as often as commits require.
    Proven,
    /// The device has no volatile cache, so written data is durable.
    WriteThrough,
    /// Commits did not reach storage, and why.
    Lost(String),
    /// Flushes are not visible, and why.
    NotVisible(String),
}

impl Durability {
    pub(crate) fn from_step(run: &Run, step: &StepRecord, work: Option<&Work>, counters: &Counters) -> Self {
        let simulated = run.description.as_ref().is_none_or(|description| description.simulated);
        let Some((workload, work)) = step.head.workload.as_ref().zip(work) else { return Self::NotAsked };
        let updates = work.kind(OpKind::Update).ops;
        let asked = updates > 0.0 && workload.compatibility != Compatibility::Slob;
        if !asked || simulated || commit_contrast::is_of_files(&step.head) {
            return Self::NotAsked;
        }
        let on_files = io_job::on_files(run);
        let syncs = counters.rate(Counter::LogSyncs).filter(|rate| !on_files || *rate > 0.0);
        if on_files && syncs.is_none() {
            return Self::NotAsked;
        }
        if !workload.commit_wait {
            return Self::Off(Vec::new());
        }
        let unsafe_settings = run.description.iter().flat_map(|description| description.unsafe_settings.clone());
        let unsafe_settings: Vec<_> = unsafe_settings.collect();
        if !unsafe_settings.is_empty() {
            return Self::Off(unsafe_settings);
        }
        if updates < FEWEST_UPDATES {
            return Self::NotAsked;
        }
        if run.host.as_ref().is_none_or(|host| !host.local) {
            return Self::NotVisible("the server runs on another host".to_owned());
        }
        let commits = commits(run, step, Some(work), counters).filter(|_| !on_files);
        // Of a database that does not count its syncs: each commit writes the log before it is synced.
        let writes_count = workload.commit == Commit::Each && syncs.is_none();
        let writes = counters.rate(Counter::LogWrites).filter(|_| writes_count);
        // Pauses of equal length bring sessions into step, so even sessions that mostly think may commit together.
        let at_once = f64::from(work.sessions) * f64::from(little::in_flight_per_session(run, step));
        let places: Vec<_> = places(&run.environment, if on_files { Kept::Dataset } else { Kept::Log }).collect();
        let single_log = places.len() == 1 && !on_files;
        let waited = Waited::from_counters(counters, commits, &run.words()).filter(|_| single_log);
        let of_a_sync = if single_log { foreign_writes::OF_A_SYNC_IN_PLACE } else { foreign_writes::OF_A_SYNC };
        let all_syncs = counters.rate(Counter::Syncs);
        let of_place = |(number, place): (usize, &String)| {
            // Syncs belong to the first log; other files written before a commit are synced once for each group.
            let syncs = syncs.filter(|_| number == 0);
            let due = |what: &'static str, share: f64| {
                move |asked: f64| Due { what, asked, flushes: asked * share, of_a_sync, all_syncs }
            };
            let one_by_one = syncs.filter(|_| !on_files).map(due("syncs", LEAST_FLUSHED));
            let written = writes.filter(|_| number == 0).map(due("writes of the log", LEAST_OF_WRITES));
            let merged = if at_once > 1.0 { 1.0 / at_once } else { LEAST_FLUSHED };
            let merged = commits.map(due("commits", merged)).or_else(|| syncs.map(due("syncs", merged)));
            [one_by_one, written, merged]
                .into_iter()
                .flatten()
                .reduce(|one, other| if other.flushes > one.flushes { other } else { one })
                .map_or_else(
                    || Self::NotVisible("neither syncs nor commits are counted".to_owned()),
                    |due| at_place(run, place, counters, &due, waited.as_ref()),
                )
        };
        let all: Vec<Self> = places.iter().enumerate().map(of_place).collect();
        let worst = all.into_iter().max_by_key(Self::doubt);
        worst.unwrap_or_else(|| Self::NotVisible("the place of the log is not known".to_owned()))
    }

    fn doubt(&self) -> u8 {
        match self {
            Self::NotAsked | Self::WriteThrough => 0,
            Self::Proven => 1,
            Self::NotVisible(_) => 2,
            Self::Off(_) | Self::Lost(_) => 3,
        }
    }

    /// `commit`, the requested commits, with the observed durability.
    pub(crate) fn qualified(&self, commit: String) -> String {
        match self {
            Self::NotAsked | Self::Proven | Self::WriteThrough => commit,
            Self::Off(settings) if settings.is_empty() => commit,
            Self::Off(settings) => format!("{commit} as asked, not safe in a crash: {}", settings.join(", ")),
            Self::Lost(_) => format!("{commit}, which was not on storage"),
            Self::NotVisible(why) => format!("{commit} as asked; flushes at the device were not visible: {why}"),
        }
    }
}

/// Durability of the log at one place, or of the files there.
fn at_place(run: &Run, place: &str, counters: &Counters, due: &Due, waited: Option<&Waited>) -> Durability {
    let facts = &run.environment;
    if let Some(memory) = facts.get(&format!("{place}.memory")) {
        return Durability::Lost(memory.clone());
    }
    let Some(chain) = facts.get(&format!("{place}.device")) else {
        let why = facts.get(&format!("{place}.device_not_seen"));
        return Durability::NotVisible(why.cloned().unwrap_or_else(|| "its device is not known".to_owned()));
    };
    let forced = run.description.as_ref().is_some_and(|description| description.log_by_forced_writes);
    at_device(facts, chain, forced, counters, (due, waited))
}

/// Flushes that a device must have had.
struct Due {
    /// What needs them: syncs, commits, or writes of the log.
    what: &'static str,
    /// Their number, 1/s.
    asked: f64,
    /// Fewest flushes for them, 1/s.
    flushes: f64,
    /// Most flushes for one of them.
    of_a_sync: f64,
    /// Syncs of all files of the database, 1/s, if it counts them.
    all_syncs: Option<f64>,
}

impl Due {
    /// Most flushes that the run can have caused, 1/s.
    fn most(&self) -> f64 {
        self.asked.max(self.all_syncs.unwrap_or(0.0)) * self.of_a_sync
    }
}

/// What commits or syncs waited for, compared with a flush.
struct Waited {
    what: String,
    us: f64,
    flush_us: f64,
}

impl Waited {
    /// As the database timed it, else by samples of its sessions; `None` where neither shows it.
    fn from_counters(counters: &Counters, commits: Option<f64>, words: &Words) -> Option<Self> {
        let flush_us =
            counters.ratio(Counter::LogDeviceFlushTimeUs, Counter::LogDeviceFlushes).filter(|us| *us > 0.0)?;
        let waited = |what: String, us| Self { what, us, flush_us };
        let timed = |time, count| counters.ratio(time, count).filter(|us| *us > 0.0);
        let sync = timed(Counter::LogSyncTimeUs, Counter::LogSyncs).map(|us| waited("a sync took".to_owned(), us));
        let commit = || timed(Counter::CommitTimeUs, Counter::Commits).map(|us| waited("a commit took".to_owned(), us));
        let sampled = || {
            let samplings = counters.growth(Counter::Samplings).filter(|count| *count > 0.0)?;
            let of_log = |name: &str| WaitClass::from_counter(name) == WaitClass::Log;
            let mut seen =
                counters.0.iter().filter(|change| change.source == SAMPLES && of_log(&change.name)).peekable();
            seen.peek()?;
            let seen: f64 = seen.filter_map(|change| change.delta).sum();
            let commits = commits?;
            let expected = samplings * commits * flush_us / 1e6;
            let enough = seen.max(expected) >= FEWEST_SAMPLES;
            let us = seen / samplings * 1e6 / commits;
            enough.then(|| waited(format!("a commit waited for the {}", words.log), us))
        };
        sync.or_else(commit).or_else(sampled)
    }

    /// Whether it can have been a flush of `level`, at the mean time of those of the run and perhaps of `others`.
    fn at_level(&self, level: &str, others: bool) -> Durability {
        let [us, flush_us] = [self.us, self.flush_us].map(format_time);
        let text = format!("{} {us} on average, a flush of {level} {flush_us}: {}", self.what, other_flushes(level));
        match self.us / self.flush_us {
            share if share >= LEAST_WAITED => Durability::Proven,
            share if others && share >= LEAST_WAITED_BESIDE_OTHERS => Durability::NotVisible(text),
            _ => Durability::Lost(text),
        }
    }
}

/// Each level with a volatile cache must have been flushed; what lies above it may not count flushes.
fn at_device(
    facts: &Facts,
    chain: &str,
    forced: bool,
    counters: &Counters,
    (due, waited): (&Due, Option<&Waited>),
) -> Durability {
    let of = |device: &str, name: &str| facts.get(&format!("device.{device}.{name}")).map(String::as_str);
    let flushes = |device: &str| {
        let counted = of(device, "counts_flushes") == Some("true");
        counted.then(|| counters.rate_of_named(&MetricFamily::FlushesCompleted.metric_name(device))).flatten()
    };
    let (mut seen, mut volatile, mut known) = (None::<(f64, &str)>, false, false);
    for level in chain.split(" < ") {
        let caches: Vec<_> = level.split(' ').filter_map(|device| Some((device, of(device, "write_cache")?))).collect();
        known |= !caches.is_empty();
        let kept = |(device, cache): &&(&str, &str)| {
            *cache != "write back" && of(device, "layer").is_some_and(|layer| layer.ends_with(BUFFERED))
        };
        if let Some((device, _)) = caches.iter().find(kept) {
            return Durability::Lost(format!("{device} keeps writes in the page cache and takes no flush"));
        }
        let needs: Vec<_> = caches.iter().filter(|(_, cache)| *cache == "write back").collect();
        volatile |= !needs.is_empty();
        let counted: Option<Vec<f64>> = needs.iter().map(|(device, _)| flushes(device)).collect();
        // Striped data is flushed at each device.
        let least = counted.into_iter().flatten().reduce(f64::min);
        if let Some(rate) = least.filter(|rate| seen.is_none_or(|(least, _)| *rate < least)) {
            seen = Some((rate, level));
        }
    }
    match seen {
        Some((rate, level)) if rate >= due.flushes => flushed(rate, level, due, waited),
        Some(_) if forced && chain.split([' ', '<']).any(|device| of(device, "fua") == Some("1")) => {
            Durability::NotVisible("the log is written by forced writes, which the kernel counts as writes".to_owned())
        }
        Some((rate, level)) => Durability::Lost(format!(
            "{rate:.1} flushes/s at {level} for {:.1} {} per second: at least {:.1} flushes/s expected",
            due.asked, due.what, due.flushes
        )),
        None if volatile => Durability::NotVisible(format!("none of {chain} counts flushes")),
        None if known => Durability::WriteThrough,
        None => Durability::NotVisible(format!("the write cache of {chain} is not known")),
    }
}

/// A server flushes its data, too, so these flushes need not be those of others.
fn other_flushes(level: &str) -> String {
    format!("{level} was flushed for other writes")
}

/// The device was flushed often enough, for the log or for other writes.
fn flushed(rate: f64, level: &str, due: &Due, waited: Option<&Waited>) -> Durability {
    match waited {
        // Of merged commits only the fewest flushes are certainly those of the run.
        Some(waited) => waited.at_level(level, foreign_writes::are_of_others(rate, due.flushes * due.of_a_sync)),
        None if foreign_writes::are_of_others(rate, due.most()) => Durability::NotVisible(format!(
            "{}: {} flushes/s for {} {} per second",
            other_flushes(level),
            format_rounded(rate),
            format_rounded(due.asked),
            due.what
        )),
        None => Durability::Proven,
    }
}
