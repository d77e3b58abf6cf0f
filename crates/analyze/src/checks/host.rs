//! Activity of the host in the window that affects a figure, and the network of a client.

use std::collections::BTreeMap;

use mindful_core::contract::metric::{Counter, HostSource, MetricFamily};
use mindful_core::plan::units::format_counted;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::Finding;
use mindful_core::result::finding::{OTHERS_BUSY, codes};

use crate::figures::caps::Cap;
use crate::figures::counters::{Change, Counters};
use crate::figures::cpu::{held_back, left_to_host};
use crate::figures::others::{Named, Others};
use crate::figures::rates;
use crate::figures::window::window;
use crate::judgement::headline::percent;
use crate::judgement::verdict::HOST_BUSY;

/// Share of the window that a control group may be held back before it is reported.
pub(crate) const THROTTLED_SHARE: f64 = 0.01;
/// Busy share of a single CPU that is no longer ordinary while the host as a whole has room.
pub(crate) const ONE_CPU_BUSY: f64 = 0.95;
/// Pages per second swapped in that are more than a stray one.
pub(crate) const SWAPPED_IN_PER_S: f64 = 1.0;

/// Names of processes that are reported, and the least of a CPU that makes one worth its name.
const NAMED: usize = 3;
const NAMED_CORES: f64 = 0.02;

/// Names each limit of volume, instance or control group that held the storage back, with its time or share.
pub(crate) fn caps_reached(caps: &[Cap]) -> Option<Finding> {
    let reported: Vec<_> = caps.iter().filter(|cap| cap.tells).map(|cap| &*cap.in_words).collect();
    let text = "A limit of the volume, the instance or the control group was reached, and for that time the figure \
                is that limit. A larger volume, instance or limit raises it; more sessions do not.";
    (!reported.is_empty()).then(|| codes::STORAGE_CAP.finding(text, reported.join("; ")))
}

/// CPU that was not the run's: by which processes, if they are visible.
pub(crate) fn foreign_cpu(others: &Others) -> Option<Finding> {
    (others.share() > OTHERS_BUSY).then(|| {
        let named: Vec<_> =
            others.processes.iter().filter(|named| named.cores >= NAMED_CORES).take(NAMED).map(in_words).collect();
        let by = if named.is_empty() { "processes that cannot be seen from here".to_owned() } else { named.join(", ") };
        let text = "Other processes used the CPUs of this host during the window, and sessions waited for a CPU. End \
                    them, or measure when the host is quiet.";
        let (cores, cpus, share) = (others.cores, others.cpus.round(), percent(others.share()));
        let evidence = format!("{cores:.2} of {cpus} CPUs, {share}: {by}");
        codes::FOREIGN_CPU.finding(text, evidence)
    })
}

fn in_words(named: &Named) -> String {
    let Named { name, pids, cores, .. } = named;
    match pids.first() {
        Some(pid) if pids.len() == 1 => format!("{name} (pid {pid}) {cores:.2}"),
        _ => format!("{name} ({}) {cores:.2}", format_counted(pids.len(), "process")),
    }
}

pub(crate) fn check_window(counters: &Counters) -> [Option<Finding>; 5] {
    [throttled(counters), one_cpu(counters), dropped(counters), swapped(counters), killed(counters)]
}

fn throttled(counters: &Counters) -> Option<Finding> {
    let share = held_back(counters)?;
    let periods = counters.growth(Counter::ThrottledPeriods).unwrap_or(0.0);
    (share > THROTTLED_SHARE).then(|| {
        let text = "The server's control group reached its CPU limit, and latencies include the time in which it \
                    could not run. Raise cpu.max (version 1: cpu.cfs_quota_us), or report the limit with the \
                    figures.";
        let evidence = format!(
            "held back for {} of a CPU's time, in {}",
            percent(share),
            format_counted(periods as u64, "period")
        );
        codes::CPU_THROTTLED.finding(text, evidence)
    })
}

/// A CPU that is full while the host is not: interrupts, or a single process, are the limit.
fn one_cpu(counters: &Counters) -> Option<Finding> {
    let left = left_to_host(counters);
    let host = rates::host_busy_share(|counter| counters.rate(counter))? / left;
    if host > HOST_BUSY {
        return None;
    }
    let busy = |change: &Change| change.rate().map(|us| us / 1e6 / left);
    let cpus = counters.0.iter().filter(|change| change.source == HostSource::Stat.name());
    let cpus = cpus.filter_map(|change| Some((MetricFamily::CpuBusy.find_thing(&change.name)?, busy(change)?)));
    let (cpu, most) = cpus.filter(|(_, busy)| *busy > ONE_CPU_BUSY).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let text = "One CPU was full while others were not. Interrupts of the device, or a process that exists only \
                once, may be the limit. Spread the interrupts, or look at the busiest process.";
    let evidence = format!("CPU {cpu} {} busy, the host {}", percent(most), percent(host));
    Some(codes::ONE_CPU_FULL.finding(text, evidence))
}

fn dropped(counters: &Counters) -> Option<Finding> {
    let times = counters.growth(Counter::PageCacheDrops).filter(|times| *times > 0.0)?;
    let text = "The page cache was emptied during the window, so later reads came from storage that would have been \
                cached. Repeat the run.";
    Some(codes::PAGE_CACHE_DROPPED.finding(text, format_counted(times as u64, "time")))
}

fn swapped(counters: &Counters) -> Option<Finding> {
    let per_s = counters.rate(Counter::PagesSwappedIn).filter(|per_s| *per_s > SWAPPED_IN_PER_S)?;
    let text = "The host read memory back from swap. Latencies include page faults, and the device served swap as well. \
                Free memory, or give the database less.";
    Some(codes::SWAPPED_IN.finding(text, format!("{per_s:.1} pages/s")))
}

fn killed(counters: &Counters) -> Option<Finding> {
    let killed = counters.growth(Counter::OomKills).filter(|killed| *killed > 0.0)?;
    let text = "The kernel killed processes during the window because memory ran out. Free memory, or give the \
                database less.";
    Some(codes::OUT_OF_MEMORY.finding(text, format!("{} killed", format_counted(killed as u64, "process"))))
}

/// Share of an interface's speed in bytes counted that means that it is full: gaps and headers of frames are not
/// counted. They are 2 % of long frames and more of short ones.
const NETWORK_FULL: f64 = 0.9;

/// The fullest interface of this process's host, where one is full.
pub(super) fn network_full(step: &StepRecord, counters: &Counters) -> Option<Finding> {
    let speeds = speeds(step);
    let of_network = counters.0.iter().filter(|change| change.source == HostSource::Network.name());
    let ways = of_network.filter_map(|change| {
        let does = |family: MetricFamily, does| Some((family.find_thing(&change.name)?, does));
        let received = does(MetricFamily::Received, "received");
        let (interface, does) = received.or_else(|| does(MetricFamily::Sent, "sent"))?;
        let (bytes_per_s, speed) = (change.rate()?, *speeds.get(interface)?);
        let mb_per_s = format!("{:.0} of {:.0} MB/s", bytes_per_s / 1e6, speed / 1e6);
        Some((bytes_per_s / speed, format!("{interface} {does} {mb_per_s}")))
    });
    let (share, way) = ways.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (share > NETWORK_FULL).then(|| {
        let text = "An interface of mindful's host was full, so the figures are those of the network. Use --loop \
                    server, a faster network, or ranks on more hosts.";
        let evidence = format!("{}{way}, {}", first_of_several(step), percent(share));
        codes::NETWORK_FULL.finding(text, evidence)
    })
}

/// The part of a rank judges its own network, because the merged run has only the counters of the first rank.
pub fn check_part(run: &Run) -> Vec<Finding> {
    let check = |step: &StepRecord| network_full(step, &Counters::from_step(step, &window(step)?));
    run.steps.iter().filter_map(check).collect()
}

fn first_of_several(step: &StepRecord) -> String {
    match &*step.ranks {
        [first, _, ..] => format!("rank {} on {}: ", first.rank, first.host),
        _ => String::new(),
    }
}

/// Capacity of each interface in one direction, by its last reading.
fn speeds(step: &StepRecord) -> BTreeMap<&str, f64> {
    let of_network = step.series.iter().filter(|series| series.source == HostSource::Network.name());
    let named = of_network.flat_map(|series| {
        let last = series.readings.last().map_or(&[][..], |reading| &*reading.values);
        series.metrics.iter().zip(last)
    });
    named
        .filter_map(|(metric, value)| {
            Some((MetricFamily::Speed.find_thing(&metric.name)?, value.filter(|v| *v > 0.0)?))
        })
        .collect()
}
