//! The report of a run as text: its panels, by kind of run.

use std::path::Path;

use mindful_analyze::Analysis;
use mindful_core::plan::settings::Settings;
use mindful_core::record::run::Run;
use mindful_core::result::{Summary, Validity};

use crate::card::against;
use crate::panels::{Panel, answer, contrast, facts, io_job, place, step, sweep};
use crate::style::{Detail, Style, Tone};
use crate::{escape, findings};

pub struct Report {
    panels: Vec<Panel>,
}

/// The first line of the output: the plan file that was found automatically, if there is one.
pub fn found_plan(settings: &Settings) -> String {
    settings.found_in().map_or_else(String::new, |path| format!("plan: {} (found automatically)\n", escape(path)))
}

/// The report of `run`: of a contrast, of a job on files, of a sweep, or of single steps. `stored_at` is the run's folder,
/// when there is one to name.
pub fn run_report(run: &Run, analysis: &Analysis, stored_at: Option<&Path>, detail: Detail) -> Report {
    let summary = &analysis.summary;
    let answer = answer::answer(run, analysis);
    let mut panels: Vec<_> = answer.iter().map(answer::panel).collect();
    panels.push(match &answer {
        Some(answer) if !answer.found => steps_alone(summary),
        _ => verdict(summary),
    });
    let mut results = if let Some(contrast) = &summary.contrast {
        contrast::panels(summary, contrast, detail)
    } else if let Some(commits) = &summary.commits {
        vec![contrast::commits(analysis, commits)]
    } else if let Some(job) = &summary.io_job {
        io_job::panels(run, summary, job)
    } else if run.steps.iter().any(|step| !step.head.point.is_plain()) {
        sweep::panels(run, analysis)
    } else {
        step::panels(run, analysis, detail)
    };
    if detail == Detail::Full {
        // The figure comes first, and the place is the first table.
        let first_table = results.iter().position(Panel::has_table).unwrap_or(results.len());
        results.insert(first_table, place::measured_at(run));
    }
    panels.extend(results);
    if detail == Detail::Full {
        panels.extend([facts::measured(run, analysis), facts::proof(run), facts::settings(run)]);
        panels.push(place::repeated_by(run, analysis));
    }
    panels.extend([
        findings::panel(&summary.findings, detail),
        findings::notes(&run.notes),
        whereabouts(analysis, stored_at, detail),
    ]);
    Report { panels }
}

impl Report {
    pub(crate) fn panels(&self) -> &[Panel] {
        &self.panels
    }

    pub fn to_text(&self, style: &Style) -> String {
        self.panels.iter().map(|panel| panel.to_text(style)).collect()
    }
}

/// Whether the run may be believed: the first line of every report.
fn verdict(summary: &Summary) -> Panel {
    let tone = match summary.validity {
        Validity::Valid => Tone::Good,
        Validity::Suspect => Tone::Doubtful,
        Validity::Invalid => Tone::Bad,
    };
    let mut page = Panel::default();
    page.hanging(0, tone, summary.validity.name(), &against(summary));
    page
}

/// Findings on the steps of a search without an answer, which is never VALID.
fn steps_alone(summary: &Summary) -> Panel {
    let mut panel = Panel::default();
    panel.wrapped(0, &format!("its steps: {}", against(summary)));
    panel
}

fn whereabouts(analysis: &Analysis, stored_at: Option<&Path>, detail: Detail) -> Panel {
    let id = escape(&analysis.summary.id);
    let mut panel = Panel::default();
    panel.blank();
    if let Some(notice) = analysis.summary.notice.as_ref().filter(|_| detail == Detail::Short) {
        panel.wrapped(0, &escape(notice));
    }
    panel.add_line(&format!("run {id}"));
    if let Some(path) = stored_at {
        panel.add_line(&format!("stored in {}", escape(&path.display().to_string())));
    }
    if detail == Detail::Short {
        panel.add_line(&format!("all of it: mindful show {id} --full"));
        if analysis.steps.len() > 1 && !analysis.summary.is_contrast() {
            panel.add_line(&format!("as a picture: mindful export {id} --as svg --output curve.svg"));
        }
    }
    panel
}
