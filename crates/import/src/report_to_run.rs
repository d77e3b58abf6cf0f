//! A report as a step of a run: its counters and the time of its waits.

use mindful_core::contract::event::Event;
use mindful_core::contract::fact;
use mindful_core::contract::metric::{Counter, Metric, shared};
use mindful_core::contract::wait::TIMES;
use mindful_core::record::latency::{SampledLatencies, WAIT_HISTOGRAM, wait_kind};
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};
use mindful_oracle_terms::{self as oracle, event, statistic};

use crate::report::{Report, Scope};
use crate::reported::{Reported, sessions_of};

/// Share of a latency that its printed digits may be off before it is worth a word.
const COARSE: f64 = 0.05;
/// The source of what statistics and the time model tell.
const STATISTICS: &str = "report";
/// The source of what wait events tell, in the words of our own runs.
/// Waits of background processes, where a report does not tell them from those of sessions.
const BACKGROUND: [&str; 6] = [
    event::LOG_WRITE,
    event::PARALLEL_WRITE,
    event::LOG_READ,
    "control file parallel write",
    "control file sequential read",
    "db file async I/O submit",
];

/// A report, and whether its last line is there.
pub type Read = (Report, bool);

/// Most reports that are taken from one file: years of them, one an hour, are kept in files of their own.
pub const MOST_REPORTS: usize = 4_096;

/// Most columns that a table of reports is read to: more than any that is known has.
pub const MOST_COLUMNS: usize = 1_024;

/// A step of each report of the file `name`; of several in one file each is named by its place.
///
/// # Errors
/// As of a single one, or there are more than [`MOST_REPORTS`].
pub fn each(
    name: &str,
    what: impl Fn(&Report) -> &'static str,
    reports: impl ExactSizeIterator<Item = Read>,
) -> Result<Vec<Reported>> {
    if reports.len() > MOST_REPORTS {
        return Err(Error::run(
            format!("{name} holds more than {MOST_REPORTS} reports"),
            "give a part of them at a time, or look at what it holds",
        ));
    }
    let many = reports.len() > 1;
    let step = |(number, (report, ended)): (usize, Read)| {
        let file = if many { format!("{name}#{number}") } else { name.to_owned() };
        reported(&file, what(&report), report, ended)
    };
    (1..).zip(reports).map(step).collect()
}

/// The step of `report`, which stands in `file` and came to its end or not.
///
/// # Errors
/// A report that tells neither how long it is nor a single figure.
fn reported(file: &str, what: &'static str, report: Report, ended: bool) -> Result<Reported> {
    let nothing = report.profile.is_empty() && report.statistics.is_empty() && report.top.is_empty();
    let Some(seconds) = report.elapsed_s().filter(|_| !nothing) else {
        let missing = if nothing { "no load profile, no statistics and no events" } else { "no elapsed time" };
        return Err(Error::run(
            format!("{file}: its {what} has {missing}"),
            "it was cut, or is of a form not known here: make the report anew, or send it to the maintainers",
        ));
    };
    let identity = &report.identity;
    let place = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
    let whose = if report.scope == Scope::Cluster { "all instances".to_owned() } else { place(&identity.instance) };
    let target = format!("oracle: {} ({whose}) on {}", place(&identity.database), place(&identity.host));
    let mut reported = Reported::of_oracle(file, what, target);
    reported.version.clone_from(&identity.release);
    reported.block_bytes = identity.block_bytes.map(|bytes| bytes as u64);
    reported.cache_bytes = identity.cache_bytes.map(|bytes| bytes as u64);
    reported.sessions = sessions_of(file);
    reported.host = host(&report);
    reported.facts = report.parameters.clone();
    let (begin, end) = match report.snapshots.clock_s {
        Some((begin, end)) => (begin * 1_000_000, end * 1_000_000),
        None => (0, (seconds * 1e6) as i64),
    };
    reported.began_us = report.snapshots.clock_s.map(|_| begin);
    reported.boundaries(vec![begin, end]);
    reported.grew(STATISTICS, (begin, end), 1, counters(&report, seconds));
    reported.grew(TIMES, (begin, end), 1, wait_times(&report));
    histograms(&mut reported, &report);
    reported.events.push(Event::StepEnd { error: None, interrupted: false });
    caveats(&mut reported, &report, ended);
    reported.report = Some(Box::new(report));
    Ok(reported)
}

fn host(report: &Report) -> std::collections::BTreeMap<String, String> {
    let identity = &report.identity;
    let figure = |value: Option<f64>| value.map(|value| value.to_string());
    let facts = [
        (fact::CPU_COUNT, figure(identity.cpus)),
        (fact::CPU_CORES, figure(identity.cores)),
        (fact::CPU_SOCKETS, figure(identity.sockets)),
        (fact::HOST_NAME, identity.host.clone()),
        ("host.platform", identity.platform.clone()),
        ("memory.gib", figure(identity.memory_gib)),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn counter(counter: Counter, unit: &str, help: &str) -> Metric {
    Metric::counter(counter.name(), unit, help)
}

/// Totals of statistics, or what the load profile makes of them.
fn counters(report: &Report, seconds: f64) -> Vec<(Metric, Option<f64>)> {
    let total = |name: &str| report.total(name);
    let or_profile = |name: &str, lines: &[&str]| total(name).or_else(|| Some(report.profiled(lines)? * seconds));
    let cs = |name: &str| report.host.get(name).map(|cs| cs * 1e4);
    let single = report.best_foreground_waits(event::SINGLE_READ);
    let logical = or_profile(statistic::LOGICAL_READS, &["logical reads", "logical read"]);
    let blocks = or_profile(statistic::BLOCKS_READ, &["physical reads", "physical read"]);
    let written = or_profile(statistic::BLOCKS_WRITTEN, &["physical writes", "physical write"]);
    let reads = or_profile(statistic::READ_REQUESTS, &["read io requests"]);
    let writes = or_profile(statistic::WRITE_REQUESTS, &["write io requests"]);
    let redo = or_profile(statistic::REDO_BYTES, &["redo size"]);
    vec![
        (counter(shared::LOGICAL_READS, "blocks", "requests to the buffer cache"), logical),
        (counter(shared::PHYSICAL_READS, "blocks", "blocks read"), blocks),
        (counter(shared::READ_REQUESTS, "1", "requests that read them"), reads),
        (counter(shared::PHYSICAL_WRITES, "blocks", "blocks written"), written),
        (counter(shared::WRITE_REQUESTS, "1", "requests that wrote them, without redo"), writes),
        (counter(shared::LOG_BYTES, "bytes", "redo"), redo),
        (counter(shared::LOG_WRITES, "1", "writes of redo"), total(statistic::REDO_WRITES)),
        (counter(shared::COMMITS, "1", "transactions committed"), total(statistic::COMMITS)),
        (counter(shared::SINGLE_READS, "1", "waits of sessions for a block"), single.map(|waited| waited.waits)),
        (counter(shared::SINGLE_READ_TIME_US, "us", "time of these waits"), single.map(|waited| waited.time_us.value)),
        (counter(shared::SERVER_CPU_US, "us", "CPU of foreground and background"), report.cpu_s().map(|s| s * 1e6)),
        (counter(shared::BUSY_TIME_US, "us", "DB time"), report.db_time_s().map(|s| s * 1e6)),
        (counter(shared::HOST_CPU_BUSY_US, "us", "BUSY_TIME"), cs("BUSY_TIME")),
        (
            counter(shared::HOST_CPU_TOTAL_US, "us", "BUSY_TIME and IDLE_TIME"),
            cs("BUSY_TIME").zip(cs("IDLE_TIME")).map(|(busy, idle)| busy + idle),
        ),
    ]
}

/// How long waits took, where the report counts them.
fn histograms(reported: &mut Reported, report: &Report) {
    let kinds = [
        (wait_kind::READ, event::SINGLE_READ),
        (wait_kind::LOG_WRITE, event::LOG_WRITE),
        (wait_kind::LOG_SYNC, event::LOG_SYNC),
        (wait_kind::WRITE, event::PARALLEL_WRITE),
    ];
    let of = |(kind, event): (&str, &str)| Some((kind.to_owned(), report.latency(event)?));
    let sampled = SampledLatencies { one_of: 1, kinds: kinds.into_iter().filter_map(of).collect() };
    if !sampled.kinds.is_empty() {
        reported.events.push(Event::Latencies { source: WAIT_HISTOGRAM.to_owned(), boundary: 1, sampled });
        let text = "Waits are counted by buckets that each reach to twice the one before: percentiles are of their middles, \
                    the longest is the end of the last bucket. Waits of sessions and of background processes stand together.";
        reported.caveat(codes::IMPORTED_FIGURES, text, "wait event histogram");
    }
}

/// Time of each wait of sessions, by its class, and their CPU.
fn wait_times(report: &Report) -> Vec<(Metric, Option<f64>)> {
    let apart = report.foreground.is_some();
    let lines = report.foreground.as_ref().or(report.both.as_ref()).unwrap_or(&report.top);
    let of_sessions = lines.iter().filter(|line| apart || !BACKGROUND.contains(&line.name.as_str()));
    let waits = of_sessions.filter(|line| !event::CPU.contains(&line.name.as_str()));
    let mut times: Vec<_> = waits.filter_map(|line| Some((line.name.clone(), line.time_us?.value))).collect();
    let listed = report.top.iter().find(|line| event::CPU.contains(&line.name.as_str()));
    let cpu = report.time_model.get("DB CPU").map(|s| s * 1e6).or_else(|| Some(listed?.time_us?.value));
    times.extend(cpu.map(|us| ("DB CPU".to_owned(), us)));
    let metric = |name: &str| Metric::counter(oracle::class(name).counter_name(name), "us", "time of sessions");
    times.into_iter().map(|(name, us)| (metric(&name), Some(us))).collect()
}

fn caveats(reported: &mut Reported, report: &Report, ended: bool) {
    if !ended {
        let text = "The report has no end: it was cut, and figures of the sections that are missing are not known.";
        reported.caveat(codes::IMPORTED_DOUBT, text, reported.file.clone());
    }
    let single = report.best_foreground_waits(event::SINGLE_READ);
    let coarse = single.and_then(|waited| Some((waited.mean_us()?, waited.error_us()?)));
    if let Some((mean, error)) = coarse.filter(|(mean, error)| *error > COARSE * mean) {
        let text = "The report prints the time of its waits so coarsely that the read latency may be off by as much.";
        reported.caveat(codes::IMPORTED_FIGURES, text, format!("{mean:.0} us +-{error:.0}"));
    }
    if report.foreground.is_none() && report.both.is_some() {
        let text =
            "The report does not tell waits of sessions from those of background processes: shares of time hold both.";
        reported.caveat(codes::IMPORTED_FIGURES, text, "one list of waits");
    }
}
