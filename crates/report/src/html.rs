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
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::Severity;
use mindful_core::result::ranking::RankingSummary;

use crate::card::{self, HeadlineCard, LimitCard, NO_FIGURE, StepCard};
use crate::charts::{self, Side};
use crate::comparison::Differences;
use crate::drawing::frame;
use crate::export::unproven::REASONS;
use crate::findings;
use crate::heat;
use crate::markup::{escaped_text, paragraph};
use crate::panels::{answer, facts, figures, place};
use crate::report::Report;

const STYLE: &str = include_str!("html/page.css");
/// From so many steps on a page, pictures of single steps are coarser.
const MANY_STEPS: usize = 8;
/// With more steps than this, steps have no pictures: the page would be too large to send.
const MOST_STEPS: usize = 40;
/// Columns of time in a picture of one step, of few and of many on the page.
const COLUMNS: (usize, usize) = (120, 48);

#[derive(Clone, Copy)]
pub struct Subject<'a> {
    pub run: &'a Run,
    pub analysis: &'a Analysis,
    pub report: &'a Report,
    /// Text before its report, such as a plan that was read automatically; may be empty.
    pub before: &'a str,
}

/// The page of one run, or of several side by side.
pub fn page(subjects: &[Subject]) -> String {
    let title = match subjects {
        [one] => heading::title(one.run, one.analysis),
        several => heading::title_of_several(&format_counted(several.len(), "run"), &sides(several)),
    };
    let mut html = head(&title, "");
    if let [_, _, ..] = subjects {
        together::runs(&mut html, &title, &sides(subjects));
    }
    each(html, subjects)
}

/// The page of a comparison: differing facts of the sides, their differences, and the runs of both.
pub fn comparison(compared: &Differences, baseline: &[Subject], candidate: &[Subject]) -> String {
    let [before, after] = &compared.names;
    let all: Vec<Subject> = baseline.iter().chain(candidate).copied().collect();
    let title = heading::title_of_several(&format!("{after} against {before}"), &sides(&all));
    let mut html = head(&title, "");
    together::both(&mut html, &title, compared, [&sides(baseline), &sides(candidate)]);
    each(html, &all)
}

/// The page of several sides in order: the result, ranks and prices, curves, and all runs.
pub fn ranking(summary: &RankingSummary, named: &[(&str, Vec<Subject>)]) -> String {
    let all: Vec<Subject> = named.iter().flat_map(|(_, subjects)| subjects).copied().collect();
    let name = format!("{} by {}", format_counted(named.len(), "side"), summary.by);
    let title = heading::title_of_several(&name, &sides(&all));
    let mut html = head(&title, "");
    let named: Vec<_> = named.iter().map(|(name, subjects)| (*name, sides(subjects))).collect();
    together::ranked(&mut html, &title, summary, &named);
    each(html, &all)
}

fn sides<'a>(subjects: &[Subject<'a>]) -> Vec<Side<'a>> {
    subjects.iter().map(|subject| (subject.run, subject.analysis)).collect()
}

fn each(mut html: String, subjects: &[Subject]) -> String {
    let steps = subjects.iter().map(|subject| subject.analysis.steps.len()).sum();
    let several = subjects.len() > 1;
    for subject in subjects {
        if several {
            let line = escaped_text(&heading::title(subject.run, subject.analysis));
            let (word, id) = (subject.analysis.summary.validity.name(), escaped_text(&subject.run.head.id));
            let _ = writeln!(html, "<details class=\"run\">\n<summary>{word}: {line}, run {id}</summary>");
        }
        run(&mut html, subject, (several, steps));
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
fn run(html: &mut String, subject: &Subject, (among_others, on_page): (bool, usize)) {
    let Subject { run, analysis, report, before } = *subject;
    let id = escaped_text(&analysis.summary.id);
    let level = if among_others { "h2" } else { "h1" };
    let _ = writeln!(html, "<article>\n<{level}>{}</{level}>", escaped_text(&heading::title(run, analysis)));
    if let Some(sentence) = heading::first_sentence(run, analysis) {
        html.push_str(&paragraph("lead", &sentence));
    }
    if !before.is_empty() {
        html.push_str(&paragraph("place", before.trim_end()));
    }
    first_screen(html, run, analysis);
    if !among_others {
        let drawings = charts::page_charts(&[(run, analysis)]);
        if !drawings.is_empty() {
            html.push_str("<h2>All steps</h2>\n");
            frame::add_figures(html, &drawings);
        }
    }
    each_step(html, (run, analysis), on_page);
    findings(html, analysis);
    not_audited(html);
    behind(html, run, report);
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
    let card = card::run_card(analysis);
    let class = card.validity.name().to_lowercase();
    let _ = write!(
        html,
        "<header class=\"card {class}\">\n<p class=\"validity\"><strong class=\"{class}\">{}</strong> {}</p>\n",
        card.validity.name(),
        escaped_text(&card.why)
    );
    if let [step] = card.steps.as_slice() {
        headline(html, step);
    } else {
        let steps = format_counted(card.steps.len(), "step");
        html.push_str(&paragraph("place", &format!("{steps} on {}", summary.target)));
        if let Some(answer) = answer::answer(run, analysis).filter(|_| summary.is_contrast()) {
            html.push_str(&paragraph("figure", &answer.sentence));
            html.push_str(&paragraph("", &answer.details));
        } else if let Some((number, step)) = card::best(analysis) {
            let of_step = card::step_card(step, Some((number, analysis.steps.len())));
            let place = of_step.place.clone().unwrap_or_default();
            html.push_str(&paragraph("place", &format!("highest figure: {place}")));
            headline(html, &of_step);
        }
    }
    let _ = writeln!(
        html,
        "</header>\n<section class=\"facts\">\n{}</section>\n<section class=\"facts\">\n{}</section>",
        panels::panel_html(&place::measured_at(run)),
        panels::panel_html(&facts::measured(run, analysis))
    );
}

fn headline(html: &mut String, card: &StepCard) {
    match &card.headline {
        Some(HeadlineCard { figure, label, why }) => {
            let _ = writeln!(html, "<p class=\"figure\"><b>{figure}</b> {}</p>", escaped_text(label));
            html.push_str(&paragraph("", why));
        }
        None => html.push_str(&paragraph("figure", NO_FIGURE)),
    }
    if let Some(LimitCard { limit, why, next }) = &card.limit {
        let _ = writeln!(html, "<p><strong>{}</strong>: {}</p>", escaped_text(limit), escaped_text(why));
        html.push_str(&paragraph("", &format!("next: {next}")));
    }
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
    if html.contains("class=\"heat\"") {
        html.push_str(&paragraph("reading", heat::svg::READING));
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
        let card = card::step_card(step, Some((at, all)));
        let values = step.summary.point.without_sessions();
        let named = |key: &str| if key == LEVEL { "level".to_owned() } else { key.replace('_', "-") };
        let values: Vec<_> = values.iter().map(|(key, value)| format!(", {} {value}", named(key))).collect();
        let _ = writeln!(
            html,
            "<h2>{}{}</h2>",
            escaped_text(&card.place.clone().unwrap_or_default()),
            escaped_text(&values.concat())
        );
        headline(html, &card);
    }
    html.push_str(&panels::panel_html(&figures::operations(step)));
    let columns = if coarser { COLUMNS.1 } else { COLUMNS.0 };
    frame::add_figures(html, &charts::step_charts(record, step, doubt, columns));
    heat::svg::figures(html, record, step, doubt, coarser);
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
        let mut evidence: Vec<String> = same.iter().take(5).map(|other| escaped_text(&other.evidence)).collect();
        if same.len() > 5 {
            evidence.push(format!("and {} more", same.len() - 5));
        }
        let _ = writeln!(
            html,
            "<p><strong class=\"{class}\">{}</strong> <strong>{}</strong>: {} <span class=\"place\">{}</span></p>",
            finding.severity,
            escaped_text(&finding.code),
            escaped_text(&finding.text),
            evidence.join("; ")
        );
    }
    html.push_str("</section>\n");
}

fn behind(html: &mut String, run: &Run, report: &Report) {
    let folded = |html: &mut String, title: &str, content: &str| {
        let _ = write!(html, "<details>\n<summary>{title}</summary>\n{content}</details>\n");
    };
    folded(html, "Full report as text", &panels::html(report.panels()));
    let keys = run.head.settings.iter();
    let plan: Vec<_> = keys.map(|(name, setting)| (name.to_owned(), setting.value.clone())).collect();
    folded(html, "Plan: every key and its value", &panels::list(&plan));
    let pairs = |facts: &mindful_core::record::run::Facts| {
        facts.iter().map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>()
    };
    if let Some(description) = &run.description {
        folded(html, "Target: its settings and facts", &panels::list(&pairs(&description.facts)));
    }
    folded(html, "Host", &panels::list(&pairs(&run.environment)));
}
