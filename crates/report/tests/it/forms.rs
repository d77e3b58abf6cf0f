//! A run in each form of a report.

use mindful_analyze::analyze;
use mindful_core::record::run::Run;
use mindful_core::result::{Finding, Severity};
use mindful_report::{Detail, Style, charts, html, markdown};

use crate::made::Made;

pub(crate) const WIDE: Style = Style { width: 10_000, colour: false, ascii: false };

pub(crate) fn text(run: &Run, detail: Detail, style: &Style) -> String {
    mindful_report::run_report(run, &analyze(run), None, detail).to_text(style)
}

pub(crate) fn page(run: &Run) -> String {
    html::page(&[(run, &analyze(run))])
}

pub(crate) fn written(run: &Run) -> String {
    markdown::page(run, &analyze(run))
}

/// The chart called `name` as a file, with the facts of the run.
pub(crate) fn drawn(name: &str, run: &Run) -> mindful_core::Result<String> {
    let analysis = analyze(run);
    let sides = [(run, &analysis)];
    Ok(charts::named(name, &sides)?.file(&charts::caption(&sides)))
}

pub(crate) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn without_colour(text: &str) -> String {
    let parts = text.split('\x1b').enumerate();
    parts.map(|(at, part)| if at == 0 { part } else { part.split_once('m').unwrap().1 }).collect()
}

/// A run in which every external text is `text`.
pub(crate) fn hostile(text: &str) -> Run {
    let mut run = Made::default().run();
    let own = || text.to_owned();
    run.head.plan.tag = Some(own());
    (run.head.target, run.head.engine, run.head.id, run.head.started_at) = (own(), own(), own(), own());
    run.head.mindful_version = own();
    run.description.as_mut().unwrap().engine_version = own();
    run.description.as_mut().unwrap().facts.insert(own(), own());
    for name in ["cpu.model", "storage.device", "storage.filesystem"] {
        run.environment.insert(name.into(), own());
    }
    (run.shapes[0].kind, run.shapes[0].shape, run.shapes[0].pure) = (own(), own(), false);
    (run.error, run.steps[0].error) = (Some(own()), Some(own()));
    run.findings.push(Finding { code: own(), severity: Severity::Warning, text: own(), evidence: own() });
    run.notes.push(own());
    run.head.settings.set(text, text, mindful_core::plan::settings::Origin::File(own()));
    run
}
