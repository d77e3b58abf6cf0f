//! Runs as one self-contained page: no script, nothing fetched; light, dark, on paper and on a telephone.

mod heading;
pub mod index;
mod panels;
pub mod site;
mod terms;
mod together;

use std::fmt::Write as _;

use mindful_analyze::contrast::LEVEL;
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::plan::units::format_counted;
use mindful_core::record::run::{Facts, Run, StepRecord};
use mindful_core::result::Severity;
use mindful_core::result::ranking::RankingSummary;

use crate::charts::{self, Side};
use crate::comparison::Differences;
use crate::drawing::frame;
use crate::export::unproven::REASONS;
use crate::findings;
use crate::markup::{escaped_text, paragraph};
use crate::panels::{answer, facts, figures, place, step};
use crate::report::{found_plan, run_report};
use crate::style::Detail;
use crate::{card, heat};

const STYLE: &str = include_str!("html/page.css");
/// From so many steps on a page, pictures of single steps are coarser.
const MANY_STEPS: usize = 8;
/// With more steps than this, steps have no pictures: the page would be too large to send.
const MOST_STEPS: usize = 40;
/// So many findings of one kind have their evidence on the page.
const MOST_EVIDENCE: usize = 5;
/// Columns of time in a picture of one step, of few and of many on the page.
const COLUMNS: (usize, usize) = (120, 48);

/// The page of one run, or of several side by side.
pub fn page(sides: &[Side]) -> String {
    if let [(run, analysis)] = sides {
        return each(head(&heading::title(run, analysis), ""), sides);
    }
    let title = heading::title_of_several(&format_counted(sides.len(), "run"), sides);
    let mut html = head(&title, "");
    together::runs(&mut html, &title, sides);
    each(html, sides)
}

/// The page of a comparison: differing facts of the sides, their differences, and the runs of both.
pub fn comparison(compared: &Differences, [baseline, candidate]: [&[Side]; 2]) -> String {
    let [before, after] = &compared.names;
    let all = [baseline, candidate].concat();
    let title = heading::title_of_several(&format!("{after} against {before}"), &all);
    let mut html = head(&title, "");
    together::both(&mut html, &title, compared, [baseline, candidate]);
    each(html, &all)
}

/// The page of several sides in order: the result, ranks and prices, curves, and all runs.
pub fn ranking(summary: &RankingSummary, named: &[(&str, Vec<Side>)]) -> String {
    let all: Vec<Side> = named.iter().flat_map(|(_, sides)| sides).copied().collect();
    let name = format!("{} by {}", format_counted(named.len(), "side"), summary.by);
    let title = heading::title_of_several(&name, &all);
    let mut html = head(&title, "");
    together::ranked(&mut html, &title, summary, named);
    each(html, &all)
}

fn each(mut html: String, sides: &[Side]) -> String {
    let steps = sides.iter().map(|(_, analysis)| analysis.steps.len()).sum();
    let several = sides.len() > 1;
    for (run, analysis) in sides {
        if several {
            let line = escaped_text(&heading::title(run, analysis));
            let (word, id) = (analysis.summary.validity.name(), escaped_text(&run.head.id));
            let _ = writeln!(html, "<details class=\"run\">\n<summary>{word}: {line}, run {id}</summary>");
        }
        article(&mut html, (run, analysis), (several, steps));
        if several {
            html.push_str("</details>\n");
        }
    }
    html.push_str(&terms::list());
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

/// The start of a page up to its content; `style` is added to the common style.
pub(crate) fn head(title: &str, style: &str) -> String {
    let title = escaped_text(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'\">\n\
         <title>{title}</title>\n<style>\n{}{STYLE}{style}</style>\n</head>\n<body>\n<main>\n",
        frame::STYLE
    )
}

/// One run: its first screen, the charts of all its steps, each step, and the details; `on_page` is the number of steps
/// on the whole page.
fn article(html: &mut String, (run, analysis): Side, (among_others, on_page): (bool, usize)) {
    let id = escaped_text(&analysis.summary.id);
    let level = if among_others { "h2" } else { "h1" };
    let _ = writeln!(html, "<article>\n<{level}>{}</{level}>", escaped_text(&heading::title(run, analysis)));
    if let Some(sentence) = heading::first_sentence(run, analysis) {
        html.push_str(&paragraph("lead", &sentence));
    }
    let plan = found_plan(&run.head.settings);
    if !plan.is_empty() {
        html.push_str(&paragraph("place", plan.trim_end()));
    }
    first_screen(html, run, analysis);
    if !among_others {
        let drawings = charts::page_charts((run, analysis));
        if !drawings.is_empty() {
            html.push_str("<h2>All steps</h2>\n");
            frame::add_figures(html, &drawings);
        }
    }
    each_step(html, (run, analysis), on_page);
    findings(html, analysis);
    not_audited(html);
    behind(html, run, analysis);
    let _ = write!(
        html,
        "<section>\n{}</section>\n<footer>run {id}, {}, by mindful {}</footer>\n</article>\n",
        panels::panel_html(&place::repeated_by(run, analysis)),
        escaped_text(&analysis.summary.started_at),
        escaped_text(&run.head.mindful_version)
    );
}

/// Whether it may be quoted, its figure, its limit, the next step, its provenance, and the twelve facts.
fn first_screen(html: &mut String, run: &Run, analysis: &Analysis) {
    let summary = &analysis.summary;
    let (word, class) = (summary.validity.name(), summary.validity.name().to_lowercase());
    let _ = write!(
        html,
        "<header class=\"card {class}\">\n<p class=\"validity\"><strong class=\"{class}\">{word}</strong> {}</p>\n",
        escaped_text(&card::against(summary))
    );
    if let [step] = analysis.steps.as_slice() {
        html.push_str(&panels::panel_html(&step::headline(step)));
    } else {
        let steps = format_counted(analysis.steps.len(), "step");
        html.push_str(&paragraph("place", &format!("{steps} on {}", summary.target)));
        if let Some(answer) = answer::answer(run, analysis).filter(|_| summary.is_contrast()) {
            html.push_str(&paragraph("figure", &answer.sentence));
            html.push_str(&paragraph("", &answer.details));
        } else if let Some((number, step)) = card::best(analysis) {
            let place = card::place(step, number, analysis.steps.len());
            html.push_str(&paragraph("place", &format!("highest figure: {place}")));
            html.push_str(&panels::panel_html(&step::headline(step)));
        }
    }
    let _ = writeln!(
        html,
        "</header>\n<section class=\"facts\">\n{}</section>\n<section class=\"facts\">\n{}</section>",
        panels::panel_html(&place::measured_at(run)),
        panels::panel_html(&facts::measured(run, analysis))
    );
}

fn each_step(html: &mut String, (run, analysis): Side, on_page: usize) {
    if on_page > MOST_STEPS {
        let _ = writeln!(
            html,
            "<p>The page has {on_page} steps, too many for pictures of each. `mindful export --as csv` exports the figures \
             of all steps; `mindful export --as svg --chart time` draws the last step of a run.</p>"
        );
        return;
    }
    let all = analysis.steps.len();
    let doubt = charts::doubt(&[(run, analysis)]);
    for (at, (record, step)) in (1..).zip(run.steps.iter().zip(&analysis.steps)) {
        section(html, (record, step), (at, all), (doubt, on_page > MANY_STEPS));
    }
}

/// A step: its figure, its limit, and its latencies in figures and over time.
fn section(
    html: &mut String,
    (record, step): (&StepRecord, &StepAnalysis),
    (at, all): (usize, usize),
    (doubt, coarser): (Option<&'static str>, bool),
) {
    html.push_str("<section class=\"step\">\n");
    if all > 1 {
        let values = step.summary.point.without_sessions();
        let named = |key: &str| if key == LEVEL { "level".to_owned() } else { key.replace('_', "-") };
        let values: Vec<_> = values.iter().map(|(key, value)| format!(", {} {value}", named(key))).collect();
        let _ = writeln!(html, "<h2>{}</h2>", escaped_text(&(card::place(step, at, all) + &values.concat())));
        html.push_str(&panels::panel_html(&step::headline(step)));
    }
    html.push_str(&panels::panel_html(&figures::operations(step)));
    let columns = if coarser { COLUMNS.1 } else { COLUMNS.0 };
    frame::add_figures(html, &charts::step_charts(record, step, doubt, columns));
    frame::add_figures(html, &heat::svg::drawings(record, step, doubt, coarser));
    html.push_str("</section>\n");
}

/// Restrictions of the page as evidence.
fn not_audited(html: &mut String) {
    html.push_str(
        "<section>\n<h2>Not audited</h2>\n<p>Every figure, verdict and finding of this page follows from the record of the \
         run. <code>mindful check</code> derives them again from a pack. A record does not prove that it was measured: \
         somebody can invent a record, or change it and derive the figures again.</p>\n",
    );
    let reasons = REASONS.map(|(place, what)| (place.to_owned(), what.to_owned()));
    let list = panels::list(&reasons);
    let title = "Numbers of a record that are not provable: a change of them may change no figure";
    let _ = write!(html, "<details>\n<summary>{title}</summary>\n{list}</details>\n</section>\n");
}

/// Each kind of finding once, with its remedy and its steps.
fn findings(html: &mut String, analysis: &Analysis) {
    let all = &analysis.summary.findings;
    html.push_str("<section>\n<h2>Findings</h2>\n");
    if all.is_empty() {
        html.push_str("<p>None.</p>\n");
    }
    for same in findings::kinds(all) {
        let finding = same[0];
        let class = match finding.severity {
            Severity::Error => "invalid",
            Severity::Warning => "suspect",
            Severity::Info => "place",
        };
        let mut evidence: Vec<String> = same.iter().take(MOST_EVIDENCE).map(|other| other.evidence.clone()).collect();
        if same.len() > MOST_EVIDENCE {
            evidence.push(format!("and {} more", same.len() - MOST_EVIDENCE));
        }
        let _ = writeln!(
            html,
            "<p><strong class=\"{class}\">{}</strong> <strong>{}</strong>: {} <span class=\"place\">{}</span></p>",
            finding.severity,
            escaped_text(&finding.code),
            escaped_text(&finding.text),
            escaped_text(&evidence.join("; "))
        );
    }
    html.push_str("</section>\n");
}

fn behind(html: &mut String, run: &Run, analysis: &Analysis) {
    let report = run_report(run, analysis, None, Detail::Full);
    let list = |facts: &Facts| panels::list(&facts.clone().into_iter().collect::<Vec<_>>());
    let plan: Vec<_> = run.head.settings.iter().map(|(key, set)| (key.to_owned(), set.value.clone())).collect();
    let parts = [
        ("Full report as text", Some(report.panels().iter().map(panels::panel_html).collect::<String>())),
        ("Plan: every key and its value", Some(panels::list(&plan))),
        ("Target: its settings and facts", run.description.as_ref().map(|found| list(&found.facts))),
        ("Host", Some(list(&run.environment))),
    ];
    for (title, content) in parts.into_iter().filter_map(|(title, content)| Some((title, content?))) {
        let _ = write!(html, "<details>\n<summary>{title}</summary>\n{content}</details>\n");
    }
}
