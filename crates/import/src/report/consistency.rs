//! Whether the figures of a report agree with each other.
//!
//! A report states most figures twice: as a total and as a rate, in the load profile and among the statistics, as a count with
//! a mean and as a time. They agree to their printed digits in every report that a database wrote, and a changed figure
//! rarely in all of its places.

use mindful_core::contract::wait::WaitClass;
use mindful_oracle_terms::{self as oracle, statistic};

use super::contents::{EventList, Report, Scope, Statistic};
use super::waited::EventLine;
use crate::number::{APART, CLOCKS_APART, Printed};

/// Smallest compared rate, a second: below it a single event decides.
const LEAST_PER_S: f64 = 1.0;

/// Waits without time, which the lists may lack, and their share of all.
const UNLISTED: f64 = 20.0;
const UNLISTED_SHARE: f64 = 0.2;
/// Tolerance of the hits against the reads, percent.
const LEAST_HITS: f64 = 2.0;

/// Reads outside of the cache's requests.
const NOT_LOGICAL: &str = "physical reads direct temporary tablespace";

/// Logical reads of the column store.
const IN_MEMORY: &str = "session logical reads - IM";

/// The contradictions, in words.
pub(super) fn contradictions(report: &Report) -> Vec<String> {
    [totals(report), profiles(report), levels(report), time(report), waits(report), histograms(report)].concat()
}

/// Totals by the elapsed time against their rates.
fn totals(report: &Report) -> Vec<String> {
    let Some(elapsed) = report.elapsed() else { return Vec::new() };
    let statistics = report.statistics.iter();
    let off = statistics.filter_map(|(name, Statistic { total, per_s })| {
        let (rate, per_s) = differing_rates(total.and_then(|total| total.over(elapsed)), *per_s)?;
        Some(format!("{name}: {rate:.1}/s by its total, {per_s:.1}/s as printed"))
    });
    off.collect()
}

fn differing_rates(a: Option<Printed>, b: Option<Printed>) -> Option<(f64, f64)> {
    Printed::contradiction(a, b, APART).filter(|(a, b)| a.max(*b) >= LEAST_PER_S)
}

/// Compares statistics with the lines of both profiles.
fn profiles(report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    for name in report.statistics.keys() {
        for (place, line) in [("load profile", report.load_line(name)), ("I/O profile", report.io_line(name))] {
            let differing = differing_rates(line, report.statistic_per_s(name));
            found.extend(
                differing
                    .map(|(line, rate)| format!("{name}: {line:.1}/s in the {place}, {rate:.1}/s in the statistics")),
            );
        }
    }
    found
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
    let rate = |name: &str| report.rate(name);
    let written = rate(statistic::WRITE_REQUESTS).zip(rate(statistic::REDO_WRITES)).map(|(data, redo)| data.plus(redo));
    let hits = report.efficiency.get("buffer hit %").filter(|_| report.scope == Scope::Instance);
    // Logical reads of the column store are not requests to the cache.
    let in_memory = rate(IN_MEMORY).is_some_and(|rate| rate.value > 0.0);
    let by_reads = blocks.zip(logical).filter(|(_, logical)| logical.value >= LEAST_PER_S && !in_memory);
    let by_reads = by_reads.map(|(blocks, logical)| 100.0 * (1.0 - blocks.value / logical.value));
    let missed = hits.zip(by_reads).filter(|(hits, by_reads)| **hits + LEAST_HITS < *by_reads);
    let found = [
        above(asked, logical, "blocks/s read from storage, of logical reads of"),
        above(requests, blocks, "read requests/s, of blocks read of"),
        above(requests, rate(statistic::ALL_READ_REQUESTS), "read requests/s, of all read requests of"),
        above(written, rate(statistic::ALL_WRITE_REQUESTS), "write requests/s with redo, of all write requests of"),
        missed.map(|(hits, by_reads)| format!("buffer hit {hits:.2} %, by reads at least {by_reads:.2} %")),
    ];
    found.into_iter().flatten().collect()
}

/// Statements of the time: of the report, of the database, of CPU.
fn time(report: &Report) -> Vec<String> {
    let Some(elapsed) = report.elapsed() else { return Vec::new() };
    let head = report.snapshots.db_time_min.map(|minutes| minutes.scaled(60.0));
    let model = report.modelled("DB time");
    let cpu = report.modelled("DB CPU");
    let line = |names: &[&str]| report.line(names).map(|per_s| per_s.times(elapsed));
    // In the list of Statspack, `CPU time` is a statistic.
    let listed =
        report.top.iter().find(|line| line.name == "DB CPU").and_then(|line| Some(line.waited.time_us?.scaled(1e-6)));
    let (model_place, line_place) = ("in the time model", "in the load profile");
    let places = [("at the head", head), (model_place, model), (line_place, line(&["db time", "db time(s)"]))];
    let cpus = [("in the list", listed), (model_place, cpu), (line_place, line(&["db cpu(s)"]))];
    let mut found: Vec<_> = stated("DB time", &places).into_iter().chain(stated("DB CPU", &cpus)).collect();
    if let Some(contradiction) = report.contradicting_clock().filter(|_| report.scope == Scope::Instance) {
        found.push(contradiction);
    }
    if let Some((cpu, db)) = cpu.zip(model.or(head)).filter(|(cpu, db)| cpu.exceeds(*db, CLOCKS_APART)) {
        found.push(format!("DB CPU: {:.1} s, of a DB time of {:.1} s", cpu.value, db.value));
    }
    let cpus = report.identity.cpus.filter(|cpus| *cpus > 0.0);
    let counts = cpus.zip(report.host.get("NUM_CPUS").copied());
    if let Some((head, listed)) = counts.filter(|(head, listed)| (head - listed).abs() > 0.5) {
        found.push(format!("{head} CPUs at the head, {listed} in the statistics of the host"));
    }
    let available = cpus.map(|cpus| Printed { value: cpus * elapsed.value, half_step: 1.0 });
    if let Some((cpu, all)) = cpu.zip(available).filter(|(cpu, all)| cpu.exceeds(*all, CLOCKS_APART)) {
        found.push(format!("DB CPU: {:.1} s, of {:.1} s that the CPUs have", cpu.value, all.value));
    }
    found
}

/// The first two different statements of one time.
fn stated(what: &str, places: &[(&str, Option<Printed>)]) -> Option<String> {
    let known: Vec<_> = places.iter().filter_map(|(place, time)| Some((place, (*time)?))).collect();
    known.iter().enumerate().find_map(|(at, (place, time))| {
        let (other, against) = known[at + 1..].iter().find(|(_, other)| time.differs(*other, APART))?;
        Some(format!("{what}: {:.1} s {place}, {:.1} s {other}", time.value, against.value))
    })
}

/// Waits: their time by their number and mean, their share of all time, in all lists, and of all sessions.
fn waits(report: &Report) -> Vec<String> {
    let lists = [&report.foreground, &report.background, &report.both].into_iter().flatten();
    let lines = lists.flat_map(|list| &list.lines).chain(&report.top).chain(&report.top_background);
    let mut found: Vec<_> = lines.filter_map(mean).chain(shares(&report.top)).collect();
    if report.foreground.is_none() {
        return found;
    }
    found.extend(head(report));
    let Some(db) = report.db_time_s().map(|db| Printed { value: db.value * 1e6, half_step: 1e6 }) else { return found };
    // Idle waits of background processes are in some lists, under names of each release.
    let busy = [WaitClass::Read, WaitClass::Log, WaitClass::Writer, WaitClass::Contention];
    for line in report.top.iter().filter(|line| busy.contains(&oracle::class(&line.name))) {
        if let Some(time) = line.waited.time_us.filter(|time| time.exceeds(db, CLOCKS_APART)) {
            let (waited, all) = (time.value / 1e6, db.value / 1e6);
            found.push(format!("{}: {waited:.1} s waited, of a DB time of {all:.1} s", line.name));
        }
    }
    found
}

/// Compares the list at the head with that of the foreground. Statspack adds the background at the head.
fn head(report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    let listed = |list: Option<&EventList>, name: &str| Some(list?.lines.iter().find(|line| line.name == name)?.waited);
    for line in &report.top {
        let Some(own) = listed(report.foreground.as_ref(), &line.name) else { continue };
        let others = listed(report.background.as_ref(), &line.name).unwrap_or_default();
        for (unit, at_head, own, others) in [
            ("waits", line.waited.waits, own.waits, others.waits),
            ("us", line.waited.time_us, own.time_us, others.time_us),
        ] {
            let Some((at_head, own)) = at_head.zip(own) else { continue };
            let all = own.plus(others.unwrap_or(Printed::exact(0.0)));
            if own.exceeds(at_head, APART) || at_head.exceeds(all, APART) {
                let (at_head, own) = (at_head.value, own.value);
                found.push(format!("{}: {at_head:.0} {unit} at the head, {own:.0} in the list", line.name));
            }
        }
    }
    found
}

/// Compares printed shares of time with times: all have the ratio of the longest.
fn shares(lines: &[EventLine]) -> Vec<String> {
    let known = || lines.iter().filter_map(|line| Some((&line.name, line.waited.time_us?, line.percent?)));
    let Some((_, longest_us, most)) = known().max_by(|a, b| a.1.value.total_cmp(&b.1.value)) else { return Vec::new() };
    let off = known().filter_map(|(name, us, percent)| {
        let by_time = us.over(longest_us)?.times(most);
        let (printed, by_time) = Printed::contradiction(Some(percent), Some(by_time), CLOCKS_APART)?;
        Some(format!("{name}: {printed:.1} % of time as printed, {by_time:.1} % by its time"))
    });
    off.collect()
}

/// Compares the counts of histograms with those of the lists, and their shares with all waits.
fn histograms(report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    for (name, histogram) in &report.histograms {
        found.extend(histogram.sum.map(|sum| format!("{name}: shares of its waits that add up to {sum:.1} %")));
        let printed = histogram.waits.map(|waits| Printed { half_step: waits.half_step + UNLISTED, ..waits });
        let differing = Printed::contradiction(printed, report.listed_waits(name), UNLISTED_SHARE);
        let words = |(here, listed)| format!("{name}: {here:.0} waits in the histogram, {listed:.0} in the lists");
        found.extend(differing.map(words));
    }
    found
}

fn mean(line: &EventLine) -> Option<String> {
    let by_mean = line.waited.mean_us.zip(line.waited.waits).map(|(mean, waits)| mean.times(waits));
    let (us, us_by_mean) = Printed::contradiction(line.waited.time_us, by_mean, APART)?;
    Some(format!("{}: {:.1} s waited, {:.1} s by number and mean", line.name, us / 1e6, us_by_mean / 1e6))
}
