//! The first part of every report, as data: whether the run may be quoted, its figure, its limit, the next step. The
//! terminal makes panels of it and the HTML page its head, so that both use the same words.

use mindful_analyze::judgement::headline::HeadlineKind;
use mindful_analyze::judgement::verdict::{Limit, Verdict};
use mindful_analyze::{Analysis, StepAnalysis, curve};
use mindful_core::result::{Severity, Summary};

use crate::findings::fold;
use crate::style::Detail;
use crate::{escape, figure, findings};

/// The text in place of a figure that a step does not have.
pub(crate) const NO_FIGURE: &str = "no figure: there was no time in which all sessions worked";

/// The head of a step. All texts are harmless on one line of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StepCard {
    /// Which step it is, where there are several: `step 2 of 3: 8 sessions`.
    pub place: Option<String>,
    /// Its figure; `None` if there was no time in which all sessions worked.
    pub headline: Option<HeadlineCard>,
    /// Its limit; `None` without a window.
    pub limit: Option<LimitCard>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeadlineCard {
    /// The number, grouped in thousands: `57,542`.
    pub figure: String,
    /// The counted unit, per second: `storage IOPS (reads)`, with the commit mode of updates.
    pub label: String,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LimitCard {
    /// `limited by device latency`, or `no single limit`.
    pub limit: String,
    /// The figures it rests on, each with its threshold.
    pub why: String,
    pub next: String,
}

pub(crate) fn step_cards(analysis: &Analysis) -> impl Iterator<Item = (&StepAnalysis, StepCard)> {
    let all = analysis.steps.len();
    let card = move |number, step| (step, step_card(step, (all > 1).then_some((number, all))));
    (1..).zip(&analysis.steps).map(move |(number, step)| card(number, step))
}

/// The card of one step; `place` is its number and the number of steps, if there are several.
pub(crate) fn step_card(step: &StepAnalysis, place: Option<(usize, usize)>) -> StepCard {
    StepCard {
        place: place
            .map(|(number, all)| format!("step {number} of {all}: {}", figure::sessions(step.summary.sessions))),
        headline: headline(step),
        limit: step.verdict.as_ref().map(limit),
    }
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

fn headline(step: &StepAnalysis) -> Option<HeadlineCard> {
    let headline = step.headline.as_ref()?;
    let commit = step.commit.as_ref().map_or_else(String::new, |commit| format!("; commits {}", escape(commit)));
    let like = step.summary.like.kit().map_or_else(String::new, |kit| format!("; in the arithmetic of {kit}"));
    Some(HeadlineCard {
        figure: figure::number(headline.per_s),
        label: format!("{}{commit}{like}", escape(&headline.label)),
        why: escape(&headline.why),
    })
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

fn limit(verdict: &Verdict) -> LimitCard {
    let limit = limit_words(verdict).unwrap_or_else(|| "no single limit".to_owned());
    LimitCard { limit, why: escape(&verdict.figures), next: escape(&verdict.next) }
}
