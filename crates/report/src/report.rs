//! The report of a run for a person: which panels it has, by what was run.

use std::path::Path;

use mindful_analyze::Analysis;
use mindful_core::run::Run;

use crate::panel::Panel;
use crate::style::Style;
use crate::{contrast, io_job, sweep, terminal};

/// A report, before it is known how it is shown.
pub struct Report {
    panels: Vec<Panel>,
}

/// The report of `run`: of a contrast, of a job on files, of a sweep, or of single steps. `stored_at` is the run's folder,
/// when there is one to name.
pub fn of(run: &Run, analysis: &Analysis, stored_at: Option<&Path>) -> Report {
    let summary = &analysis.summary;
    let panels = if let Some(contrast) = &summary.contrast {
        contrast::panels(summary, contrast)
    } else if let Some(job) = &summary.io_job {
        io_job::panels(run, summary, job)
    } else if run.steps.iter().any(|step| !step.head.point.is_plain()) {
        sweep::panels(run, summary)
    } else {
        terminal::panels(run, analysis, stored_at)
    };
    Report { panels }
}

impl Report {
    /// As text on a terminal.
    pub fn text(&self, style: &Style) -> String {
        self.panels.iter().map(|panel| panel.text(style)).collect()
    }
}
