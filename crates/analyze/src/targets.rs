//! Several targets of one run: each judged as a separate run, and the conclusion for all.

use mindful_core::result::{Finding, Summary, TargetSummary};

use crate::judgement::verdict::Verdict;
use crate::step::StepAnalysis;

/// The result on one target: its summary, and the data of its steps.
pub(crate) type OfTarget<'a> = (&'a Summary, &'a [StepAnalysis]);

/// Completes `steps`, the sums over all targets, with the results of each target.
pub(crate) fn tell(steps: &mut [StepAnalysis], targets: &[OfTarget<'_>]) {
    if targets.is_empty() {
        return;
    }
    for (at, step) in steps.iter_mut().enumerate() {
        step.summary.targets = targets.iter().filter_map(|target| summary(target, at)).collect();
        step.verdict = common(targets, at);
        step.summary.limited_by = step.verdict.as_ref().map(|verdict| verdict.limit.name().to_owned());
    }
}

fn summary((of, _): &OfTarget<'_>, step: usize) -> Option<TargetSummary> {
    Some(TargetSummary {
        target: of.target.clone(),
        engine_version: of.engine_version.clone(),
        validity: of.validity,
        findings: of.findings.clone(),
        step: of.steps.get(step)?.clone(),
    })
}

/// The common limit of all targets; `None` if they differ.
fn common(targets: &[OfTarget<'_>], step: usize) -> Option<Verdict> {
    let of = |(_, steps): &OfTarget<'_>| steps.get(step).and_then(|step| step.verdict.clone());
    let first = of(targets.first()?)?;
    let agree = targets.iter().all(|target| of(target).is_some_and(|verdict| verdict.limit == first.limit));
    agree.then(|| Verdict { figures: format!("for each target alone; target 1: {}", first.figures), ..first })
}

/// Findings of each target, with its name: the run is only as good as the worst target.
pub(crate) fn findings(targets: &[OfTarget<'_>]) -> Vec<Finding> {
    let of_target = |(number, (of, _)): (u32, &OfTarget<'_>)| {
        let name = format!("target {number}, {}", of.target);
        let reported =
            move |finding: &Finding| Finding { evidence: format!("{name}: {}", finding.evidence), ..finding.clone() };
        of.findings.iter().map(reported).collect::<Vec<_>>()
    };
    (1..).zip(targets).flat_map(of_target).collect()
}
