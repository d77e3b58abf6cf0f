//! Checks that raise findings on a result, each with a stable code and its evidence.

mod access;
mod circumstances;
mod cliff;
mod host;
mod imported;
mod log;
mod ranks;
mod server;
mod stall;
mod steadiness;
mod storage;

use mindful_core::contract::metric::Counter;
use mindful_core::contract::slice::session_name;
use mindful_core::contract::wait::{BY_SESSION, WaitClass};
use mindful_core::dataset::{Content, LayoutProof};
use mindful_core::plan::units::format_counted;
use mindful_core::record::run::{MergedSlice, Run, StepRecord};
use mindful_core::result::finding::{Code, codes};
use mindful_core::result::{Finding, Severity};
use mindful_core::workload::{Compatibility, OpKind};

use crate::contrast::{LEVEL, Level};
use crate::figures::blocks;
use crate::figures::cpu::{client_cpus, left_to_host};
use crate::figures::pace::Pace;
use crate::figures::window::Window;
use crate::figures::work::Work;
use crate::io_job;
use crate::judgement::headline::{HeadlineKind, percent};
use crate::judgement::little::{self, MAX_LOOP_SHARE};
use crate::judgement::residence::Residence;
use crate::judgement::verdict::{CLIENT_BUSY, HOST_BUSY, LITTLE_BREACH};
use crate::step::StepAnalysis;

pub use host::check_part;
pub use steadiness::in_words;

/// Accepted difference between the measured and the requested window, as a share of it.
pub(crate) const WINDOW_TOLERANCE: f64 = 0.01;
/// Accepted difference in s, for a window ten times as long. On a busy host a session gets its CPU some tenths of a
/// second late. In a short window that is a large share, but not a fault: rates are divided by the measured time.
const WINDOW_SLACK_S: f64 = 0.25;
/// Accepted difference between the realised and the requested mix, percentage points.
pub(crate) const MIX_TOLERANCE: f64 = 0.1;
/// Share of stolen CPU worth a word (docs/findings.md, F32).
pub(crate) const STEAL_SHARE: f64 = 0.01;
/// Share of the server's CPU that sampling its waits may take.
pub(crate) const WAIT_SAMPLING_SHARE: f64 = 0.01;
/// Start skew above which sessions did not begin together, as a share of the window.
pub(crate) const SKEW_SHARE: f64 = 0.05;
/// Largest share by which the slowest session may do less than the median.
pub(crate) const UNFAIR_SHARE: f64 = 0.2;
/// Work of the slowest session by the median's, below which the totals describe no session.
const HELD_UP: f64 = 0.5;
/// Writes by reads above which a run without updates is not a pure read run.
pub(crate) const WRITES_SHARE: f64 = 0.01;
/// Fewest writes that are more than a stray checkpoint.
pub(crate) const FEWEST_WRITES: f64 = 100.0;
/// Fewest operations from which percentiles and rates are believable.
pub(crate) const FEWEST_OPS: f64 = 1_000.0;

/// Causes precede other findings of the same severity.
pub(crate) fn is_a_cause(finding: &Finding) -> bool {
    let causes = [
        codes::SETTING_CHANGED,
        codes::LAYOUT_CHANGED,
        codes::COUNTERS_RESET,
        codes::STALL,
        codes::CPU_THROTTLED,
        codes::CLIFF,
        codes::STORAGE_CAP,
        codes::OUT_OF_MEMORY,
        codes::PAGE_CACHE,
    ];
    causes.iter().chain(&ON_THE_HOST).chain(&IN_THE_SERVER).any(|code| finding.code == code.name)
}

/// What others did on the host in the window. How much of a figure it cost is not known.
const ON_THE_HOST: [Code; 5] =
    [codes::FOREIGN_CPU, codes::CPU_STEAL, codes::FOREIGN_READS, codes::FOREIGN_WRITES, codes::SWAPPED_IN];

/// What the server did for others in the window, or for itself.
const IN_THE_SERVER: [Code; 3] = [codes::OTHERS_ACTIVE, codes::UNASKED_READS, codes::AUTOVACUUM];

/// The next step after a step that other work disturbed, by its findings.
pub(crate) fn next_if_disturbed(findings: &[Finding]) -> Option<&'static str> {
    let next = [
        (&ON_THE_HOST[..], "measure again when nothing else uses the host and its devices"),
        (&IN_THE_SERVER, "measure again when the server does no other work"),
    ];
    let found = |codes: &[Code]| {
        let is_one = |finding: &Finding| codes.iter().any(|code| finding.code == code.name);
        findings.iter().any(|finding| finding.severity >= Severity::Warning && is_one(finding))
    };
    next.into_iter().find(|(codes, _)| found(codes)).map(|(_, next)| next)
}

pub(crate) fn check_end(run: &Run) -> Vec<Finding> {
    let mut findings = Vec::new();
    let of_a_step = |why: &String| run.steps.iter().any(|step| step.error.as_ref() == Some(why));
    if let Some(why) = run.error.as_ref().filter(|why| !of_a_step(why)) {
        findings
            .push(codes::FAILED.finding("The run failed. Its figures describe only the time before the failure.", why));
    }
    if !run.finished {
        let text = "The run has no end: mindful was killed or is still running. The figures describe the stored part.";
        findings.push(codes::UNFINISHED.finding(text, format!("{} begun", format_counted(run.steps.len(), "step"))));
    } else if run.interrupted {
        findings.push(
            codes::INTERRUPTED
                .finding("The run was stopped early, so its figures describe only a part of it.", "by a signal"),
        );
    } else if run.steps.is_empty() && run.error.is_none() {
        findings.push(codes::NO_STEP.finding("The run ended before its first step.", "0 steps"));
    }
    findings
}

pub(crate) fn check_run(run: &Run) -> Vec<Finding> {
    let mut findings = check_end(run);
    if let Some(failure) = run.proof.as_ref().and_then(LayoutProof::failure) {
        let text = "The layout is wrong: rows with neighbouring keys are not scattered. Run `mindful cleanup`, then \
                    `mindful load`.";
        findings.push(codes::LAYOUT.finding(text, failure));
    }
    if let Some(why) = blocks::no_layout(run) {
        let text = "The layout, the pages and the physical reads are unknown. The figures describe operations and \
                    rows as an application sees them, not storage.";
        // Nothing is claimed that could be wrong.
        findings.push(Finding::new(codes::LAYOUT_NOT_PROVEN, Severity::Info, text, why));
    } else if run.dataset.is_some() && run.proof.is_none() && !io_job::on_files(run) {
        let text = "No proof of the layout is stored with the dataset. `mindful verify` proves it and stores the \
                    proof.";
        findings.push(codes::LAYOUT_NOT_PROVEN.finding(text, "no proof of this run or of an earlier load"));
    }
    findings.extend(repeated(run));
    for shape in run.shapes.iter().filter(|shape| !shape.pure) {
        let text = format!(
            "The {} statement does not use a plain index scan, so its reads are not random single-block reads. Look \
             at its plan with `mindful doctor`.",
            shape.kind
        );
        findings.push(codes::PLAN_SHAPE.finding(text, &shape.shape));
    }
    findings
}

/// Old kits' default content: compression or deduplication below the database removes it.
fn repeated(run: &Run) -> Option<Finding> {
    let repeated = run.dataset.as_ref().is_some_and(|dataset| dataset.content == Content::Repeated);
    repeated.then(|| {
        let text = "The stored bytes repeat. Storage that compresses or deduplicates keeps almost nothing of them \
                    and reads them from its memory. Load with --content mixed.";
        let stored = run.description.as_ref().and_then(|description| description.stored_blocks.as_ref());
        codes::REPEATED_CONTENT.finding(text, stored.map_or("content repeated", String::as_str))
    })
}

fn no_window(step: &StepRecord, is_cut: bool) -> Finding {
    let seen = step.spans().iter().flatten().count();
    let text = if is_cut {
        "There is no time in which all sessions worked and nothing changed. Use a longer --duration, and keep the \
         settings that changed."
    } else {
        "There is no time in which all sessions worked. Use fewer --sessions or a longer --duration."
    };
    let sessions = format_counted(step.head.placements.len(), "session");
    codes::NO_WINDOW.finding(text, format!("{seen} of {sessions} reported work"))
}

pub(crate) fn check_step(run: &Run, step: &StepRecord, found: &StepAnalysis) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(why) = &step.error {
        findings.push(
            codes::SESSION_ERROR
                .finding("A session failed, so the step was stopped. Correct the cause and repeat the run.", why),
        );
    }
    if let (Some(window), None) = (&found.window, &step.head.workload) {
        findings.extend(imported::check_step(step, window, found));
        return findings;
    }
    let changed = circumstances::check_step(step);
    let is_cut = !changed.is_empty();
    findings.extend(changed);
    let (Some(window), Some(work)) = (&found.window, &found.work) else {
        findings.push(no_window(step, is_cut));
        return findings;
    };
    if !run.targets.is_empty() {
        // Findings of a target come from that target. A window that ends before a change is reported as such.
        findings.extend(short_window(step, window.seconds()).filter(|_| !is_cut));
        findings.extend(late_start(window, step, found));
        findings.extend(ranks::clocks_apart(&found.summary.ranks));
        return findings;
    }
    // Stalls and foreign activity come first: they cause much of the rest.
    findings.extend(stall::check_step(step, window, work, found));
    findings.extend(found.others.as_ref().and_then(host::foreign_cpu));
    findings.extend(host::caps_reached(&found.caps));
    findings.extend(cliff::check_step(run, step, window, found));
    // A window that ends before a change is reported as such.
    findings.extend(short_window(step, window.seconds()).filter(|_| !is_cut));
    findings.extend(incomplete(step));
    findings.extend(late_start(window, step, found));
    findings.extend(little(run, step, work));
    findings.extend(loop_overhead(step, work));
    findings.extend(found.pace.as_ref().and_then(rate_not_sustained));
    findings.extend(mix(step, work));
    findings.extend(unfair(work, found));
    findings.extend(steadiness::not_steady(step, window));
    findings.extend(foreign_block_writes(run, step, found));
    findings.extend(log::log_band(run, step, found));
    findings.extend(few_operations(work));
    findings.extend(stall::slow_few(work));
    // The cached level of a contrast has a larger cache than the one described.
    let other_cache = step.head.point.values.get(LEVEL).is_some_and(|level| level == Level::Cached.name());
    findings.extend(found.residence.filter(|r| !other_cache && r.differs()).map(unexpected_hits));
    findings.extend(still_reading(found));
    findings.extend(storage::small_span(run, step, found));
    findings.extend(cpu(run, found));
    findings.extend(ranks::check_step(run, found));
    findings.extend(host::network_full(step, &found.counters));
    findings.extend(host::check_window(&found.counters));
    findings.extend(server::check_window(run, step, found));
    findings.extend(access::check_window(run, step, found));
    // The source of the device's counters has reported it with its reason.
    let said = |finding: &Finding| {
        let source = |finding: &Finding| finding.evidence.split(": ").next().map(str::to_owned);
        run.findings.iter().any(|known| known.code == finding.code && source(known) == source(finding))
    };
    findings.extend(storage::check_window(found).into_iter().filter(|finding| !said(finding)));
    // Where sessions stood still, or fell to a cap, that is why the rate went down.
    let fell = findings.iter().any(|finding| [codes::STALL, codes::CLIFF].iter().any(|code| finding.code == code.name));
    let changed = steadiness::rate_changed(step, window, next_if_disturbed(&findings).is_some());
    findings.extend(changed.filter(|finding| !fell || finding.code != codes::RATE_SWINGS.name));
    findings
}

fn short_window(step: &StepRecord, measured_s: f64) -> Option<Finding> {
    let asked_s = step.head.duration_s?;
    let off_s = (measured_s - asked_s).abs();
    (off_s > (WINDOW_TOLERANCE * asked_s).max(WINDOW_SLACK_S.min(asked_s / 10.0))).then(|| {
        let text = "The measured window is not the requested one, because a session started late or stopped early. \
                    Repeat the run on a less busy host.";
        codes::SHORT_WINDOW.finding(text, format!("{measured_s:.2} s measured, {asked_s:.2} s requested"))
    })
}

/// Fixed work that was not done when its guard ended it (docs/findings.md, F17).
fn incomplete(step: &StepRecord) -> Option<Finding> {
    let asked = step.head.ops.filter(|_| step.ended && step.error.is_none() && !step.interrupted)?;
    let mut done: std::collections::BTreeMap<u32, u64> = std::collections::BTreeMap::new();
    let merged = step.merged.slices.iter().flat_map(MergedSlice::ops_by_session);
    for (session, ops) in merged.chain(step.unmerged.iter().map(|(session, slice)| (*session, slice.total_ops()))) {
        *done.entry(session).or_default() += ops;
    }
    let least = done.values().min().copied().filter(|least| *least < asked)?;
    let text = "--guard ended the run before all operations were done, so the figures describe a part of them. Use a \
                longer --guard or fewer --ops.";
    Some(
        codes::INCOMPLETE
            .finding(text, format!("{least} of {} in the slowest session", format_counted(asked, "operation"))),
    )
}

fn late_start(window: &Window, step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let skew_s = window.start_skew_us as f64 / 1e6;
    (skew_s > SKEW_SHARE * window.seconds()).then(|| {
        let evidence = format!(
            "{skew_s:.3} s between the first and the last of {}{}",
            format_counted(step.head.placements.len(), "session"),
            ranks::last_to_start(&found.summary.ranks)
        );
        let text = "Sessions did not start together. Rates count only the time in which all of them worked. Use a \
                    longer --warmup.";
        codes::LATE_START.finding(text, evidence)
    })
}

fn little(run: &Run, step: &StepRecord, work: &Work) -> Option<Finding> {
    let breach = little::breach(run, step, work).filter(|breach| *breach > LITTLE_BREACH)?;
    let text = "Sessions spent time outside operations: the client stalled, sessions were lost, or a clock is wrong. \
                Check the CPU of the client first.";
    let busy = little::in_flight(run, step, work);
    let (inside, off) = (little::residing(step, work), percent(breach));
    Some(
        codes::LITTLE
            .finding(text, format!("{busy:.2} sessions not thinking, {inside:.2} inside operations: {off} off")),
    )
}

fn loop_overhead(step: &StepRecord, work: &Work) -> Option<Finding> {
    let closed = step.head.workload.as_ref()?.rate.is_none();
    let range = LITTLE_BREACH..=MAX_LOOP_SHARE;
    let share = little::loop_share(work).filter(|share| closed && range.contains(share))?;
    let text = "The work loop took part of the sessions' time. Latencies exclude it; rates include it. A larger \
                --work-unit makes it smaller.";
    Some(codes::LOOP_OVERHEAD.finding(text, format!("{} of the time in slices", percent(share))))
}

fn mix(step: &StepRecord, work: &Work) -> Option<Finding> {
    let workload = step.head.workload.as_ref()?;
    let asked = workload.update_pct.percent();
    let realised = 100.0 * work.kind(OpKind::Update).ops / work.ops();
    // Each session may be off by one operation at either end of the window.
    let tolerance = MIX_TOLERANCE.max(200.0 * f64::from(work.sessions) / work.ops());
    let own_arithmetic = workload.compatibility == Compatibility::Mindful;
    (own_arithmetic && (realised - asked).abs() > tolerance).then(|| {
        let text = "The share of updates is not the requested one. Use a longer --duration.";
        codes::MIX.finding(text, format!("{realised:.2} % updates, {asked:.2} % requested"))
    })
}

fn rate_not_sustained(pace: &Pace) -> Option<Finding> {
    (!pace.sustained()).then(|| {
        let text = "The rate was not sustained. Operations queued, so latencies grow with the length of the run and \
                    percentiles are not reported. Use a lower --rate or more --sessions.";
        let evidence = format!(
            "{:.1} operations/s due, {:.1} done; backlog {:.0} at the start, {:.0} at the end",
            pace.offered_per_s, pace.delivered_per_s, pace.backlog_begin, pace.backlog_end
        );
        codes::RATE_NOT_SUSTAINED.finding(text, evidence)
    })
}

/// Sessions that got much less done than the median: their schema, endpoint or CPU differs.
fn unfair(work: &Work, found: &StepAnalysis) -> Option<Finding> {
    let (least, median, most) = work.fairness()?;
    let slowest = (0..).zip(&work.ops_by_session).find(|(_, ops)| **ops <= least).map(|(session, _)| session)?;
    (least < (1.0 - UNFAIR_SHARE) * median && median >= FEWEST_OPS / 10.0).then(|| {
        let text = "Sessions completed unequal work, and the totals hide that some were held up. Compare their \
                    schemas, endpoints and CPUs.";
        let severity = if least < HELD_UP * median { Severity::Warning } else { Severity::Info };
        let evidence = format!(
            "{least:.0} operations in {}, the slowest, {median:.0} in the median, {most:.0} in the fastest{}",
            session_name(slowest),
            waits_of(slowest, found).unwrap_or_default()
        );
        Finding::new(codes::UNFAIR, severity, text, evidence)
    })
}

/// The most frequent activity of a session, if it was sampled.
fn waits_of(session: u32, found: &StepAnalysis) -> Option<String> {
    let of = |class: WaitClass| {
        let name = class.counter_name(&session_name(session));
        let mut changes = found.counters.0.iter();
        Some((class, changes.find(|change| change.source == BY_SESSION && change.name == name)?.delta?))
    };
    let samples: Vec<_> = WaitClass::BUSY.into_iter().filter_map(of).collect();
    let all: f64 = samples.iter().map(|(_, count)| count).sum();
    let (class, count) = samples.into_iter().max_by(|one, other| one.1.total_cmp(&other.1)).filter(|_| all > 0.0)?;
    Some(format!("; it was at {} in {count:.0} of {all:.0} samples", class.name_in(&found.evidence.words)))
}

/// A load leaves no debt: a run without updates must not write, and a run with updates must not write more blocks than
/// it visits.
fn foreign_block_writes(run: &Run, step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let (reads, writes) = (found.summary.physical_reads_per_s?, found.summary.physical_writes_per_s?);
    let updates = !step.head.workload.as_ref()?.update_pct.is_none();
    if updates {
        return foreign_writes_finding(run, step, found, writes);
    }
    (writes > WRITES_SHARE * reads && writes * found.window?.seconds() >= FEWEST_WRITES).then(|| {
        let text = "The database wrote blocks although nothing was updated. An earlier load or run left dirty \
                    blocks, or something else writes. Repeat the run.";
        codes::WRITES_WITHOUT_UPDATES.finding(text, format!("{writes:.1} writes/s and {reads:.1} reads/s"))
    })
}

/// Blocks that others changed, which the server writes in the window: more than the operations can have made dirty since the
/// step began.
fn foreign_writes_finding(run: &Run, step: &StepRecord, found: &StepAnalysis, writes: f64) -> Option<Finding> {
    run.host.as_ref().filter(|host| !host.in_process)?;
    let (visited, seconds) = (found.summary.blocks_visited_per_s?, found.window?.seconds());
    let since = seconds + f64::from(step.head.warmup_slices);
    let most_written = run.description.as_ref()?.cache_requests.unwrap_or_default().written;
    (writes * seconds > visited * since * most_written + FEWEST_WRITES).then(|| {
        let text = "The database wrote more blocks than the operations visited: it writes changes of other \
                    sessions, other databases or an earlier run. Wait until they are written.";
        let evidence = format!("{writes:.1} writes/s for {visited:.1} blocks visited/s");
        Finding::new(codes::OTHERS_ACTIVE, Severity::Warning, text, evidence)
    })
}

fn unexpected_hits(residence: Residence) -> Finding {
    let text = if residence.measured < residence.predicted {
        "The database's cache served fewer visits than its size allows. It was still filling, or it also holds other \
         data. Use a longer --warmup."
    } else {
        "The database's cache served more visits than its size allows for random blocks. Visits are not spread as \
         requested, or the target does not count all its reads."
    };
    let (predicted, measured) = (percent(residence.predicted), percent(residence.measured));
    codes::UNEXPECTED_HITS
        .finding(text, format!("{measured} of the blocks visited, {predicted} expected from cache size"))
}

/// Physical reads by block visited above which a run from the database's cache also measures storage.
const STILL_READING: f64 = 0.001;

/// A run of the database's cache reads nothing from below once it is warm (docs/findings.md, F3).
fn still_reading(found: &StepAnalysis) -> Option<Finding> {
    let cached = found.reads.as_ref().is_some_and(|reads| reads.kind == HeadlineKind::DatabaseCache);
    let yielded = found.gates.method_yield.filter(|y| cached && *y > STILL_READING)?;
    let text = "A run from the database's cache still read blocks. Each read takes as long as many hits, so CPU and \
                memory can do more. Use a longer --warmup or a larger cache.";
    Some(codes::STILL_READING.finding(text, format!("{} of the blocks visited were read", percent(yielded))))
}

fn few_operations(work: &Work) -> Option<Finding> {
    (work.ops() < FEWEST_OPS).then(|| {
        let text = "There were few operations, so rates are rough and high percentiles unknown. Use a longer \
                    --duration or a smaller --work-unit.";
        codes::FEW_OPERATIONS
            .finding(text, format!("{} in {:.1} s", format_counted(work.ops() as u64, "operation"), work.seconds))
    })
}

fn cpu(run: &Run, found: &StepAnalysis) -> Vec<Finding> {
    let (mut findings, cpu) = (Vec::new(), &found.summary.cpu);
    let in_process = run.host.as_ref().is_some_and(|host| host.in_process);
    let alone = found.summary.ranks.is_empty() && !in_process;
    if let (Some(cores), Some(cpus), true) = (cpu.client_cores, client_cpus(run, &found.counters), alone)
        && cores > CLIENT_BUSY * cpus
    {
        let text = if found.evidence.server_loop_unused {
            "mindful used all of its CPUs, so the figures are the client's. Use --loop server or a larger client."
        } else {
            "mindful used all of its CPUs, so the figures are the client's. Use a larger client."
        };
        findings.push(codes::CLIENT_BOUND.finding(text, format!("{cores:.2} of {cpus} CPUs that it may use")));
    }
    if let Some(busy) = found.evidence.host_busy.filter(|busy| *busy > HOST_BUSY) {
        let text = "The host's CPUs were full. Latency includes waiting for a CPU, and rates are what the CPUs allow.";
        let of = if left_to_host(&found.counters) < 1.0 {
            "what the hypervisor left of the host's CPU"
        } else {
            "the host's CPU"
        };
        findings.push(codes::HOST_SATURATED.finding(text, format!("{} of {of} busy", percent(busy))));
    }
    if let Some(share) = cpu.wait_sampling_share.filter(|share| *share > WAIT_SAMPLING_SHARE) {
        let text = "Sampling of wait events took CPU from the database. Use a longer --wait-sampling interval, or \
                    --wait-sampling off.";
        findings.push(codes::WAIT_SAMPLING_COST.finding(text, format!("{} of the server's CPU", percent(share))));
    }
    let steal = found.counters.ratio(Counter::HostCpuStealUs, Counter::HostCpuTotalUs);
    if let Some(steal) = steal.filter(|steal| *steal > STEAL_SHARE) {
        let text = "The hypervisor gave this host's CPU to other guests, so the figures depend on them. Measure at \
                    another time or on another host.";
        findings.push(codes::CPU_STEAL.finding(text, format!("{} of CPU time stolen", percent(steal))));
    }
    findings
}
