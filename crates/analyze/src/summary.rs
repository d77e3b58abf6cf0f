//! A run in figures, as `show --format json` prints it.

use std::collections::BTreeMap;

use mindful_core::contract::fact::{Fact, chosen_setting};
use mindful_core::contract::metric::Counter;
use mindful_core::record::run::{Run, StepHead, StepRecord};
use mindful_core::result::{
    BySession, CpuSummary, DatasetSummary, DeviceSummary, Finding, Hardware, OpsSummary, PerPrice, Severity,
    StepSummary, Summary, Validity, WaitSummary,
};
use mindful_core::workload::{Compatibility, OpKind};

use crate::figures::blocks::{self, FEWEST_READS_PER_S, OwnReads, process_reads, single_block_reads};
use crate::figures::caps::Cap;
use crate::figures::counters::{Counters, observed};
use crate::figures::pace::Pace;
use crate::figures::window::{self, Window};
use crate::figures::work::{self, Work};
use crate::figures::{caps, cpu, latency, log, ranks, rates};
use crate::judgement::claims::MAX_PAGE_CACHE_SHARE;
use crate::{commit_contrast, contrast, curve, io_job};

pub(crate) fn summary(run: &Run, steps: Vec<StepSummary>, findings: Vec<Finding>) -> Summary {
    let contrast = contrast::contrast(run, &steps);
    let commits = commit_contrast::commit_contrast(&steps);
    let io_job = io_job::best(run, &steps);
    let mut curves = curve::curves(run, &steps);
    let knee = if curves.len() == 1 { curves.pop().map(|curve| curve.knee) } else { None };
    Summary {
        format: run.head.format,
        id: run.head.id.clone(),
        started_at: run.head.started_at.clone(),
        finished: run.finished,
        mindful_build: run.head.mindful_build.clone(),
        engine: run.head.engine.clone(),
        engine_version: run.description.as_ref().map(|d| d.engine_version.clone()),
        notice: run.description.as_ref().and_then(|d| d.notice.clone()),
        target: run.head.target.clone(),
        tag: run.head.plan.tag.clone(),
        plan_file: run.head.settings.found_in().map(str::to_owned),
        hardware: hardware(run),
        target_settings: target_settings(run),
        price: run.head.plan.price.clone(),
        seed: run.head.plan.seed,
        validity: validity(&findings),
        findings,
        dataset: dataset(run),
        steps,
        knee,
        curves,
        contrast,
        commits,
        io_job,
        // It needs single slices.
        objective: None,
    }
}

fn hardware(run: &Run) -> Hardware {
    let text = |fact: Fact| fact.find(&run.environment).cloned();
    let number = |fact: Fact| text(fact)?.parse().ok();
    Hardware {
        cpus: number(Fact::CpuCount),
        cpu_model: text(Fact::CpuModel),
        memory_bytes: number(Fact::MemoryBytes),
        storage_device: text(Fact::StorageDevice),
        filesystem: text(Fact::StorageFilesystem),
        log_device: text(Fact::LogDevice),
        kernel: text(Fact::KernelRelease),
    }
}

/// The settings that the target reported, without the reasons for those that mindful chose.
fn target_settings(run: &Run) -> BTreeMap<String, String> {
    let facts = run.description.iter().flat_map(|description| &description.facts);
    facts
        .filter(|(name, _)| chosen_setting(name).is_none())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// As good as the worst finding.
pub(crate) fn validity(findings: &[Finding]) -> Validity {
    match findings.iter().map(|finding| finding.severity).max() {
        Some(Severity::Error) => Validity::Invalid,
        Some(Severity::Warning) => Validity::Suspect,
        Some(Severity::Info) | None => Validity::Valid,
    }
}

fn dataset(run: &Run) -> Option<DatasetSummary> {
    let dataset = run.dataset.as_ref()?;
    let correlations = run.proof.iter().flat_map(|proof| &proof.schemas).map(|schema| schema.rank_correlation.abs());
    Some(DatasetSummary {
        schemas: dataset.schemas,
        blocks_per_schema: dataset.blocks_per_schema,
        block_bytes: dataset.block_bytes,
        bytes: dataset.bytes,
        index_bytes: dataset.index_bytes,
        load_s: run.load_s,
        rank_correlation_max: correlations.reduce(f64::max),
    })
}

fn by_session(step: &StepRecord, work: &Work) -> Option<BySession> {
    let (spans, started_us) = (window::spans(step)?, *step.boundaries_us.first()?);
    let after = |us: i64| us.saturating_sub(started_us) as f64 / 1e3;
    Some(BySession {
        start_ms: spans.iter().map(|(begin, _)| after(*begin)).collect(),
        stop_ms: spans.iter().map(|(_, end)| after(*end)).collect(),
        ops: work.ops_by_session.iter().map(|ops| ops.round()).collect(),
    })
}

/// A step in figures; all that needs a window is unknown without one. Without `work`, operations were not reported by
/// session.
pub(crate) fn step(
    run: &Run,
    step: &StepRecord,
    window: Option<&Window>,
    work: Option<&Work>,
    counters: &Counters,
    pace: Option<&Pace>,
) -> StepSummary {
    let workload = step.head.workload.as_ref();
    let iodepth = io_job::iodepth(run, &step.head);
    let rate = |counter| counters.rate(counter);
    let ranks = ranks::ranks(run, step, window, work, counters);
    StepSummary {
        point: step.head.point.clone(),
        choices: work::choices(step),
        like: workload.map_or(Compatibility::default(), |workload| workload.compatibility),
        // A bare file has no log to commit to.
        commit: workload.and_then(|workload| workload.commit_mode("log")).filter(|_| !io_job::on_files(run)),
        sessions: Some(step.head.session_count() as u32).filter(|sessions| *sessions > 0),
        schemas: workload.map(|workload| workload.schemas),
        scale: workload.map(|workload| workload.scale),
        iodepth: iodepth.map(|(iodepth, _)| iodepth),
        block_bytes: iodepth.map(|(_, bytes)| bytes),
        work_unit: workload.map(|workload| workload.work_unit),
        update_pct: workload.map(|workload| workload.update_pct.percent()),
        update_pct_realised: work.filter(|_| workload.is_some()).and_then(update_pct),
        limited_by: None,
        duration_s: window.map(Window::seconds),
        start_skew_ms: window.filter(|_| workload.is_some()).map(|window| window.start_skew_us as f64 / 1e3),
        by_session: work.filter(|_| workload.is_some()).and_then(|work| by_session(step, work)),
        sessions_working: work.filter(|_| workload.is_some()).map(Work::working_sessions),
        sessions_thinking: work.filter(|_| workload.is_some()).map(Work::thinking_sessions),
        ops: work.map_or_else(OpsSummary::default, |work| latency::ops(work, pace.is_none_or(Pace::sustained))),
        blocks_visited_per_s: work.map(|work| work.blocks() / work.seconds),
        logical_reads_per_s: rate(Counter::LogicalReads),
        physical_reads_per_s: rate(Counter::PhysicalReads),
        read_requests_per_s: rate(Counter::ReadRequests),
        write_requests_per_s: rate(Counter::WriteRequests),
        process_reads_per_s: process_reads(run, &step.head, counters),
        device_reads_per_s: rate(Counter::DeviceReads),
        page_cache_share: page_cache_share(run, &step.head, work, counters),
        hit_ratio: rates::hit_ratio(rate),
        scan_direct_share: work.and_then(|work| scan_direct_share(work, counters)),
        blocks_per_read: blocks_per_read(counters),
        device_in_flight: rates::device_in_flight(rate),
        database_in_flight: counters.ratio(Counter::ReadsInFlight, Counter::ReadsLooks),
        read_latency_mean_us: read_latency_us(run, step, work, counters),
        waits: window.map_or_else(WaitSummary::default, |w| latency::waits(&step.latencies, w)),
        caps: caps::summary(&Cap::all(counters)),
        device: window.map_or_else(DeviceSummary::default, |w| latency::device(&step.latencies, w, counters)),
        physical_writes_per_s: rate(Counter::PhysicalWrites),
        log_bytes_per_s: rate(Counter::LogBytes),
        commits_per_s: log::commits(run, step, work, counters),
        log: log::log(run, step, work, counters, window),
        per_price: per_price(run, work, counters),
        cpu: window.map_or_else(CpuSummary::default, |_| {
            let cpu = cpu::cpu(counters, work);
            let marginal = cpu::marginal(&cpu, &run.environment, step, counters);
            // Of several processes the sum, known where each is.
            let client_cores =
                if ranks.is_empty() { cpu.client_cores } else { ranks.iter().map(|rank| rank.client_cores).sum() };
            CpuSummary { client_cores, db_us_per_physical_read_marginal: marginal, ..cpu }
        }),
        // The peaks of several processes cannot be added: they were not simultaneous.
        client_peak_bytes: counters.last(Counter::ClientPeakBytes).filter(|_| ranks.is_empty()),
        ranks,
        targets: Vec::new(),
        observed: observed(step, window),
    }
}

/// Work per unit of the currency, from the rates of a step.
fn per_price(run: &Run, work: Option<&Work>, counters: &Counters) -> PerPrice {
    let Some(price) = &run.head.plan.price else { return PerPrice::default() };
    let bought = |per_s: Option<f64>| per_s.map(|rate| price.work_per_unit(rate));
    PerPrice {
        operations: bought(work.map(|work| work.ops() / work.seconds)),
        logical_reads: bought(counters.rate(Counter::LogicalReads)),
        physical_reads: bought(counters.rate(Counter::PhysicalReads)),
    }
}

/// Blocks per request, if there are enough requests.
fn blocks_per_read(counters: &Counters) -> Option<f64> {
    counters.rate(Counter::ReadRequests).filter(|rate| *rate >= FEWEST_READS_PER_S)?;
    counters.ratio(Counter::PhysicalReads, Counter::ReadRequests)
}

/// The time of a read of one block: of reads that were timed separately, or of all if all are such reads.
fn read_latency_us(run: &Run, step: &StepRecord, work: Option<&Work>, counters: &Counters) -> Option<f64> {
    let apart = counters.ratio(Counter::SingleReadTimeUs, Counter::SingleReads);
    let of_all = || {
        work.filter(|work| single_block_reads(run, step, work))?;
        counters.ratio(Counter::ReadTimeUs, Counter::PhysicalReads)
    };
    apart.or_else(of_all).filter(|us| *us > 0.0)
}

/// Updates by operations of all kinds, percent.
fn update_pct(work: &Work) -> Option<f64> {
    (work.ops() > 0.0).then(|| 100.0 * work.kind(OpKind::Update).ops / work.ops())
}

/// Blocks that scans visited past the cache by all they visited; scans of others may make it more, so at most 1.
fn scan_direct_share(work: &Work, counters: &Counters) -> Option<f64> {
    let scanned = Some(work.kind(OpKind::Scan).blocks / work.seconds).filter(|rate| *rate > 0.0)?;
    Some((counters.rate(Counter::RingVisits)? / scanned).min(1.0))
}

/// Smallest difference between the own sessions' share and that of all processes that contradicts it.
const APART: f64 = 0.1;

/// `phi = 1 - PIO_proc / PIO_db` (docs/method.md, The ledger). Below 0, more came from storage than the database
/// requested. Then the page cache served nothing, so the share is 0 and the ledger contains the surplus.
fn page_cache_share(run: &Run, head: &StepHead, work: Option<&Work>, counters: &Counters) -> Option<f64> {
    let asked = counters.rate(Counter::PhysicalReads).filter(|rate| *rate >= FEWEST_READS_PER_S)?;
    counters.find(Counter::ProcessReadBytes).filter(|read| read.timely())?;
    let physical = counters.find(Counter::PhysicalReads)?;
    let fetched = process_reads(run, head, counters)?;
    let of = |fetched: f64, asked: f64| (1.0 - fetched / asked).clamp(0.0, 1.0);
    let share = of(fetched, asked);
    let share = match blocks::own_reads(run, head, counters) {
        Some(OwnReads { asked: Some(asked), fetched: own }) => {
            // If the two differ only by the time of reading, the one that all processes report is more reliable.
            Some(of(own, asked)).filter(|own| (own - share).abs() > APART).unwrap_or(share)
        }
        // Blocks that others fetched may or may not be among the requested ones.
        Some(own) if of(own.fetched, asked) - share > APART => return None,
        _ => share,
    };
    let scans = work.map_or(0.0, |work| scans_under_way(run, head, work)) / (asked * physical.seconds);
    Some(share).filter(|share| physical.tells(*share) && (*share <= MAX_PAGE_CACHE_SHARE || *share > scans))
}

/// Blocks of the scans that may be under way at one end of a window: a scan counts its blocks when it ends. Sessions that
/// seldom scan were probably not within one, unless scans ended in the window.
fn scans_under_way(run: &Run, head: &StepHead, work: &Work) -> f64 {
    let scans = head.workload.as_ref().is_some_and(|workload| !workload.scan_pct.is_none());
    let blocks = run.dataset.as_ref().filter(|_| scans).map_or(0, |dataset| dataset.scan_blocks) as f64;
    let scans = work.kind(OpKind::Scan);
    let scanning = scans.busy_ns / 1e9 / work.seconds;
    (scanning.ceil().min(f64::from(work.sessions)) * blocks).min(scans.blocks + scanning * blocks)
}
