//! A report as a step of a run: its counters and the time of its waits.

use mindful_core::contract::event::Event;
use mindful_core::contract::fact::Fact;
use mindful_core::contract::metric::{Counter, Metric};
use mindful_core::contract::wait::TIMES;
use mindful_core::record::latency::{SampledLatencies, WAIT_HISTOGRAM, wait_kind};
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};
use mindful_oracle_terms::{self as oracle, event, statistic};

use crate::input::too_many;
use crate::number::Printed;
use crate::old_step::{Growth, OldStep, sessions_of};
use crate::report::{Report, Scope, Waited, consistency};

/// Share of a latency that its printed digits may be off before it is worth a word.
const COARSE: f64 = 0.05;
/// Waits of background processes, if a report does not separate them from those of sessions.
const BACKGROUND: [&str; 6] = [
    event::LOG_WRITE,
    event::PARALLEL_WRITE,
    event::LOG_READ,
    "control file parallel write",
    "control file sequential read",
    "db file async I/O submit",
];

/// Limit of reports from one file: longer series, one an hour for years, are usually in separate files.
pub(crate) const MOST_REPORTS: usize = 4_096;

/// A step of each report of the file `name`; of several in one file each is named by its place.
pub(crate) fn steps(
    name: &str,
    what: impl Fn(&Report) -> &'static str,
    reports: impl ExactSizeIterator<Item = Report>,
) -> Result<Vec<OldStep>> {
    if reports.len() > MOST_REPORTS {
        return Err(too_many(name, MOST_REPORTS, "reports"));
    }
    let many = reports.len() > 1;
    let step = |(number, report): (usize, Report)| {
        let file = if many { format!("{name}#{number}") } else { name.to_owned() };
        step(&file, what(&report), report)
    };
    (1..).zip(reports).map(step).collect()
}

/// The step of `report`, which is in `file`.
fn step(file: &str, what: &'static str, report: Report) -> Result<OldStep> {
    let nothing = report.profile.is_empty() && report.statistics.is_empty() && report.top.is_empty();
    let Some(seconds) = report.elapsed().filter(|_| !nothing).map(|elapsed| elapsed.value) else {
        let missing = if nothing { "no load profile, no statistics and no events" } else { "no elapsed time" };
        return Err(Error::run(
            format!("{file}: this {what} has {missing}"),
            "it was cut, or has an unknown form: create the report again, or send it to the maintainers",
        ));
    };
    let identity = &report.identity;
    let place = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
    let whose = if report.scope == Scope::Cluster { "all instances".to_owned() } else { place(&identity.instance) };
    let container = identity.container.as_ref().map_or_else(String::new, |name| format!("/{name}"));
    let target = format!("oracle: {}{container} ({whose}) on {}", place(&identity.database), place(&identity.host));
    let mut step = OldStep::of_oracle(file, what, target);
    step.version.clone_from(&identity.release);
    step.block_bytes = identity.block_bytes.map(|bytes| bytes as u64);
    step.cache_bytes = identity.cache_bytes.map(|bytes| bytes as u64);
    step.sessions = sessions_of(file);
    step.host = host(&report);
    step.facts = report.parameters.clone();
    step.began_us = report.snapshots.clock.map(|clock| clock.begin_s * 1_000_000);
    let begin = step.began_us.unwrap_or(0);
    step.set_boundaries(vec![begin, begin + (seconds * 1e6).round() as i64]);
    step.add_counters("report", counters(&report, seconds));
    step.add_metrics(TIMES, wait_times(&report));
    histograms(&mut step, &report);
    add_findings(&mut step, &report);
    step.report = Some(Box::new(report));
    Ok(step)
}

fn host(report: &Report) -> std::collections::BTreeMap<String, String> {
    let identity = &report.identity;
    let figure = |value: Option<f64>| value.map(|value| value.to_string());
    let facts = [
        (Fact::CpuCount.name(), figure(identity.cpus)),
        (Fact::CpuCores.name(), figure(identity.cores)),
        (Fact::CpuSockets.name(), figure(identity.sockets)),
        (Fact::HostName.name(), identity.host.clone()),
        ("host.platform", identity.platform.clone()),
        ("memory.gib", figure(identity.memory_gib)),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Growth of counters. Rates are those that `awr` prints.
fn counters(report: &Report, seconds: f64) -> Vec<Growth> {
    let grew = |name: &str| report.rate(name).map(|per_s| per_s.value * seconds);
    let us = |share: Option<Printed>| share.map(|share| share.value * seconds * 1e6);
    let cs = |name: &str| report.host.get(name).map(|cs| cs * 1e4);
    let single = report.foreground_waits(event::SINGLE_READ).filter(|waited| *waited != Waited::NONE);
    let total = cs("BUSY_TIME").zip(cs("IDLE_TIME")).map(|(busy, idle)| busy + idle);
    vec![
        (Counter::LogicalReads, "blocks", "requests to the buffer cache", grew(statistic::LOGICAL_READS)),
        (Counter::PhysicalReads, "blocks", "blocks read", grew(statistic::BLOCKS_READ)),
        (Counter::ReadRequests, "1", "requests that read them", grew(statistic::READ_REQUESTS)),
        (Counter::PhysicalWrites, "blocks", "blocks written", grew(statistic::BLOCKS_WRITTEN)),
        (Counter::WriteRequests, "1", "requests that wrote them, without redo", grew(statistic::WRITE_REQUESTS)),
        (Counter::LogBytes, "bytes", "redo", grew(statistic::REDO_BYTES)),
        (Counter::LogWrites, "1", "writes of redo", grew(statistic::REDO_WRITES)),
        (Counter::Commits, "1", "transactions committed", grew(statistic::COMMITS)),
        (Counter::SingleReads, "1", "waits of sessions for a block", single.and_then(Waited::waits)),
        (Counter::SingleReadTimeUs, "us", "time of these waits", single.and_then(Waited::time_us)),
        (Counter::ServerCpuUs, "us", "CPU of foreground and background", us(report.cpu_cores())),
        (Counter::BusyTimeUs, "us", "DB time", us(report.active_sessions())),
        (Counter::HostCpuBusyUs, "us", "BUSY_TIME", cs("BUSY_TIME")),
        (Counter::HostCpuTotalUs, "us", "BUSY_TIME and IDLE_TIME", total),
    ]
}

fn histograms(step: &mut OldStep, report: &Report) {
    let kinds = [
        (wait_kind::READ, event::SINGLE_READ),
        (wait_kind::LOG_WRITE, event::LOG_WRITE),
        (wait_kind::LOG_SYNC, event::LOG_SYNC),
        (wait_kind::WRITE, event::PARALLEL_WRITE),
    ];
    let of = |(kind, event): (&str, &str)| Some((kind.to_owned(), report.latency(event)?));
    let sampled = SampledLatencies { one_of: 1, kinds: kinds.into_iter().filter_map(of).collect() };
    if !sampled.kinds.is_empty() {
        step.events.push(Event::Latencies { source: WAIT_HISTOGRAM.to_owned(), boundary: 1, sampled });
        let text = "Waits are counted in buckets, each up to twice as long as the one before. Percentiles are the middles of \
                    buckets, and the longest wait is the end of the last one. Sessions and background processes are counted \
                    together.";
        step.add_finding(codes::IMPORTED_FIGURES, text, "wait event histogram");
    }
}

/// Time of each wait of sessions, by its class, and their CPU.
fn wait_times(report: &Report) -> Vec<(Metric, Option<f64>)> {
    let separable = report.foreground.is_some();
    let list = report.foreground.as_ref().or(report.both.as_ref()).map_or(&report.top, |list| &list.lines);
    let of_sessions = list.iter().filter(|line| separable || !BACKGROUND.contains(&line.name.as_str()));
    let waits = of_sessions.filter(|line| !event::CPU.contains(&line.name.as_str()));
    let mut times: Vec<_> = waits.filter_map(|line| Some((line.name.clone(), line.waited.time_us()?))).collect();
    times.extend(report.session_cpu_s().map(|s| ("DB CPU".to_owned(), s.value * 1e6)));
    let metric = |name: &str| Metric::counter(oracle::class(name).counter_name(name), "us", "time of sessions");
    times.into_iter().map(|(name, us)| (metric(&name), Some(us))).collect()
}

fn add_findings(step: &mut OldStep, report: &Report) {
    if report.cut {
        let text = "The report has no end: it was cut. Figures of missing sections are not known.";
        step.add_finding(codes::IMPORTED_DOUBT, text, step.file.clone());
    }
    step.add_contradictions(consistency::contradictions(report));
    if !report.unread.is_empty() {
        let text = "Known sections of the report have no row that could be read: their figures are missing.";
        step.add_finding(codes::IMPORTED_DOUBT, text, report.unread.join(", "));
    }
    let single = report.foreground_waits(event::SINGLE_READ);
    let coarse = single.and_then(|waited| Some((waited.mean_us()?, waited.error_us()?)));
    if let Some((mean, error)) = coarse.filter(|(mean, error)| *error > COARSE * mean) {
        let text = "The report prints the time of its waits with few digits: the read latency may be off by as much.";
        step.add_finding(codes::IMPORTED_FIGURES, text, format!("{mean:.0} us +-{error:.0}"));
    }
    if report.foreground.is_none() && report.both.is_some() {
        let text =
            "The report lists waits of sessions and of background processes together: shares of time contain both.";
        step.add_finding(codes::IMPORTED_FIGURES, text, "one list of waits");
    }
}
