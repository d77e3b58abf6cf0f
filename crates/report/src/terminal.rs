//! The report of a run for a person: the verdict first, then the figure, then what stands behind both.

mod facts;
pub(crate) mod figures;
mod findings;

use std::path::Path;

use mindful_analyze::judgement::verdict::{Limit, Verdict};
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::result::{Severity, Summary, Validity};
use mindful_core::run::Run;

use crate::escape;
use crate::figure::sessions;
use crate::panel::Panel;
use crate::style::Tone;

/// The panels of single steps. `stored_at` is the run's folder, when there is one to name.
pub(crate) fn panels(run: &Run, analysis: &Analysis, stored_at: Option<&Path>) -> Vec<Panel> {
    let mut panels = vec![verdict(analysis)];
    panels.extend(each_step(analysis));
    panels.extend([
        facts::measured(run, analysis),
        facts::proof(run),
        facts::settings(run),
        findings::findings(&analysis.summary.findings),
        findings::notes(&run.notes),
        whereabouts(analysis, stored_at),
    ]);
    panels
}

fn each_step(analysis: &Analysis) -> Vec<Panel> {
    let many = analysis.steps.len() > 1;
    let of_step = |(number, step): (usize, &StepAnalysis)| {
        let mut place = Panel::default();
        if many {
            place.heading(&format!("step {number} of {}: {}", analysis.steps.len(), sessions(step.summary.sessions)));
        }
        let figures = [figures::operations, figures::ledger, figures::reads, figures::time, figures::cpu];
        [place, headline(step)].into_iter().chain(figures.map(|panel| panel(step)))
    };
    (1..).zip(&analysis.steps).flat_map(of_step).collect()
}

fn whereabouts(analysis: &Analysis, stored_at: Option<&Path>) -> Panel {
    let mut panel = Panel::default();
    panel.blank();
    panel.line(&format!("run {}", escape(&analysis.summary.id)));
    if let Some(path) = stored_at {
        panel.line(&format!("stored in {}", escape(&path.display().to_string())));
    }
    panel
}

fn verdict(analysis: &Analysis) -> Panel {
    let mut page = Panel::default();
    let (word, tone, why) = speaks_against(&analysis.summary);
    page.hanging(0, tone, word, &why);
    page
}

/// Whether the result holds, in a word, and what speaks against it.
pub(crate) fn speaks_against(summary: &Summary) -> (&'static str, Tone, String) {
    let (word, tone) = match summary.validity {
        Validity::Valid => ("VALID", Tone::Good),
        Validity::Suspect => ("SUSPECT", Tone::Doubtful),
        Validity::Invalid => ("INVALID", Tone::Bad),
    };
    let worst: Vec<_> = summary.findings.iter().filter(|f| f.severity > Severity::Info).collect();
    let why = match worst.as_slice() {
        [] => "nothing speaks against this result".to_owned(),
        [one] => format!("{} ({})", escape(&one.text), escape(&one.evidence)),
        [first, others @ ..] => {
            let mut codes: Vec<_> = others.iter().map(|f| escape(&f.code)).collect();
            codes.dedup();
            let (text, evidence) = (escape(&first.text), escape(&first.evidence));
            format!("{text} ({}: {evidence}); also {}", escape(&first.code), codes.join(", "))
        }
    };
    (word, tone, why)
}

/// What limited a step, in words.
pub(crate) fn limit(verdict: &Verdict) -> String {
    match verdict.limit {
        Limit::Undecided => "no single limit".to_owned(),
        limit => format!("limited by {}", limit.name()),
    }
}

fn headline(step: &StepAnalysis) -> Panel {
    let mut page = Panel::default();
    page.blank();
    let Some(headline) = &step.headline else {
        page.line("  no figure: there was no time in which all sessions worked");
        return page;
    };
    let commit =
        step.summary.commit.as_ref().map_or_else(String::new, |commit| format!("; commits {}", escape(commit)));
    let like = step.summary.like.kit().map_or_else(String::new, |kit| format!("; in the arithmetic of {kit}"));
    let figure = format!("{} {}{commit}{like}", crate::figure::number(headline.per_s), headline.label);
    page.strong(&figure);
    page.wrapped(2, &headline.why);
    if let Some(verdict) = &step.verdict {
        page.blank();
        page.wrapped(2, &format!("{}: {}", limit(verdict), verdict.figures));
        page.wrapped(2, &format!("next: {}", verdict.next));
    }
    page
}
