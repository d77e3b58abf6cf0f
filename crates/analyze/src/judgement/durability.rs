//! Whether commits waited for storage: flushes at the device of the log, compared with the requested syncs.
//!
//! A sync reaches no device if a library swallows it, or if the file system is in memory. The kernel merges
//! simultaneous flushes, so several sessions need fewer flushes than syncs.

use mindful_core::contract::fact::Kept;
use mindful_core::contract::metric::{Counter, MetricFamily};
use mindful_core::record::run::{Facts, Run, StepRecord};
use mindful_core::workload::{Compatibility, OpKind};

use crate::figures::counters::Counters;
use crate::figures::floors::{BUFFERED, places};
use crate::figures::log::commits;
use crate::figures::work::Work;
use crate::{commit_contrast, io_job};

const FEWEST_UPDATES: f64 = 100.0;
/// Share of the syncs of one session that must have reached the device: both are counted at once.
const LEAST_FLUSHED: f64 = 0.95;

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
        if !asked || simulated || io_job::on_files(run) || commit_contrast::is_of_files(&step.head) {
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
        let commits = commits(run, step, Some(work), counters);
        let syncs = counters.rate(Counter::LogSyncs);
        let sessions = step.head.session_count();
        let of_place = |(number, place): (usize, String)| {
            // Syncs belong to the first log; other files written before a commit returns are synced once for each
            // group.
            let asked = syncs.filter(|_| number == 0).into_iter().chain(commits).reduce(f64::max);
            asked.map_or_else(
                || Self::NotVisible("neither syncs nor commits are counted".to_owned()),
                |asked| at_place(run, &place, counters, &Due::new(asked, sessions)),
            )
        };
        let all: Vec<Self> = places(&run.environment, Kept::Log).enumerate().map(of_place).collect();
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
}

/// Durability of the files at one place.
fn at_place(run: &Run, place: &str, counters: &Counters, due: &Due) -> Durability {
    let facts = &run.environment;
    if let Some(memory) = facts.get(&format!("{place}.memory")) {
        return Durability::Lost(memory.clone());
    }
    let Some(chain) = facts.get(&format!("{place}.device")) else {
        let why = facts.get(&format!("{place}.device_not_seen"));
        return Durability::NotVisible(why.cloned().unwrap_or_else(|| "its device is not known".to_owned()));
    };
    let forced = run.description.as_ref().is_some_and(|description| description.log_by_forced_writes);
    at_device(facts, chain, forced, counters, due)
}

impl Durability {
    /// `commit`, the requested commits, with the observed durability.
    pub(crate) fn qualified(&self, commit: String) -> String {
        match self {
            Self::NotAsked | Self::Proven | Self::WriteThrough => commit,
            Self::Off(settings) if settings.is_empty() => commit,
            Self::Off(settings) => format!("{commit}, not safe in a crash: {}", settings.join(", ")),
            Self::Lost(_) => format!("{commit}, which was not on storage"),
            Self::NotVisible(_) => format!("{commit} as asked; flushes at the device were not visible"),
        }
    }
}

struct Due {
    asked: f64,
    flushes: f64,
    sessions: usize,
}

impl Due {
    fn new(asked: f64, sessions: usize) -> Self {
        let flushes = asked * if sessions > 1 { 1.0 / sessions as f64 } else { LEAST_FLUSHED };
        Self { asked, flushes, sessions }
    }
}

/// Each level with a volatile cache must have been flushed; levels above it may not count flushes.
fn at_device(facts: &Facts, chain: &str, forced: bool, counters: &Counters, due: &Due) -> Durability {
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
        Some((rate, _)) if rate >= due.flushes => Durability::Proven,
        Some(_) if forced && chain.split([' ', '<']).any(|device| of(device, "fua") == Some("1")) => {
            Durability::NotVisible("the log is written by forced writes, which the kernel counts as writes".to_owned())
        }
        Some((rate, level)) => Durability::Lost(format!(
            "{rate:.1} flushes/s at {level}, {:.1} syncs or commits/s by {}: at least {:.1} flushes/s expected",
            due.asked,
            mindful_core::plan::units::format_counted(due.sessions, "session"),
            due.flushes
        )),
        None if volatile => Durability::NotVisible(format!("none of {chain} counts flushes")),
        None if known => Durability::WriteThrough,
        None => Durability::NotVisible(format!("the write cache of {chain} is not known")),
    }
}
