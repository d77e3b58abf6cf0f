//! Single steps for a person: the figure first, then its limit, and the evidence for both.

use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::record::run::Run;

use crate::card::{Card, NO_FIGURE, StepCard};
use crate::panels::Panel;
use crate::panels::{facts, figures, over_time, price, ranks};
use crate::style::Detail;

pub(crate) fn panels(run: &Run, analysis: &Analysis, card: &Card, detail: Detail) -> Vec<Panel> {
    let mut panels = each_step(run, analysis, card, detail);
    if detail == Detail::Short {
        panels.push(facts::in_brief(run, analysis));
    }
    panels
}

fn each_step(run: &Run, analysis: &Analysis, card: &Card, detail: Detail) -> Vec<Panel> {
    let of_step = |(at, (step, card)): (usize, (&StepAnalysis, &StepCard))| {
        let mut place = Panel::default();
        if let Some(text) = &card.place {
            place.heading(text);
        }
        let mut panels = vec![place, headline(card), figures::operations(step)];
        panels.extend(run.steps.get(at).and_then(|record| over_time::panel(record, step)));
        panels.push(figures::ledger(step, detail));
        if detail == Detail::Full {
            panels.extend([figures::reads(step), figures::time(step), figures::cpu(step)]);
        }
        panels.push(ranks::targets(&step.summary, &step.evidence.words));
        panels.push(ranks::panel(&step.summary, detail));
        panels.push(price::panel(analysis.summary.price.as_ref(), &step.summary));
        panels
    };
    analysis.steps.iter().zip(&card.steps).enumerate().flat_map(of_step).collect()
}

fn headline(card: &StepCard) -> Panel {
    let mut page = Panel::default();
    page.blank();
    let Some(headline) = &card.headline else {
        page.add_line(&format!("  {NO_FIGURE}"));
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
