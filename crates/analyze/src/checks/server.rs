//! Activity of the server in the window other than the requested work.
//!
//! Counters have the server's own names. A missing counter decides nothing.

use mindful_core::contract::metric::Counter;
use mindful_core::contract::wait::WaitClass;
use mindful_core::plan::units::{format_counted, format_rounded};
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, Severity};
use mindful_core::workload::{OpKind, Skew};

use crate::figures::blocks::{FEWEST_READS_PER_S, one_by_one};
use crate::figures::counters::Counters;
use crate::judgement::claims::MAX_YIELD;
use crate::judgement::headline::percent;
use crate::judgement::verdict::{CONTENTION_SHARE, HOST_BUSY};
use crate::step::StepAnalysis;

/// Share of the window with maintenance in it above which it is no passing visit.
pub(crate) const MAINTENANCE_SHARE: f64 = 0.05;
/// Blocks that maintenance may touch by physical reads.
pub(crate) const MAINTENANCE_BLOCKS_SHARE: f64 = 0.01;
/// Further blocks that a visit may cost where an operation visits few: a leaf of the index and a branch.
const INDEX_BLOCKS_AN_OPERATION: f64 = 2.0;

pub(crate) fn check_window(run: &Run, step: &StepRecord, found: &StepAnalysis) -> [Option<Finding>; 5] {
    [
        contention(step, found),
        unasked_reads(run, step, found),
        others_at_work(found),
        maintenance(&found.counters),
        forced_checkpoints(&found.counters),
    ]
}

/// Waits of sessions for each other: a disturbance, unless the plan asks for contention.
fn contention(step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let share = found.evidence.shares.get(WaitClass::Contention).filter(|share| *share > CONTENTION_SHARE)?;
    let workload = step.head.workload.as_ref()?;
    let asked = workload.hot_spot.is_some() || !workload.hot_schema.is_none() || workload.skew != Skew::Uniform;
    // A latch is held for a moment: on a full host its holder loses the CPU, and all waiters wait for that.
    let latches = found.evidence.shares.latches;
    let of_cpu = share - latches <= CONTENTION_SHARE && found.evidence.host_busy.is_some_and(|busy| busy > HOST_BUSY);
    let severity = if asked || of_cpu { Severity::Info } else { Severity::Warning };
    let text = if of_cpu {
        "Sessions waited for latches, and the holders of these waited for a CPU because the host was full. CPU is \
         the limit. Use more CPUs or fewer --sessions; more --schemas do not help."
    } else if found.evidence.shares.samples.is_some() {
        "Sessions waited for each other, so the figures describe their locks, not storage or CPU. Use more \
         --schemas, a larger --scale, or fewer --sessions."
    } else {
        "Sessions waited for the one that writes, so the figures describe that wait, not storage or CPU. Use fewer \
         --sessions or a lower --update-pct; more --schemas do not help."
    };
    let evidence = format!(
        "{} of database time{}; {} on {}",
        percent(share),
        if latches > 0.0 { format!(", latches {}", percent(latches)) } else { String::new() },
        format_counted(step.head.placements.len(), "session"),
        format_counted(workload.schemas, "schema")
    );
    Some(Finding::new(codes::CONTENTION, severity, text, evidence))
}

/// Reads in addition to visited blocks and their index, of storage or of a cache that sessions share with others.
fn unasked_reads(run: &Run, step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let visited = found.summary.blocks_visited_per_s?;
    let work = found.work.as_ref().filter(|work| one_by_one(step, work))?;
    let index = work.ops() / work.seconds;
    // At either end of the window a session may be inside an operation. Its reads are then counted on one side and its
    // blocks on the other. The error is large if few operations are done, as on a full host.
    let under_way = 2.0 * step.head.placements.len() as f64 * work.blocks() / work.ops().max(1.0) / work.seconds;
    let blocks = visited + under_way;
    let requests = run.description.as_ref().and_then(|description| description.cache_requests).unwrap_or_default();
    let updated = work.kind(OpKind::Update).blocks / work.seconds;
    let own = blocks * MAX_YIELD + updated * requests.cleaned + index * INDEX_BLOCKS_AN_OPERATION;
    // Reads of a session of an engine within mindful are counted separately; reads of others are not. Its own cache is
    // void after each commit of another session, so sessions that update read blocks again.
    let shared = !run.host.as_ref().is_some_and(|host| host.in_process);
    let asked = |reads: &f64| *reads <= own || !shared && updated > 0.0;
    let physical = found.summary.physical_reads_per_s.filter(|reads| !asked(reads) && *reads >= FEWEST_READS_PER_S);
    let own = blocks * requests.visited * MAX_YIELD + index * requests.operation + updated * requests.updated;
    let own = own + found.summary.physical_reads_per_s.unwrap_or(0.0) * requests.missed;
    let logical = found.summary.logical_reads_per_s.filter(|reads| shared && *reads > own);
    let (reads, level) = physical.map(|reads| (reads, "physical")).or(logical.map(|reads| (reads, "logical")))?;
    let text = "The database read more blocks than the operations need, so other sessions work in it and their reads \
                are counted. End them, or measure when the server is quiet.";
    let [reads, visited] = [reads, visited].map(format_rounded);
    let evidence = format!("{reads} {level} reads/s for {visited} blocks visited/s");
    Some(codes::UNASKED_READS.finding(text, evidence))
}

/// Mean number of other sessions at work above which they are reported.
const OTHERS_AT_WORK: f64 = 0.05;

/// Activity of other backends of the server: by samples, and by blocks that their processes fetched.
fn others_at_work(found: &StepAnalysis) -> Option<Finding> {
    let mean = found.counters.ratio(Counter::OthersSamples, Counter::Samplings).filter(|mean| *mean > OTHERS_AT_WORK);
    let mean = mean.map(|mean| format!("{mean:.2} sessions of others at work on average"));
    let read = found.gates.levels.foreign_sessions_evidence();
    let text = "Other sessions worked in this server during the window: clients, backups or maintenance. They share its \
                cache, CPU and devices. End them, or measure when the server is quiet.";
    let all: Vec<String> = mean.into_iter().chain(read).collect();
    let evidence = all.join("; ");
    (!all.is_empty()).then(|| Finding::new(codes::OTHERS_ACTIVE, Severity::Warning, text, evidence))
}

/// Maintenance started by the server: by samples, by finished workers, and by touched blocks.
fn maintenance(counters: &Counters) -> Option<Finding> {
    let grew = |counter| counters.growth(counter).unwrap_or(0.0);
    let seen = counters.ratio(Counter::MaintenanceSamples, Counter::Samplings).unwrap_or(0.0);
    let ended = grew(Counter::MaintenanceRuns);
    let blocks = grew(Counter::MaintenanceReads) + grew(Counter::MaintenanceWrites);
    if seen <= 0.0 && ended <= 0.0 && blocks <= 0.0 {
        return None;
    }
    let much =
        ended > 0.0 || seen > MAINTENANCE_SHARE || blocks > MAINTENANCE_BLOCKS_SHARE * grew(Counter::PhysicalReads);
    let severity = if much { Severity::Warning } else { Severity::Info };
    let text = "The server's own maintenance worked during the window, and its reads, writes and CPU are counted as \
                well.";
    let evidence = format!(
        "in {} of the samples; {ended:.0} runs of it on mindful's tables ended, {blocks:.0} blocks read or written \
         by it",
        percent(seen)
    );
    Some(Finding::new(codes::AUTOVACUUM, severity, text, evidence))
}

/// Checkpoints that were due to the log's room, or to somebody's command, and not to the clock.
fn forced_checkpoints(counters: &Counters) -> Option<Finding> {
    let change = counters.find(Counter::ForcedCheckpoints)?;
    let forced = change.delta.filter(|forced| *forced > 0.0)?;
    let text = "Checkpoints were forced during the window. Each writes all dirty blocks at once, and later updates \
                log whole blocks again. Allow a larger log, or find the session that requests them.";
    let evidence = format!("{forced:.0} in {:.1} s", change.seconds);
    Some(codes::FORCED_CHECKPOINTS.finding(text, evidence))
}
