//! The title of a page and its first sentence, which a reader can repeat without the rest.

use mindful_analyze::judgement::headline::HeadlineKind;
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::contract::fact::Fact;
use mindful_core::record::run::Run;

use crate::charts::Side;
use crate::panels::answer;
use crate::{card, figure, list};

/// Subject, host and time: `r7i.large (sweep) on db1, 2026-11-26 17:23 UTC`.
pub(super) fn title(run: &Run, analysis: &Analysis) -> String {
    let command = list::kind(&run.head, Some(&analysis.summary));
    let name = match &run.head.plan.tag {
        Some(tag) => format!("{tag} ({command})"),
        None => format!("mindful {command}"),
    };
    format!("{name}{}, {}", place(run), date(run))
}

/// The runs of a page: `3 runs on db1, 2026-11-26 17:23 UTC`.
pub(crate) fn title_of_several(name: &str, sides: &[Side]) -> String {
    let Some((first, _)) = sides.first() else { return name.to_owned() };
    let same_host = sides.iter().all(|(run, _)| host(run) == host(first));
    format!("{name}{}, {}", if same_host { place(first) } else { String::new() }, date(first))
}

fn host(run: &Run) -> Option<&String> {
    Fact::HostName.find(&run.environment)
}

fn place(run: &Run) -> String {
    host(run).map_or_else(String::new, |host| format!(" on {host}"))
}

pub(super) fn date(run: &Run) -> String {
    format!("{} UTC", list::minute(&run.head.started_at))
}

/// The best figure with its load, its latency and its limit; `None` without a figure.
pub(crate) fn first_sentence(run: &Run, analysis: &Analysis) -> Option<String> {
    if let Some(answer) = answer::answer(run, analysis) {
        let mut letters = answer.details.chars();
        let details = letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>());
        return Some([Some(answer.sentence + "."), details].into_iter().flatten().collect::<Vec<_>>().join(" "));
    }
    let (_, step) = card::best(analysis)?;
    let headline = step.headline.as_ref()?;
    let version = run.description.as_ref().map_or_else(String::new, |found| format!(" {}", found.engine_version));
    Some(format!(
        "{}{version} did {} {} with {}{}. {} The result is {}.",
        run.head.engine,
        figure::number(headline.per_s),
        headline.label,
        figure::sessions(step.summary.sessions),
        latency(step),
        limit(step),
        analysis.summary.validity.name()
    ))
}

/// The latency of the operations that the headline counts.
fn latency(step: &StepAnalysis) -> String {
    let ops = &step.summary.ops;
    let of_commits = step.headline.as_ref().is_some_and(|headline| headline.kind == HeadlineKind::Commits);
    let op = if of_commits { ops.update.as_ref() } else { ops.main() };
    match (op.and_then(|op| op.p50_us), op.and_then(|op| op.p99_us)) {
        (Some(p50), Some(p99)) => {
            format!(": median latency {}, 99th percentile {}", figure::time_us(p50), figure::time_us(p99))
        }
        (Some(p50), None) => format!(": median latency {}", figure::time_us(p50)),
        _ => String::new(),
    }
}

fn limit(step: &StepAnalysis) -> String {
    match card::limit_of_step(step) {
        Some(limit) => format!("It was {limit}."),
        None => "No single limit was found.".to_owned(),
    }
}
