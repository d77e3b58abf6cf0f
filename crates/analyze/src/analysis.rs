//! From the record of a run to figures, findings and a verdict.

use std::collections::BTreeMap;

use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, Summary, TargetSummary};

use crate::judgement::headline::HeadlineKind;
use crate::judgement::limit::{LadderStep, Limit, is_flat, ladder};
use crate::judgement::verdict::Verdict;
use crate::step::{StepAnalysis, analyze_step};
use crate::{checks, curve, objective, summary};

#[derive(Debug)]
pub struct Analysis {
    pub summary: Summary,
    /// More about each step, in the order of `summary.steps`.
    pub steps: Vec<StepAnalysis>,
    /// The same of each target; empty where there is one.
    pub targets: Vec<Analysis>,
}

pub fn analyze(run: &Run) -> Analysis {
    let mut steps: Vec<_> = run.steps.iter().map(|step| analyze_step(run, step)).collect();
    // Verdicts come last: a device's cap shows only where steps are compared with each other.
    let ladder_step = |(record, step): (&StepRecord, &StepAnalysis)| {
        step.window.and_then(|_| LadderStep::from_step(run, record, step.work.as_ref(), &step.counters))
    };
    let ladder_steps: Vec<_> = run.steps.iter().zip(&steps).map(ladder_step).collect();
    let pairs = ladder(run, &ladder_steps);
    let flat: Vec<_> = pairs.iter().flatten().filter(|pair| is_flat(pair)).flat_map(|pair| [pair.0, pair.1]).collect();
    for ((step, ladder_step), ladder) in steps.iter_mut().zip(&ladder_steps).zip(&pairs) {
        step.evidence.ladder = *ladder;
        step.evidence.flat = ladder_step.is_some_and(|here| flat.contains(&here));
        let reported = step.window.is_some() && step.work.is_none();
        step.verdict = (reported || ladder_step.is_some()).then(|| Verdict::from_evidence(&step.evidence));
        step.summary.limited_by = step.verdict.as_ref().map(|verdict| verdict.limit.name().to_owned());
    }
    let of_targets: Vec<Analysis> = run.targets.iter().map(analyze).collect();
    add_targets(&mut steps, &of_targets);
    let summaries: Vec<_> = steps.iter().map(|step| step.summary.clone()).collect();
    let mut findings = if of_targets.is_empty() { checks::check_run(run) } else { checks::check_end(run) };
    findings.extend(findings_of_targets(&of_targets));
    findings.extend(curve::incomparable_steps(run, &summaries));
    for (record, step) in run.steps.iter().zip(&mut steps) {
        let prefix = (run.steps.len() > 1).then(|| format!("step {}: ", record.head.step + 1));
        let of_step = checks::check_step(run, record, step);
        if let Some(verdict) = &mut step.verdict
            && let Some(next) = next_after(run, verdict.limit, &of_step)
        {
            next.clone_into(&mut verdict.next);
        }
        findings.extend(of_step.into_iter().map(|finding| match &prefix {
            Some(prefix) => Finding { evidence: format!("{prefix}{}", finding.evidence), ..finding },
            None => finding,
        }));
    }
    let advice = run.description.as_ref().map(|description| &description.advice);
    let judged = findings.into_iter().map(|finding| advised(finding, advice));
    let before = run.findings.iter().filter(|finding| !is_refuted(finding, &steps)).cloned();
    let mut findings: Vec<_> = before.chain(judged).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse((finding.severity, checks::is_a_cause(finding))));
    let summary = Summary { objective: objective::found(run, &steps), ..summary::summary(run, summaries, findings) };
    Analysis { summary, steps, targets: of_targets }
}

/// The next step, if a larger plan has no ground: other work disturbed the figure, or a file reports it.
fn next_after(run: &Run, limit: Limit, findings: &[Finding]) -> Option<&'static str> {
    let unknown = limit == Limit::Undecided && run.head.imported.is_some();
    match limit {
        Limit::OthersCpu | Limit::Stall => None,
        _ => checks::next_if_disturbed(findings)
            .or(unknown.then_some("measure this system with mindful, which samples waits")),
    }
}

/// Whether the window disproves a doubt from before the run: a storage figure excludes other readers, and other writers
/// have a finding of their own.
fn is_refuted(finding: &Finding, steps: &[StepAnalysis]) -> bool {
    let storage = |step: &StepAnalysis| step.headline.as_ref().is_some_and(|found| found.kind == HeadlineKind::Storage);
    finding.code == codes::BUSY_DEVICE.name && steps.iter().any(storage)
}

fn advised(finding: Finding, advice: Option<&BTreeMap<String, String>>) -> Finding {
    match advice.and_then(|advice| advice.get(&finding.code)) {
        Some(advice) => Finding { text: format!("{} {advice}", finding.text), ..finding },
        None => finding,
    }
}

/// Completes `steps`, the sums over all targets, with the results of each target.
fn add_targets(steps: &mut [StepAnalysis], targets: &[Analysis]) {
    if targets.is_empty() {
        return;
    }
    for (at, step) in steps.iter_mut().enumerate() {
        step.summary.targets = targets.iter().filter_map(|target| target_summary(target, at)).collect();
        step.verdict = common(targets, at);
        step.summary.limited_by = step.verdict.as_ref().map(|verdict| verdict.limit.name().to_owned());
    }
}

fn target_summary(Analysis { summary: of, .. }: &Analysis, step: usize) -> Option<TargetSummary> {
    Some(TargetSummary {
        target: of.target.clone(),
        engine_version: of.engine_version.clone(),
        validity: of.validity,
        findings: of.findings.clone(),
        step: of.steps.get(step)?.clone(),
    })
}

/// The common limit of all targets; `None` if they differ.
fn common(targets: &[Analysis], step: usize) -> Option<Verdict> {
    let mut verdicts = targets.iter().map(|target| target.steps.get(step)?.verdict.clone());
    let first = verdicts.next()??;
    let agree = verdicts.all(|verdict| verdict.is_some_and(|verdict| verdict.limit == first.limit));
    agree.then(|| Verdict { figures: format!("for each target alone; target 1: {}", first.figures), ..first })
}

/// Findings of each target, with its name: the run is only as good as the worst target.
fn findings_of_targets(targets: &[Analysis]) -> Vec<Finding> {
    let of_target = |(number, Analysis { summary, .. }): (u32, &Analysis)| {
        let name = format!("target {number}, {}", summary.target);
        let named =
            |finding: &Finding| Finding { evidence: format!("{name}: {}", finding.evidence), ..finding.clone() };
        summary.findings.iter().map(named).collect::<Vec<_>>()
    };
    (1..).zip(targets).flat_map(of_target).collect()
}
