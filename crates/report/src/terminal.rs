//! The report of a run for a person: the verdict first, then the figure, then what stands behind both.

mod facts;
pub(crate) mod figures;
mod findings;

use std::path::Path;

use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::result::Validity;
use mindful_core::run::Run;

use crate::card::{self, Card, NO_FIGURE, StepCard};
use crate::escape;
use crate::panel::Panel;
use crate::style::Tone;

/// The panels of single steps. `stored_at` is the run's folder, when there is one to name.
pub(crate) fn panels(run: &Run, analysis: &Analysis, stored_at: Option<&Path>) -> Vec<Panel> {
    let card = card::of(analysis);
    let mut panels = vec![verdict(&card)];
    panels.extend(each_step(analysis, &card));
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

fn each_step(analysis: &Analysis, card: &Card) -> Vec<Panel> {
    let of_step = |(step, card): (&StepAnalysis, &StepCard)| {
        let mut place = Panel::default();
        if let Some(text) = &card.place {
            place.heading(text);
        }
        let figures = [figures::operations, figures::ledger, figures::reads, figures::time, figures::cpu];
        [place, headline(card)].into_iter().chain(figures.map(|panel| panel(step)))
    };
    analysis.steps.iter().zip(&card.steps).flat_map(of_step).collect()
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

fn verdict(card: &Card) -> Panel {
    let mut page = Panel::default();
    page.hanging(0, tone(card.validity), card.word, &card.why);
    page
}

fn tone(validity: Validity) -> Tone {
    match validity {
        Validity::Valid => Tone::Good,
        Validity::Suspect => Tone::Doubtful,
        Validity::Invalid => Tone::Bad,
    }
}

fn headline(card: &StepCard) -> Panel {
    let mut page = Panel::default();
    page.blank();
    let Some(headline) = &card.headline else {
        page.line(&format!("  {NO_FIGURE}"));
        return page;
    };
    page.strong(&format!("{} {}", headline.figure, headline.label));
    page.wrapped(2, &headline.why);
    if let Some(limit) = &card.limit {
        page.blank();
        page.wrapped(2, &format!("{}: {}", limit.limit, limit.why));
        page.wrapped(2, &format!("next: {}", limit.next));
    }
    page
}
