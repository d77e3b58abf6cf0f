//! A run, judged: from what was recorded to figures, findings and a verdict.

use mindful_core::result::{Finding, Summary};
use mindful_core::run::Run;

use crate::judgement::verdict::{Rung, Verdict};
use crate::step::{StepAnalysis, analyze_step};
use crate::{checks, summary};

/// All that can be said about a run.
#[derive(Debug)]
pub struct Analysis {
    /// The figures.
    pub summary: Summary,
    /// More about each step, in the order of `summary.steps`.
    pub steps: Vec<StepAnalysis>,
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
