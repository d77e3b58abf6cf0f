//! The answer of a run with a question: one sentence, the first of every report. A search answers with the most work
//! within its objective, a contrast with the ratio of database to raw.
//!
//! The figure is the headline of the confirmed step, so a rate is called storage IOPS only if the headline is. Without
//! an answer the sentence describes the lowest load, because that is the load to change.

use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::plan::sweep::Objective;
use mindful_core::record::run::Run;
use mindful_core::result::ObjectiveSummary;

use crate::card::limit_of_step;
use crate::panels::{Answer, Panel, contrast};
use crate::{escape, figure};

/// The answer of a contrast and of a sweep with an objective; `None` for any other run.
pub(crate) fn answer(run: &Run, analysis: &Analysis) -> Option<Answer> {
    if let Some(contrast) = &analysis.summary.contrast {
        return Some(contrast::answer(contrast));
    }
    if let Some(commits) = &analysis.summary.commits {
        return Some(contrast::commit_answer(analysis, commits));
    }
    let objective = run.head.settings.parse("max_iops_at", Objective::parse).ok().flatten()?;
    let found = analysis.summary.objective.as_ref().and_then(|found| {
        let step = analysis.steps.get(usize::try_from(found.step).ok()?.checked_sub(1)?)?;
        Some((found, step))
    });
    Some(match found {
        Some((found, step)) => reached(&objective, found, step),
        None => missed(run, &objective, analysis),
    })
}

pub(crate) fn panel(answer: &Answer) -> Panel {
    let mut panel = Panel::default();
    panel.wrapped(0, &answer.sentence);
    if !answer.details.is_empty() {
        panel.wrapped(0, &answer.details);
    }
    panel
}

fn reached(objective: &Objective, found: &ObjectiveSummary, step: &StepAnalysis) -> Answer {
    let (rate, label) = match &step.headline {
        Some(headline) => (figure::number(headline.per_s), escape(&headline.label)),
        None => (figure::maybe(found.blocks_visited_per_s), "blocks/s".to_owned()),
    };
    let percentile = format!("p{}", objective.percentile);
    let latency = found.latency_us.map_or_else(String::new, |us| format!(" at {percentile} {}", figure::time_us(us)));
    let load = match found.key.as_str() {
        "sessions" => figure::sessions(step.summary.sessions),
        key => format!("{} {}", escape(key), figure::number(found.load)),
    };
    let limit = limit_of_step(step).map_or_else(String::new, |limit| format!(", {limit}"));
    let known = [
        found.blocks_visited_per_s_interval.map(|rates| format!("blocks/s {}", ends(rates, figure::number))),
        found.latency_us_interval.map(|us| format!("{percentile} {}", ends(us, figure::time_us))),
    ];
    let known: Vec<_> = known.into_iter().flatten().collect();
    let more = if found.latency_us_interval.is_some() {
        String::new()
    } else {
        format!("; that of {percentile} takes 10 operations above it")
    };
    let intervals = match known.as_slice() {
        [] => "95 % intervals take a step of 10 s or more".to_owned(),
        [one] => format!("95 % interval: {one}{more}"),
        several => format!("95 % intervals: {}", several.join(", ")),
    };
    // Where the noise decides between neighbours, the load is a range.
    let (tried, most) = match found.load_range {
        Some([low, high]) if low < found.load => {
            let [low, high] = [low, high].map(figure::number);
            ("", format!("the most within {objective} lies between {low} and {high} {}", escape(&found.key)))
        }
        Some(_) => ("", format!("the most within {objective}")),
        None => (", the highest load tried", format!("within {objective}")),
    };
    let beyond = if tried.is_empty() { "" } else { "more may be within the objective: try higher loads; " };
    let details = format!("{beyond}confirmed by step {}; {intervals}", found.step);
    let sentence = format!("{rate} {label}{latency} ({load}{tried}): {most}{limit}");
    Answer { sentence, details, found: true }
}

fn ends([low, high]: [f64; 2], form: fn(f64) -> String) -> String {
    format!("{} to {}", form(low), form(high))
}

fn missed(run: &Run, objective: &Objective, analysis: &Analysis) -> Answer {
    let load = |step: &&StepAnalysis| step.summary.sessions;
    let lowest = analysis.steps.iter().filter(|step| step.summary.ops.main().is_some()).min_by_key(load);
    let percentile = format!("p{}", objective.percentile);
    let did = lowest.map_or_else(String::new, |step| {
        let op = step.summary.ops.main();
        let at = figure::sessions(step.summary.sessions);
        match op.and_then(|op| objective.figure(op)) {
            Some(us) => format!(": {percentile} was {} at {at}", figure::time_us(us)),
            None => format!(
                ": {percentile} needs {} operations, and {at} did {}",
                figure::format_whole(objective.min_ops()),
                figure::format_whole(op.map_or(0, |op| op.count))
            ),
        }
    });
    let unit = run.head.plan.work_unit;
    let too_slow = lowest.and_then(|step| objective.is_met_by(&step.summary.ops)) == Some(false);
    let details = if too_slow && unit > 1 {
        format!(
            "An operation reads {unit} blocks one after another. --work-unit 1 applies the objective to single reads."
        )
    } else {
        String::new()
    };
    Answer { sentence: format!("no load met {objective}{did}"), details, found: false }
}
