//! The words of the first part of every report: whether the run may be quoted, its figure, its limit, the next step. All
//! are harmless on one line of a terminal.

use mindful_analyze::judgement::headline::HeadlineKind;
use mindful_analyze::judgement::verdict::{Limit, Verdict};
use mindful_analyze::{Analysis, StepAnalysis, curve};
use mindful_core::result::{Severity, Summary};

use crate::findings::fold;
use crate::style::Detail;
use crate::{escape, figure, findings};

/// The text in place of a figure that a step does not have.
pub(crate) const NO_FIGURE: &str = "no figure: there was no time in which all sessions worked";

/// Which step it is, of `all`: `step 2 of 3: 8 sessions`.
pub(crate) fn place(step: &StepAnalysis, number: usize, all: usize) -> String {
    format!("step {number} of {all}: {}", figure::sessions(step.summary.sessions))
}

/// The figure of a step and its label: `57,542`, and `storage IOPS (reads)` with the commit mode of updates; `None` if there
/// was no time in which all sessions worked.
pub(crate) fn figure(step: &StepAnalysis) -> Option<[String; 2]> {
    let headline = step.headline.as_ref()?;
    let commit = step.commit.as_ref().map_or_else(String::new, |commit| format!("; commits {}", escape(commit)));
    let like = step.summary.like.kit().map_or_else(String::new, |kit| format!("; in the arithmetic of {kit}"));
    Some([figure::number(headline.per_s), format!("{}{commit}{like}", escape(&headline.label))])
}

/// The limit of a step with its evidence: `limited by device latency: ...`, or `no single limit: ...`.
pub(crate) fn limit_with_evidence(verdict: &Verdict) -> String {
    let limit = limit_words(verdict).unwrap_or_else(|| "no single limit".to_owned());
    format!("{limit}: {}", escape(&verdict.figures))
}

pub(crate) fn next(verdict: &Verdict) -> String {
    format!("next: {}", escape(&verdict.next))
}

/// The figure by which steps are compared, and its name: the headline. The headline of a step with reads and updates
/// counts only commits, so the figure is the blocks visited by both.
pub(crate) fn rate(step: &StepAnalysis) -> Option<(f64, &str)> {
    let headline = step.headline.as_ref()?;
    let is_mix = headline.kind == HeadlineKind::Commits && step.summary.ops.select.is_some();
    let visited = curve::throughput(&step.summary).filter(|_| is_mix);
    let of_mix = visited.map(|per_s| (per_s, curve::common_flow(std::iter::once(&step.summary)).name()));
    Some(of_mix.unwrap_or((headline.per_s, &headline.label)))
}

/// The step of the highest [`rate`], with its number.
pub(crate) fn best(analysis: &Analysis) -> Option<(usize, &StepAnalysis)> {
    let per_s = |step: &StepAnalysis| rate(step).map(|(per_s, _)| per_s);
    let known = (1..).zip(&analysis.steps).filter_map(|(number, step)| Some((number, step, per_s(step)?)));
    known.max_by(|a, b| a.2.total_cmp(&b.2)).map(|(number, step, _)| (number, step))
}

/// Findings against the result: the most severe one in full, the others by their codes.
pub(crate) fn against(summary: &Summary) -> String {
    let mut kinds = findings::kinds(&summary.findings);
    kinds.retain(|kind| kind[0].severity > Severity::Info);
    let Some((first, others)) = kinds.split_first() else {
        return "nothing speaks against this result".to_owned();
    };
    let (text, evidence) = (escape(&first[0].text), escape(&fold::evidence(first, Detail::Short)));
    if others.is_empty() {
        return format!("{text} ({evidence})");
    }
    format!("{text} ({}: {evidence}); also {}", escape(&first[0].code), findings::codes(others.iter()))
}

/// The limit of `step`: `limited by WAL sync latency (WAL on vdb, data on vda)`; `None` without a single limit.
pub(crate) fn limit_of_step(step: &StepAnalysis) -> Option<String> {
    let verdict = step.verdict.as_ref()?;
    let volumes = step.evidence.commits.volumes.as_ref().filter(|_| verdict.limit.is_of_log());
    let volumes = volumes.map_or_else(String::new, |volumes| format!(" ({})", escape(volumes)));
    Some(limit_words(verdict)? + &volumes)
}

/// The limit of the step with the highest figure of `analysis`.
pub(crate) fn limit_of_best(analysis: &Analysis) -> Option<String> {
    best(analysis).and_then(|(_, step)| limit_of_step(step))
}

fn limit_words(verdict: &Verdict) -> Option<String> {
    (verdict.limit != Limit::Undecided).then(|| format!("limited by {}", escape(&verdict.called)))
}
