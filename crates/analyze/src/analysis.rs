//! From the record of a run to figures, findings and a verdict.

use std::collections::BTreeMap;

use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, Summary};

use crate::judgement::headline::HeadlineKind;
use crate::judgement::ladder_step::{LadderStep, is_flat, ladder};
use crate::judgement::limit::Limit;
use crate::judgement::verdict::Verdict;
use crate::step::{StepAnalysis, analyze_step};
use crate::{checks, curve, objective, summary, targets};

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
    let judged: Vec<targets::OfTarget<'_>> = of_targets.iter().map(|of| (&of.summary, &*of.steps)).collect();
    targets::tell(&mut steps, &judged);
    let summaries: Vec<_> = steps.iter().map(|step| step.summary.clone()).collect();
    let mut findings = if of_targets.is_empty() { checks::check_run(run) } else { checks::check_end(run) };
    findings.extend(targets::findings(&judged));
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
