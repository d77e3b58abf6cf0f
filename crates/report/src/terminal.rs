//! The report of a run for a person: the verdict first, then the figure, then what stands behind both.

mod facts;
pub(crate) mod figures;
mod findings;
mod page;

use std::path::Path;

use mindful_analyze::judgement::verdict::{Limit, Verdict};
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::result::{Severity, Summary, Validity};
use mindful_core::run::Run;

use self::page::Page;
use crate::figure::sessions;
use crate::style::{Style, Tone};
use crate::{escape, table};

/// The report. `stored_at` is the run's folder, when there is one to name.
pub fn report(run: &Run, analysis: &Analysis, style: &Style, stored_at: Option<&Path>) -> String {
    let mut page = Page { style: *style, text: String::new() };
    verdict(&mut page, analysis);
    each_step(&mut page, analysis);
    facts::measured(&mut page, run, analysis);
    facts::proof(&mut page, run);
    facts::settings(&mut page, run);
    findings::findings(&mut page, &analysis.summary.findings);
    findings::notes(&mut page, &run.notes);
    page.blank();
    page.line(&format!("run {}", escape(&analysis.summary.id)));
    if let Some(path) = stored_at {
        page.line(&format!("stored in {}", escape(&path.display().to_string())));
    }
    page.text
}

fn each_step(page: &mut Page, analysis: &Analysis) {
    let many = analysis.steps.len() > 1;
    for (number, step) in (1..).zip(&analysis.steps) {
        if many {
            let heading = format!("step {number} of {}: {}", analysis.steps.len(), sessions(step.summary.sessions));
            page.heading(&heading);
        }
        headline(page, step);
        figures::operations(page, step);
        figures::ledger(page, step);
        figures::reads(page, step);
        figures::time(page, step);
        figures::cpu(page, step);
    }
}

fn verdict(page: &mut Page, analysis: &Analysis) {
    let (word, tone, why) = speaks_against(&analysis.summary);
    page.hanging(0, tone, word, &why);
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

fn headline(page: &mut Page, step: &StepAnalysis) {
    page.blank();
    let Some(headline) = &step.headline else {
        page.line("  no figure: there was no time in which all sessions worked");
        return;
    };
    let commit =
        step.summary.commit.as_ref().map_or_else(String::new, |commit| format!("; commits {}", escape(commit)));
    let like = step.summary.like.kit().map_or_else(String::new, |kit| format!("; in the arithmetic of {kit}"));
    let figure = format!("{} {}{commit}{like}", crate::figure::number(headline.per_s), headline.label);
    for line in table::wrap(&figure, page.style.columns() - 2) {
        page.line(&format!("  {}", page.style.paint(Tone::Strong, &line)));
    }
    page.wrapped(2, &headline.why);
    if let Some(verdict) = &step.verdict {
        page.blank();
        page.wrapped(2, &format!("{}: {}", limit(verdict), verdict.figures));
        page.wrapped(2, &format!("next: {}", verdict.next));
    }
}
