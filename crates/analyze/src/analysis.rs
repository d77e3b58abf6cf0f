//! A run, judged: from what was recorded to figures, findings and a verdict.

use mindful_core::result::{Finding, StepSummary, Summary};
use mindful_core::run::{Run, StepRecord};
use mindful_core::workload::Loop;

use crate::checks;
use crate::counters::Counters;
use crate::cpu::client_cpus;
use crate::headline::{Gates, Headline, headline};
use crate::ledger::Ledger;
use crate::pace::Pace;
use crate::residence::Residence;
use crate::shares::Shares;
use crate::summary;
use crate::verdict::{Evidence, Rung, Verdict};
use crate::window::{Window, window};
use crate::work::Work;

/// All that can be said about a run.
#[derive(Debug)]
pub struct Analysis {
    /// The figures.
    pub summary: Summary,
    /// More about each step, in the order of `summary.steps`.
    pub steps: Vec<StepAnalysis>,
}

/// What stands behind the figures of a step.
#[derive(Debug)]
pub struct StepAnalysis {
    /// Its figures, as in the summary.
    pub summary: StepSummary,
    /// Where all sessions were at work; `None` when they never were, and then nothing below is known.
    pub window: Option<Window>,
    /// What they did there.
    pub work: Option<Work>,
    /// What counters did meanwhile.
    pub counters: Counters,
    /// How an open loop went; `None` in a closed one.
    pub pace: Option<Pace>,
    /// What decides the name of the headline figure.
    pub gates: Gates,
    /// What the database's cache can hold and what it served; `None` where it cannot be told.
    pub residence: Option<Residence>,
    /// The figure that stands for the step.
    pub headline: Option<Headline>,
    /// The same work as each level counted it.
    pub ledger: Ledger,
    /// What the verdict rests on.
    pub evidence: Evidence,
    /// What limited the step; `None` without a window.
    pub verdict: Option<Verdict>,
}

/// Judges `run`.
pub fn analyze(run: &Run) -> Analysis {
    let mut steps: Vec<_> = run.steps.iter().map(|step| analyze_step(run, step)).collect();
    judge(&mut steps);
    let mut findings = run.findings.clone();
    findings.extend(checks::of_run(run));
    for (record, step) in run.steps.iter().zip(&steps) {
        let prefix = (run.steps.len() > 1).then(|| format!("step {}: ", record.head.step + 1));
        findings.extend(checks::of_step(run, record, step).into_iter().map(|finding| match &prefix {
            Some(prefix) => Finding { evidence: format!("{prefix}{}", finding.evidence), ..finding },
            None => finding,
        }));
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Analysis { summary: summary::summary(run, steps.iter().map(|s| s.summary.clone()).collect(), findings), steps }
}

fn analyze_step(run: &Run, step: &StepRecord) -> StepAnalysis {
    let window = window(step);
    let work = window.as_ref().map(|window| Work::of(step, window));
    let counters = window.as_ref().map(|window| Counters::of(step, window)).unwrap_or_default();
    let measured = window.as_ref().zip(work.as_ref()).map(|(window, work)| (window, work, &counters));
    let pace = measured.and_then(|(window, work, _)| Pace::of(step, window, work));
    let summary = summary::step(run, step, measured, pace.as_ref());
    let gates = Gates::of(&summary, &counters, summary::block_bytes(run));
    let residence = Residence::of(run, step, &gates);
    let headline = headline(&summary, &gates);
    let ledger = work.as_ref().map(|work| Ledger::of(run, step, work, &counters)).unwrap_or_default();
    let evidence = work.as_ref().map(|work| evidence(run, step, work, &counters, &summary)).unwrap_or_default();
    StepAnalysis { summary, window, work, counters, pace, gates, residence, headline, ledger, evidence, verdict: None }
}

fn evidence(run: &Run, step: &StepRecord, work: &Work, counters: &Counters, summary: &StepSummary) -> Evidence {
    let in_process = run.host.as_ref().is_some_and(|host| host.in_process);
    let client = summary.cpu.client_cores.filter(|_| !in_process);
    Evidence {
        client_busy: client.zip(client_cpus(run, counters)).map(|(cores, cpus)| cores / cpus),
        little_breach: checks::little_breach(run, step, work),
        host_busy: summary.cpu.host_busy_share,
        shares: Shares::of(work, counters),
        ladder: None,
        page_cache_share: summary.page_cache_share,
        server_loop_unused: server_loop_unused(run, step),
        reads_alone: summary.update_pct == 0.0,
    }
}

/// Whether the loop ran in mindful though the engine has one in the database; `false` where the run does not tell.
fn server_loop_unused(run: &Run, step: &StepRecord) -> bool {
    run.head.server_side_loop == Some(true) && step.head.workload.looping == Loop::Client
}

/// Verdicts come last: a device's cap shows only where steps are held against each other.
fn judge(steps: &mut [StepAnalysis]) {
    let rungs: Vec<_> = steps.iter().map(rung).collect();
    for (step, here) in steps.iter_mut().zip(&rungs) {
        if let Some(here) = here {
            let halves = rungs.iter().flatten().filter(|before| before.sessions * 2.0 <= here.sessions);
            let before = halves.max_by(|a, b| a.sessions.total_cmp(&b.sessions));
            step.evidence.ladder = before.map(|before| (*before, *here));
            step.verdict = Some(Verdict::of(&step.evidence));
        }
    }
}

fn rung(step: &StepAnalysis) -> Option<Rung> {
    let work = step.work.as_ref().filter(|work| work.ops() > 0.0)?;
    let per_s = work.ops() / work.seconds;
    Some(Rung { sessions: f64::from(work.sessions), per_s, mean_us: work.busy_sessions() * 1e6 / per_s })
}
