//! The figures of a step: operations, the ledger, CPU.

use mindful_analyze::StepAnalysis;
use mindful_analyze::figures::rates;
use mindful_analyze::figures::work::Work;
use mindful_analyze::judgement::headline::CACHED_YIELD;
use mindful_analyze::judgement::ledger::LedgerRow;
use mindful_core::contract::metric::Counter;
use mindful_core::result::OpSummary;
use mindful_core::workload::OpKind;

use crate::escape;
use crate::figure::{format_whole, maybe, mib, number, percent, time_us};
use crate::panels::Panel;
use crate::style::Detail;
use crate::table::Side::{Left, Right};
use crate::table::{Column, Table};

pub(crate) fn operations(step: &StepAnalysis) -> Panel {
    let done = OpKind::ALL.into_iter().filter_map(|kind| Some((kind.name(), step.summary.ops.get(kind)?)));
    let columns: &[Column<(&str, &OpSummary)>] = &[
        ("operation", Left, &|(name, _)| (*name).to_owned()),
        ("count", Right, &|(_, op)| format_whole(op.count)),
        ("per s", Right, &|(_, op)| number(op.per_s)),
        ("mean us", Right, &|(_, op)| maybe(op.mean_us)),
        ("p50 us", Right, &|(_, op)| maybe(op.p50_us)),
        ("p95 us", Right, &|(_, op)| maybe(op.p95_us)),
        ("p99 us", Right, &|(_, op)| maybe(op.p99_us)),
        ("p99.9 us", Right, &|(_, op)| maybe(op.p999_us)),
        ("max us", Right, &|(_, op)| maybe(op.max_us)),
    ];
    let mut page = Panel::default();
    page.table_below(Table::of(&done.collect::<Vec<_>>(), columns));
    page
}

/// The same work as each level counted it; in short without the parts of a level.
pub(crate) fn ledger(step: &StepAnalysis, detail: Detail) -> Panel {
    let mut page = Panel::default();
    for (title, rows) in [("reads", &step.ledger.reads), ("writes", &step.ledger.writes)] {
        let is_level = |at: usize, row: &LedgerRow| at == 0 || row.counts_bytes && !row.name.starts_with(' ');
        let shown = rows.iter().enumerate().filter(|(at, row)| detail == Detail::Full || is_level(*at, row));
        let columns: &[Column<&LedgerRow>] = &[
            (title, Left, &|row| escape(&row.name)),
            ("per s", Right, &|row| per_s(row)),
            ("MiB/s", Right, &|row| mib_per_s(row)),
            ("ratio", Right, &|row| ratio(row, row.ratio)),
            ("expected", Right, &|row| ratio(row, row.expected)),
            ("why it differs", Left, &|row| gap(row)),
        ];
        page.table_below(Table::of(&shown.map(|(_, row)| row).collect::<Vec<_>>(), columns));
    }
    log(&mut page, step, detail);
    page
}

/// From commits to the device of the log; in short only known figures.
fn log(page: &mut Panel, step: &StepAnalysis, detail: Detail) {
    // Nothing is expected of it.
    let columns: &[Column<&LedgerRow>] = &[
        ("log", Left, &|row| escape(&row.name)),
        ("per s", Right, &|row| per_s(row)),
        ("MiB/s", Right, &|row| mib_per_s(row)),
        ("per commit", Right, &|row| ratio(row, row.ratio)),
        ("", Left, &|row| gap(row)),
    ];
    let is_shown = |row: &&LedgerRow| detail == Detail::Full || row.per_s.is_some() && !row.name.starts_with(' ');
    page.table_below(Table::of(&step.ledger.log.iter().filter(is_shown).collect::<Vec<_>>(), columns));
    if detail == Detail::Short {
        return;
    }
    let log = &step.summary.log;
    let quantiles = [("p50", log.flush_p50_us), ("p99", log.flush_p99_us)];
    let quantiles = quantiles.into_iter().filter_map(|(name, us)| Some(format!("{name} {}", time_us(us?))));
    let quantiles = quantiles.collect::<Vec<_>>().join(" and ");
    let flush = log.flush_mean_us.filter(|us| *us > 0.0);
    let timed = log.flushes_timed.filter(|_| !quantiles.is_empty());
    let parts = [
        log.sync_mean_us.map(|us| format!("a sync took {} on average as the database saw it", time_us(us))),
        flush.map(|us| format!("a flush {} on average at the device of the log", time_us(us))),
        timed.map(|timed| format!("{quantiles} of {} flushes timed there", format_whole(timed))),
        log.write_amplification
            .map(|times| format!("the devices wrote {} times the bytes that updates changed", number(times))),
    ];
    page.wrapped(2, &joined(parts, "; "));
}

fn joined<const N: usize>(parts: [Option<String>; N], between: &str) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(between)
}

/// Duration of one read, and the shares that each level served, in words: means, never percentiles of a single block.
pub(crate) fn reads(step: &StepAnalysis) -> Panel {
    let mut page = Panel::default();
    let (summary, counters) = (&step.summary, &step.counters);
    let on_files = step.evidence.on_files();
    let scans = |share: Option<f64>| match share {
        None => "the database does not report whether scans were direct or cached".to_owned(),
        Some(share) if share >= 0.95 => "scans were direct, past the database's cache".to_owned(),
        Some(share) if share <= 0.05 => "scans were cached like other reads".to_owned(),
        Some(share) => format!("{} of scanned blocks were direct, past the database's cache", percent(Some(share))),
    };
    let scanned = summary.ops.scan.is_some() && !on_files;
    let mean = summary.ops.select.as_ref().and_then(|op| op.mean_us);
    let select = mean.zip(summary.work_unit.filter(|unit| *unit > 1));
    let read = summary.read_latency_mean_us.filter(|_| is_physical(step));
    let who = if on_files { "sessions" } else { "the database" };
    let request = rates::device_read_us(|counter| counters.rate(counter)).filter(|us| *us > 0.0);
    let parts = [
        summary.hit_ratio.map(|hit| format!("the database's cache served {} of logical reads", percent(Some(hit)))),
        scanned.then(|| scans(summary.scan_direct_share)),
        summary.blocks_per_read.map(|blocks| format!("a read request fetched {} blocks on average", number(blocks))),
        select.map(|(mean, unit)| format!("a block of a select took {} us on average", number(mean / unit as f64))),
        read.map(|us| format!("a physical read {} us as {who} saw it", number(us))),
        request
            .map(|us| format!("a read request {} us on average in the device's queue and at the device", number(us))),
        summary.device_in_flight.map(|queue| format!("{} requests were at the device on average", number(queue))),
    ];
    page.wrapped(2, &joined(parts, "; "));
    waits(&mut page, step);
    device(&mut page, step);
    page
}

/// `reads p50 90.0 us, p99 400 us, 1,024 timed`; `None` without any.
fn counted<const N: usize>(kind: &str, count: Option<u64>, how: &str, us: [(&str, Option<f64>); N]) -> Option<String> {
    let count = count.filter(|count| *count > 0)?;
    let known = us.into_iter().filter_map(|(name, us)| Some(format!("{name} {} us", number(us?))));
    let parts: Vec<_> = known.chain([format!("{} {how}", format_whole(count))]).collect();
    Some(format!("{kind} {}", parts.join(", ")))
}

/// Waits by duration, if the database counted them.
fn waits(page: &mut Panel, step: &StepAnalysis) {
    let waits = &step.summary.waits;
    let syncs = [("p50", waits.log_sync_p50_us), ("p99", waits.log_sync_p99_us)];
    if let Some(syncs) = counted("syncs:", waits.log_syncs, "counted", syncs) {
        let commits = step.summary.commits_per_s.map(|rate| format!("{} commits/s", number(rate)));
        page.wrapped(2, &joined([commits, Some(syncs)], "; "));
    }
    let reads = [("p50", waits.read_p50_us), ("p95", waits.read_p95_us), ("p99", waits.read_p99_us)];
    let writes = [("p50", waits.log_write_p50_us), ("p99", waits.log_write_p99_us)];
    let log = format!("{} writes", escape(&step.evidence.words.log));
    let kinds =
        [counted("for a block", waits.reads, "counted", reads), counted(&log, waits.log_writes, "counted", writes)];
    let kinds = joined(kinds, "; ");
    if !kinds.is_empty() {
        page.wrapped(2, &format!("waits by the database's own buckets: {kinds}"));
    }
}

/// Single requests at the device: percentiles, because each was timed.
fn device(page: &mut Panel, step: &StepAnalysis) {
    let device = &step.summary.device;
    let reads = [("p50", device.read_p50_us), ("p99", device.read_p99_us)];
    let writes = [("p50", device.write_p50_us), ("p99", device.write_p99_us)];
    let kinds =
        [counted("reads", device.reads_timed, "timed", reads), counted("writes", device.writes_timed, "timed", writes)];
    let kinds = joined(kinds, "; ");
    let lost = mindful_analyze::figures::latency::lost_share(&step.counters).filter(|lost| *lost > 0.0);
    if let (Some(one_of), false) = (device.one_of, kinds.is_empty()) {
        let share =
            if one_of == 1 { "each request".to_owned() } else { format!("1 of {} requests", format_whole(one_of)) };
        page.wrapped(2, &format!("at the device, from issue to completion, {share}: {kinds}"));
    } else if lost.is_some() {
        let lost = percent(lost);
        page.wrapped(2, &format!("latencies at the device are not known: {lost} of their events were lost"));
    }
}

/// Where the time of the sessions went, with the sampling error of each share.
pub(crate) fn time(step: &StepAnalysis) -> Panel {
    let mut page = Panel::default();
    let shares = &step.evidence.shares;
    let share = |(class, share): (mindful_core::contract::wait::WaitClass, f64)| {
        let error = shares.error(share).map(|error| format!(" +-{}", percent(Some(error))));
        format!("{} {}{}", escape(class.name_in(&step.evidence.words)), percent(Some(share)), error.unwrap_or_default())
    };
    let parts: Vec<_> = shares.top(6).into_iter().map(share).collect();
    let busy = step.work.as_ref().map(Work::busy_sessions);
    let active = step.counters.rate(Counter::BusyTimeUs).map(|us| us / 1e6).or(busy);
    if let (Some(active), false) = (active, parts.is_empty()) {
        let active = number(active);
        page.blank();
        let time = step.evidence.time();
        page.wrapped(2, &format!("{time}: {active} average active sessions; {}", parts.join(", ")));
    }
    page
}

fn is_physical(step: &StepAnalysis) -> bool {
    let reported = || step.work.is_none() && step.summary.hit_ratio.is_none_or(|hits| hits <= 1.0 - CACHED_YIELD);
    step.gates.method_yield.map_or_else(reported, |y| y >= CACHED_YIELD)
}

fn per_s(row: &LedgerRow) -> String {
    if row.unit == "bytes" { String::new() } else { maybe(row.per_s) }
}

fn mib_per_s(row: &LedgerRow) -> String {
    if row.counts_bytes { mib(row.bytes_per_s) } else { String::new() }
}

fn ratio(row: &LedgerRow, value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(value) if row.unit == "bytes" => format!("{} B", number(value)),
        Some(value) => format!("{value:.2}"),
    }
}

fn gap(row: &LedgerRow) -> String {
    row.gap.as_deref().map(escape).unwrap_or_default()
}

pub(crate) fn cpu(step: &StepAnalysis) -> Panel {
    let mut page = Panel::default();
    let cpu = &step.summary.cpu;
    let split = cpu.db_user_cores.zip(cpu.db_system_cores);
    let split = split.map(|(user, system)| format!(" ({} user, {} system)", number(user), number(system)));
    let inside = cpu.host_kernel_cores.zip(cpu.host_interrupt_cores).map(|(kernel, interrupts)| {
        format!(" ({} cores in the kernel, {} in interrupts)", number(kernel), number(interrupts))
    });
    let [split, inside] = [split, inside].map(Option::unwrap_or_default);
    let host = cpu.host_busy_share.zip(step.counters.host_cpus());
    let parts = [
        cpu.db_cores.map(|cores| format!("server {} cores{split}", number(cores))),
        host.map(|(busy, cpus)| format!("host {} of {cpus:.0} CPUs{inside}", percent(Some(busy)))),
        cpu.steal_share.map(|steal| format!("stolen {}", percent(Some(steal)))),
        cpu.client_cores.map(|cores| format!("mindful {} cores", number(cores))),
    ];
    let parts = joined(parts, ", ");
    if !parts.is_empty() {
        page.blank();
        page.wrapped(2, &format!("CPU: {parts}"));
    }
    page.wrapped(2, &cpu_of_one(step));
    let watching = [
        cpu.watching_cores.map(|cores| format!("watching cost {} of one core", percent(Some(cores)))),
        cpu.wait_sampling_share.map(|share| format!("sampling waits {} of the server's CPU", percent(Some(share)))),
    ];
    page.wrapped(2, &joined(watching, ", "));
    page
}

fn cpu_of_one(step: &StepAnalysis) -> String {
    let cpu = &step.summary.cpu;
    let marginal = cpu.db_us_per_physical_read_marginal;
    let marginal = marginal.map(|us| format!(" ({} us more than one from the cache)", number(us))).unwrap_or_default();
    let physical = cpu.db_us_per_physical_read.filter(|_| is_physical(step));
    let iops = cpu.iops_per_core.zip(cpu.cores_per_100k_iops).filter(|_| physical.is_some());
    let commit = cpu.db_us_per_commit.filter(|_| step.summary.ops.update.is_some());
    let parts = [
        cpu.db_us_per_logical_read.map(|us| format!("server CPU: {} us per logical read", number(us))),
        physical.map(|us| format!("{} us per physical read{marginal}", number(us))),
        iops.map(|(rate, cores)| format!("{} IOPS per core, {} cores for 100,000 IOPS", number(rate), number(cores))),
        commit.map(|us| format!("{} us per commit, with all work between two commits", number(us))),
    ];
    joined(parts, ", ")
}
