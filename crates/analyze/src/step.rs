//! A step of a run: the data from which its figures are made.

use mindful_core::contract::fact::Kept;
use mindful_core::contract::metric::Counter;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::StepSummary;
use mindful_core::workload::LoopSite;

use crate::figures::blocks;
use crate::figures::caps::Cap;
use crate::figures::counters::Counters;
use crate::figures::cpu::{client_cpus, held_back, left_to_host};
use crate::figures::floors::floors;
use crate::figures::foreign_writes::{self, ForeignWrites};
use crate::figures::others::Others;
use crate::figures::pace::Pace;
use crate::figures::ranks;
use crate::figures::shares::Shares;
use crate::figures::stalls::Stalls;
use crate::figures::window::{Window, window};
use crate::figures::work::Work;
use crate::io_job;
use crate::judgement::claims::Gates;
use crate::judgement::commit_path::CommitPath;
use crate::judgement::durability::Durability;
use crate::judgement::headline::{Headline, Subject, headline};
use crate::judgement::ledger::Ledger;
use crate::judgement::little;
use crate::judgement::residence::Residence;
use crate::judgement::verdict::{Evidence, Reader, Verdict};
use crate::summary;

#[derive(Debug)]
pub struct StepAnalysis {
    pub summary: StepSummary,
    /// Length of a block it read, bytes; `None` if not reported.
    pub block_bytes: Option<u64>,
    /// The time in which all sessions worked; without it all later fields are unknown.
    pub window: Option<Window>,
    pub work: Option<Work>,
    pub counters: Counters,
    /// CPU use by others on the host; `None` if not visible.
    pub others: Option<Others>,
    pub stalls: Stalls,
    pub caps: Vec<Cap>,
    pub pace: Option<Pace>,
    pub gates: Gates,
    /// Capacity of the database's cache and its actual hits; `None` if unknown.
    pub residence: Option<Residence>,
    /// When its updates committed and whether they waited, in the words of the engine; `None` as in the summary.
    pub commit: Option<String>,
    pub durability: Durability,
    /// Foreign writes at the devices of the run; `None` if negligible or unknown.
    pub foreign_writes: Option<ForeignWrites>,
    pub headline: Option<Headline>,
    /// The figure of its reads, where commits are the headline, too.
    pub reads: Option<Headline>,
    pub ledger: Ledger,
    pub evidence: Evidence,
    pub verdict: Option<Verdict>,
}

/// Everything about `step` but its verdict, which rests on the other steps too.
pub fn analyze_step(run: &Run, step: &StepRecord) -> StepAnalysis {
    let window = window(step);
    // A report contains counters, but no single operations.
    let reported_by_slices = step.head.workload.is_some() || step.reports().next().is_some();
    let work = window.as_ref().filter(|_| reported_by_slices).map(|window| Work::from_step(step, window));
    let counters = window.as_ref().map(|window| Counters::assigned(step, window).without_frozen()).unwrap_or_default();
    let others = window.as_ref().and_then(|window| Others::from_step(run, step, window, &counters));
    let pace = window.as_ref().zip(work.as_ref()).and_then(|(window, work)| Pace::from_step(step, window, work));
    let summary = summary::step(run, step, window.as_ref(), work.as_ref(), &counters, pace.as_ref());
    let subject = Subject::from_step(run, step);
    let floors = floors(run, &counters, Kept::Dataset);
    let gates = Gates::from_step(run, &step.head, &summary, &counters, subject, &floors);
    let residence = Residence::from_step(run, step, &gates);
    let log = run.words().log;
    let commit = step.head.workload.as_ref().and_then(|workload| workload.commit_mode(&log));
    let durability = Durability::from_step(run, step, work.as_ref(), &counters);
    let commit = commit.filter(|_| summary.commit.is_some()).map(|commit| durability.qualified(commit));
    let updates = summary.update_pct.is_some_and(|percent| percent > 0.0);
    let block = subject.block_bytes.map(|bytes| bytes as f64);
    let seen = work.is_some() && run.host.as_ref().is_some_and(|host| host.local);
    let below = gates.writes_below.as_ref();
    let log_only = foreign_writes::flushes_log_only(run);
    let foreign_writes = || ForeignWrites::from_counters(&counters, block, updates, log_only, below);
    let foreign_writes = seen.then(foreign_writes).flatten();
    let ledger = match &work {
        Some(work) => Ledger::from_step(run, step, work, &counters, &summary).above(&floors),
        None => Ledger::reported(&counters, subject.block_bytes, &run.words()),
    };
    let others_busy = others.as_ref().map(|others| others.share() / left_to_host(&counters));
    let stalls = window.as_ref().zip(work.as_ref()).map(|(window, work)| Stalls::from_step(step, window, work));
    let stalls = stalls.unwrap_or_default();
    let stalled = window.as_ref().map(|window| stalls.us() as f64 / 1e6 / window.seconds());
    let caps = Cap::all(&counters);
    let (commits, held) = commits_and_caps(run, step, &summary, &caps);
    let evidence = Evidence {
        others_busy,
        stalled,
        held,
        commits,
        ..evidence(run, step, work.as_ref(), &counters, &summary, &gates)
    };
    let reads = headline(&summary, &gates, subject, foreign_writes.is_some());
    let headline = evidence
        .commits
        .headline(&summary, reads.as_ref(), &durability, (&evidence.shares, &evidence.words))
        .filter(|_| !subject.imported && !subject.simulated && !io_job::on_files(run))
        .or_else(|| reads.clone());
    let block_bytes = summary.block_bytes.or_else(|| blocks::block_bytes(run));
    StepAnalysis {
        summary,
        block_bytes,
        window,
        work,
        counters,
        others,
        stalls,
        caps,
        pace,
        gates,
        residence,
        commit,
        durability,
        foreign_writes,
        headline,
        reads,
        ledger,
        evidence,
        verdict: None,
    }
}

/// The commit path, and the limits that held the storage other than those of the log.
fn commits_and_caps(run: &Run, step: &StepRecord, summary: &StepSummary, caps: &[Cap]) -> (CommitPath, Option<String>) {
    let held: Vec<_> = caps.iter().filter(|cap| cap.holds).collect();
    let commits = CommitPath::from_step(run, step, summary, &held);
    let held: Vec<_> = held.into_iter().map(|cap| &*cap.in_words).collect();
    let held = (!held.is_empty() && commits.held.is_none()).then(|| held.join(", "));
    (commits, held)
}

fn evidence(
    run: &Run,
    step: &StepRecord,
    work: Option<&Work>,
    counters: &Counters,
    summary: &StepSummary,
    gates: &Gates,
) -> Evidence {
    let in_process = run.host.as_ref().is_some_and(|host| host.in_process);
    let client = summary.cpu.client_cores.zip(client_cpus(run, counters)).map(|(cores, cpus)| cores / cpus);
    // Of several ranks the busiest: others cannot compensate for it.
    let busiest = ranks::busiest(&summary.ranks).map(|(_, busy)| busy);
    let busy = work.map(Work::busy_sessions).filter(|busy| *busy > 0.0);
    let of_busy = |sessions: Option<f64>| sessions.zip(busy).map(|(sessions, busy)| sessions / busy);
    Evidence {
        words: run.words(),
        cpu_used: of_busy(summary.cpu.db_cores),
        at_device: of_busy(own_reads_at_device(counters)),
        client_busy: if summary.ranks.is_empty() { client } else { busiest }.filter(|_| !in_process),
        little_breach: work.and_then(|work| little::breach(run, step, work)),
        host_busy: summary.cpu.host_busy_share.map(|busy| busy / left_to_host(counters)),
        held_back: held_back(counters),
        shares: Shares::from_work(work, counters),
        page_cache_share: summary.page_cache_share.filter(|_| !gates.explained_by_holes()),
        server_loop_unused: server_loop_unused(run, step),
        reads_alone: summary.update_pct == Some(0.0),
        reader: match (io_job::on_files(run), io_job::takes_iodepth(run, &step.head)) {
            (false, _) => Reader::Database,
            (true, false) => Reader::OneAtATime,
            (true, true) => Reader::Several,
        },
        ..Evidence::default()
    }
}

/// Reads of the server at the device on average: its part of the time that reads spent there.
fn own_reads_at_device(counters: &Counters) -> Option<f64> {
    let all = counters.rate(Counter::DeviceReadTimeUs)? / 1e6;
    let own = counters.ratio(Counter::ProcessReadBytes, Counter::DeviceReadBytes)?;
    Some(all * own.min(1.0))
}

/// Whether the loop ran in mindful though the engine has one in the database; `false` if the run does not record it.
fn server_loop_unused(run: &Run, step: &StepRecord) -> bool {
    let in_client = step.head.workload.as_ref().is_some_and(|workload| workload.loop_site == LoopSite::Client);
    run.head.server_side_loop == Some(true) && in_client && blocks::no_layout(run).is_none()
}
