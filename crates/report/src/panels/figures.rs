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
    let of_step = &step.summary.log;
    let mut said = Vec::new();
    if let Some(us) = of_step.sync_mean_us {
        said.push(format!("a sync took {} on average as the database saw it", time_us(us)));
    }
    if let Some(us) = of_step.flush_mean_us.filter(|us| *us > 0.0) {
        said.push(format!("a flush {} on average at the device of the log", time_us(us)));
    }
    let quantiles = [("p50", of_step.flush_p50_us), ("p99", of_step.flush_p99_us)];
    let quantiles: Vec<_> =
        quantiles.into_iter().filter_map(|(name, us)| Some(format!("{name} {}", time_us(us?)))).collect();
    if let Some(timed) = of_step.flushes_timed.filter(|_| !quantiles.is_empty()) {
        said.push(format!("{} of {} flushes timed there", quantiles.join(" and "), format_whole(timed)));
    }
    if let Some(times) = of_step.write_amplification {
        said.push(format!("the devices wrote {} times the bytes that updates changed", number(times)));
    }
    page.wrapped(2, &said.join("; "));
}

/// Duration of one read, and the shares that each level served, in words: means, never percentiles of a single block.
pub(crate) fn reads(step: &StepAnalysis) -> Panel {
    let mut page = Panel::default();
    let (summary, counters) = (&step.summary, &step.counters);
    let mut said = Vec::new();
    if let Some(hit) = summary.hit_ratio {
        said.push(format!("the database's cache served {} of logical reads", percent(Some(hit))));
    }
    let on_files = step.evidence.on_files();
    if summary.ops.scan.is_some() && !on_files {
        said.push(match summary.scan_direct_share {
            None => "the database does not report whether scans were direct or cached".to_owned(),
            Some(share) if share >= 0.95 => "scans were direct, past the database's cache".to_owned(),
            Some(share) if share <= 0.05 => "scans were cached like other reads".to_owned(),
            Some(share) => {
                format!("{} of scanned blocks were direct, past the database's cache", percent(Some(share)))
            }
        });
    }
    if let Some(blocks) = summary.blocks_per_read {
        said.push(format!("a read request fetched {} blocks on average", number(blocks)));
    }
    let mean = summary.ops.select.as_ref().and_then(|op| op.mean_us);
    if let Some((mean, unit)) = mean.zip(summary.work_unit.filter(|unit| *unit > 1)) {
        said.push(format!("a block of a select took {} us on average", number(mean / unit as f64)));
    }
    if let Some(us) = summary.read_latency_mean_us.filter(|_| is_physical(step)) {
        let who = if on_files { "sessions" } else { "the database" };
        said.push(format!("a physical read {} us as {who} saw it", number(us)));
    }
    if let Some(us) = rates::device_read_us(|counter| counters.rate(counter)).filter(|us| *us > 0.0) {
        said.push(format!("a read request {} us on average in the device's queue and at the device", number(us)));
    }
    if let Some(queue) = summary.device_in_flight {
        said.push(format!("{} requests were at the device on average", number(queue)));
    }
    page.wrapped(2, &said.join("; "));
    waits(&mut page, step);
    device(&mut page, step);
    page
}

/// Waits by duration, if the database counted them.
fn waits(page: &mut Panel, step: &StepAnalysis) {
    let waits = &step.summary.waits;
    let of = |kind: &str, counted: Option<u64>, quantiles: [(&str, Option<f64>); 3]| {
        let counted = counted.filter(|counted| *counted > 0)?;
        let known = quantiles.into_iter().filter_map(|(name, us)| Some(format!("{name} {} us, ", number(us?))));
        Some(format!("{kind} {}{} counted", known.collect::<String>(), format_whole(counted)))
    };
    let reads = [("p50", waits.read_p50_us), ("p95", waits.read_p95_us), ("p99", waits.read_p99_us)];
    let log = [("p50", waits.log_write_p50_us), ("p99", waits.log_write_p99_us), ("", None)];
    let kinds = [
        of("for a block", waits.reads, reads),
        of(&format!("{} writes", escape(&step.evidence.words.log)), waits.log_writes, log),
    ];
    let syncs = [("p50", waits.log_sync_p50_us), ("p99", waits.log_sync_p99_us), ("", None)];
    if let Some(syncs) = of("syncs:", waits.log_syncs, syncs) {
        let commits =
            step.summary.commits_per_s.map_or_else(String::new, |rate| format!("{} commits/s; ", number(rate)));
        page.wrapped(2, &format!("{commits}{syncs}"));
    }
    let kinds: Vec<_> = kinds.into_iter().flatten().collect();
    if !kinds.is_empty() {
        page.wrapped(2, &format!("waits by the database's own buckets: {}", kinds.join("; ")));
    }
}

/// Single requests at the device: percentiles, because each was timed.
fn device(page: &mut Panel, step: &StepAnalysis) {
    let device = &step.summary.device;
    let of = |kind: &str, timed: Option<u64>, p50: Option<f64>, p99: Option<f64>| {
        let timed = timed.filter(|timed| *timed > 0)?;
        let quantiles = [("p50", p50), ("p99", p99)].into_iter().filter_map(|(name, us)| Some((name, number(us?))));
        let quantiles: Vec<_> = quantiles.map(|(name, us)| format!("{name} {us} us, ")).collect();
        Some(format!("{kind} {}{} timed", quantiles.concat(), format_whole(timed)))
    };
    let reads = of("reads", device.reads_timed, device.read_p50_us, device.read_p99_us);
    let writes = of("writes", device.writes_timed, device.write_p50_us, device.write_p99_us);
    let kinds: Vec<_> = [reads, writes].into_iter().flatten().collect();
    if let (Some(one_of), false) = (device.one_of, kinds.is_empty()) {
        let share =
            if one_of == 1 { "each request".to_owned() } else { format!("1 of {} requests", format_whole(one_of)) };
        page.wrapped(2, &format!("at the device, from issue to completion, {share}: {}", kinds.join("; ")));
    } else if let Some(lost) = mindful_analyze::figures::device::lost_share(&step.counters).filter(|lost| *lost > 0.0) {
        page.wrapped(
            2,
            &format!("latencies at the device are not known: {} of their events were lost", percent(Some(lost))),
        );
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
    let (cpu, counters) = (&step.summary.cpu, &step.counters);
    let mut parts = Vec::new();
    if let Some(cores) = cpu.db_cores {
        let split = cpu.db_user_cores.zip(cpu.db_system_cores);
        let split = split.map(|(user, system)| format!(" ({} user, {} system)", number(user), number(system)));
        parts.push(format!("server {} cores{}", number(cores), split.unwrap_or_default()));
    }
    if let (Some(busy), Some(cpus)) = (cpu.host_busy_share, counters.host_cpus()) {
        let inside = cpu.host_kernel_cores.zip(cpu.host_interrupt_cores);
        let inside = inside.map(|(kernel, interrupts)| {
            format!(" ({} cores in the kernel, {} in interrupts)", number(kernel), number(interrupts))
        });
        parts.push(format!("host {} of {cpus:.0} CPUs{}", percent(Some(busy)), inside.unwrap_or_default()));
    }
    if let Some(steal) = cpu.steal_share {
        parts.push(format!("stolen {}", percent(Some(steal))));
    }
    if let Some(cores) = cpu.client_cores {
        parts.push(format!("mindful {} cores", number(cores)));
    }
    if !parts.is_empty() {
        page.blank();
        page.wrapped(2, &format!("CPU: {}", parts.join(", ")));
    }
    page.wrapped(2, &cpu_of_one(step).join(", "));
    watching(&mut page, step);
    page
}

fn cpu_of_one(step: &StepAnalysis) -> Vec<String> {
    let cpu = &step.summary.cpu;
    let mut parts = Vec::new();
    if let Some(us) = cpu.db_us_per_logical_read {
        parts.push(format!("server CPU: {} us per logical read", number(us)));
    }
    if let Some(us) = cpu.db_us_per_physical_read.filter(|_| is_physical(step)) {
        let marginal = cpu.db_us_per_physical_read_marginal;
        let marginal = marginal.map(|us| format!(" ({} us more than one from the cache)", number(us)));
        parts.push(format!("{} us per physical read{}", number(us), marginal.unwrap_or_default()));
        if let Some((rate, cores)) = cpu.iops_per_core.zip(cpu.cores_per_100k_iops) {
            parts.push(format!("{} IOPS per core, {} cores for 100,000 IOPS", number(rate), number(cores)));
        }
    }
    let updates = step.summary.ops.update.is_some();
    if let Some(us) = cpu.db_us_per_commit.filter(|_| updates) {
        parts.push(format!("{} us per commit, with all work between two commits", number(us)));
    }
    parts
}

fn watching(page: &mut Panel, step: &StepAnalysis) {
    let cpu = &step.summary.cpu;
    let own = cpu.watching_cores.map(|cores| format!("watching cost {} of one core", percent(Some(cores))));
    let waits =
        cpu.wait_sampling_share.map(|share| format!("sampling waits {} of the server's CPU", percent(Some(share))));
    page.wrapped(2, &[own, waits].into_iter().flatten().collect::<Vec<_>>().join(", "));
}
