//! Whether the figures of a report agree with each other.
//!
//! A report states most figures twice: as a total and as a rate, in the load profile and among the statistics, as a count with
//! a mean and as a time. They agree to their printed digits in every report that a database wrote, and a changed figure
//! rarely in all of its places.

use mindful_core::contract::wait::WaitClass;
use mindful_oracle_terms::{self as oracle, statistic};

use super::contents::{Report, STATED, Scope, Statistic};
use super::waited::EventLine;
use crate::number::{APART, CLOCKS_APART, Printed};

/// Smallest compared rate, a second: below it a single event decides.
const LEAST_PER_S: f64 = 1.0;

/// Reads outside of the cache's requests.
const NOT_LOGICAL: &str = "physical reads direct temporary tablespace";

/// The contradictions, in words.
pub(super) fn contradictions(report: &Report) -> Vec<String> {
    [totals(report), profile(report), levels(report), time(report), waits(report)].concat()
}

/// Totals by the elapsed time against their rates.
fn totals(report: &Report) -> Vec<String> {
    let Some(elapsed) = report.elapsed() else { return Vec::new() };
    let statistics = report.statistics.iter();
    let off = statistics.filter_map(|(name, Statistic { total, per_s })| {
        let (rate, per_s) = ((*total)?.over(elapsed)?, (*per_s)?);
        let counts = rate.value.max(per_s.value) >= LEAST_PER_S;
        (counts && rate.differs(per_s, APART))
            .then(|| format!("{name}: {:.1}/s by its total, {:.1}/s as printed", rate.value, per_s.value))
    });
    off.collect()
}

fn profile(report: &Report) -> Vec<String> {
    let off = STATED.iter().filter_map(|(name, lines)| {
        let line = report.line(lines)?;
        let rate = report.statistic_per_s(name)?;
        let counts = rate.value.max(line.value) >= LEAST_PER_S;
        (counts && line.differs(rate, APART))
            .then(|| format!("{name}: {:.1}/s in the load profile, {:.1}/s in the statistics", line.value, rate.value))
    });
    off.collect()
}

/// Compares the blocks served by a level with its requests.
fn levels(report: &Report) -> Vec<String> {
    let logical = report.rate(statistic::LOGICAL_READS);
    let blocks = report.rate(statistic::BLOCKS_READ);
    let requests = report.rate(statistic::READ_REQUESTS);
    let temporary = report.rate(NOT_LOGICAL).map_or(0.0, |rate| rate.value);
    let asked = blocks.map(|blocks| Printed { value: blocks.value - temporary, ..blocks });
    let above = |part: Option<Printed>, whole: Option<Printed>, words: &str| {
        let (part, whole) = part.zip(whole)?;
        (part.value >= LEAST_PER_S && part.exceeds(whole, CLOCKS_APART))
            .then(|| format!("{:.1} {words} {:.1}/s", part.value, whole.value))
    };
    let found = [
        above(asked, logical, "blocks/s read from storage, of logical reads of"),
        above(requests, blocks, "read requests/s, of blocks read of"),
    ];
    found.into_iter().flatten().collect()
}

/// Statements of the time: of the report, of the database, of CPU.
fn time(report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    let Some(elapsed) = report.elapsed() else { return found };
    let head = report.snapshots.db_time_min.map(|minutes| minutes.scaled(60.0));
    let model = report.modelled("DB time");
    let line = report.line(&["db time", "db time(s)"]).map(|per_s| per_s.times(elapsed));
    let named = [("at the head", head), ("in the time model", model), ("in the load profile", line)];
    let known: Vec<_> = named.into_iter().filter_map(|(place, time)| Some((place, time?))).collect();
    for (at, (place, time)) in known.iter().enumerate() {
        if let Some((other, against)) = known[at + 1..].iter().find(|(_, other)| time.differs(*other, APART)) {
            found.push(format!("DB time: {:.1} s {place}, {:.1} s {other}", time.value, against.value));
        }
    }
    if let Some(contradiction) = report.contradicting_clock().filter(|_| report.scope == Scope::Instance) {
        found.push(contradiction);
    }
    let cpu = report.modelled("DB CPU");
    if let Some((cpu, db)) = cpu.zip(model.or(head)).filter(|(cpu, db)| cpu.exceeds(*db, CLOCKS_APART)) {
        found.push(format!("DB CPU: {:.1} s, of a DB time of {:.1} s", cpu.value, db.value));
    }
    let cpus = report.identity.cpus.filter(|cpus| *cpus > 0.0);
    let available = cpus.map(|cpus| Printed { value: cpus * elapsed.value, half_step: 1.0 });
    if let Some((cpu, all)) = cpu.zip(available).filter(|(cpu, all)| cpu.exceeds(*all, CLOCKS_APART)) {
        found.push(format!("DB CPU: {:.1} s, of {:.1} s that the CPUs have", cpu.value, all.value));
    }
    found
}

/// Waits: their time by their number and mean, in both lists, and of all sessions.
fn waits(report: &Report) -> Vec<String> {
    let lists = [&report.foreground, &report.both].into_iter().flatten().flat_map(|list| &list.lines);
    let mut found: Vec<_> = lists.chain(&report.top).filter_map(mean).collect();
    let Some(foreground) = &report.foreground else { return found };
    for line in &report.top {
        let same = foreground.lines.iter().find(|other| other.name == line.name);
        if let Some((a, b)) = same.and_then(|other| line.waits.zip(other.waits)).filter(|(a, b)| a.differs(*b, APART)) {
            found.push(format!("{}: {:.0} waits at the head, {:.0} in the list", line.name, a.value, b.value));
        }
    }
    let Some(db) = report.db_time_s().map(|db| Printed { value: db.value * 1e6, half_step: 1e6 }) else { return found };
    // Idle waits of background processes are in some lists, under names of each release.
    let busy = [WaitClass::Read, WaitClass::Log, WaitClass::Writer, WaitClass::Contention];
    for line in report.top.iter().filter(|line| busy.contains(&oracle::class(&line.name))) {
        if let Some(time) = line.time_us.filter(|time| time.exceeds(db, CLOCKS_APART)) {
            let (waited, all) = (time.value / 1e6, db.value / 1e6);
            found.push(format!("{}: {waited:.1} s waited, of a DB time of {all:.1} s", line.name));
        }
    }
    found
}

fn mean(line: &EventLine) -> Option<String> {
    let (waits, time, mean) = (line.waits?, line.time_us?, line.mean_us?);
    let by_mean = mean.times(waits);
    time.differs(by_mean, APART).then(|| {
        format!("{}: {:.1} s waited, {:.1} s by number and mean", line.name, time.value / 1e6, by_mean.value / 1e6)
    })
}
