//! Runs as one page that stands by itself: no script, nothing fetched; light, dark, on paper and on a telephone.

mod panels;

use std::fmt::Write as _;

use mindful_analyze::compare::comparable;
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::result::{Severity, Validity};
use mindful_core::run::{Run, StepRecord};

use crate::card::{self, NO_FIGURE, StepCard};
use crate::charts::{self, Side};
use crate::drawing::frame;
use crate::heat;
use crate::markup::text;
use crate::report::Report;
use crate::terminal::{facts, figures};

const STYLE: &str = include_str!("html/page.css");
/// From so many steps on a page, pictures of single steps are coarser.
const MANY_STEPS: usize = 8;
/// Of more steps than this none has pictures of its own: the page would be too large to send.
const MOST_STEPS: usize = 40;
/// Columns of time in a picture of one step, of few and of many on the page.
const COLUMNS: (usize, usize) = (120, 48);

/// A run on a page.
pub struct Subject<'a> {
    /// The run.
    pub run: &'a Run,
    /// What is said of it.
    pub analysis: &'a Analysis,
    /// Its report.
    pub report: &'a Report,
    /// What stands before its report, such as a plan that was read by itself; empty for nothing.
    pub before: &'a str,
}

/// The page of one run, or of several beside each other.
pub fn page(subjects: &[Subject]) -> String {
    let mut html = head(subjects);
    let sides: Vec<Side> = subjects.iter().map(|subject| (subject.run, subject.analysis)).collect();
    let mut number = 0;
    if let [_, _, ..] = subjects {
        together(&mut html, subjects, &sides, &mut number);
    }
    for subject in subjects {
        run(&mut html, subject, subjects.len() > 1, &mut number);
    }
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

fn head(subjects: &[Subject]) -> String {
    let title = match subjects {
        [one] => format!("mindful: run {}", text(&one.analysis.summary.id)),
        several => format!("mindful: {} runs", several.len()),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'\">\n\
         <title>{title}</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n<main>\n",
        frame::STYLE
    )
}

/// What several runs have in common and in what they are not alike, before any of them.
fn together(html: &mut String, subjects: &[Subject], sides: &[Side], number: &mut usize) {
    let _ = writeln!(html, "<h1>{} runs</h1>", subjects.len());
    let (first, others) = sides.split_at(1);
    let runs = |sides: &[Side]| sides.iter().map(|(run, _)| (*run).clone()).collect::<Vec<_>>();
    let differences = comparable::differences(&runs(first), &runs(others));
    html.push_str("<section>\n<h2>What is not alike</h2>\n");
    if differences.is_empty() {
        html.push_str("<p>Nothing that their figures depend on: the runs may be compared.</p>\n");
    } else {
        html.push_str("<p>The first run against the others: their figures differ for these reasons, too.</p>\n");
        let pairs: Vec<_> = differences.iter().map(|one| (one.fact.clone(), one.sides())).collect();
        html.push_str(&panels::list(&pairs));
    }
    html.push_str("</section>\n<section>\n<h2>Beside each other</h2>\n");
    html.push_str(&frame::table(
        &BESIDE.map(str::to_owned),
        &sides.iter().map(|side| beside(*side)).collect::<Vec<_>>(),
    ));
    for drawing in charts::of_page(sides) {
        *number += 1;
        html.push_str(&drawing.figure(*number));
    }
    html.push_str("</section>\n");
}

const BESIDE: [&str; 6] = ["run", "validity", "steps", "most", "what it counts", "tag"];

fn beside((_, analysis): Side) -> Vec<String> {
    let summary = &analysis.summary;
    let best = best(analysis).map(|(_, step)| card::of_step(step, None)).and_then(|card| card.headline);
    let (figure, label) = best.map(|best| (best.figure, best.label)).unwrap_or_default();
    vec![
        summary.id.clone(),
        card::word(summary.validity).to_owned(),
        analysis.steps.len().to_string(),
        figure,
        label,
        summary.tag.clone().unwrap_or_default(),
    ]
}

/// The step of the highest headline, with its number.
fn best(analysis: &Analysis) -> Option<(usize, &StepAnalysis)> {
    let per_s = |step: &StepAnalysis| step.headline.as_ref().map(|headline| headline.per_s);
    let known = (1..).zip(&analysis.steps).filter_map(|(number, step)| Some((number, step, per_s(step)?)));
    known.max_by(|a, b| a.2.total_cmp(&b.2)).map(|(number, step, _)| (number, step))
}

/// One run: its first screen, the charts of all its steps, each step, and what stands behind.
fn run(html: &mut String, subject: &Subject, among_others: bool, number: &mut usize) {
    let Subject { run, analysis, report, before } = *subject;
    let id = text(&analysis.summary.id);
    let _ = writeln!(html, "<article>");
    if among_others {
        let _ = writeln!(html, "<h2>Run {id}</h2>");
    }
    if !before.is_empty() {
        let _ = writeln!(html, "<p class=\"place\">{}</p>", text(before.trim_end()));
    }
    first_screen(html, run, analysis);
    if !among_others {
        let drawn: Vec<_> = charts::of_page(&[(run, analysis)])
            .iter()
            .map(|drawing| {
                *number += 1;
                drawing.figure(*number)
            })
            .collect();
        let _ = writeln!(html, "<div class=\"charts\">\n{}</div>", drawn.concat());
    }
    each_step(html, run, analysis, number);
    findings(html, analysis);
    behind(html, run, report);
    let _ = write!(
        html,
        "<footer>run {id}, {}, by mindful {}</footer>\n</article>\n",
        text(&analysis.summary.started_at),
        text(&run.head.mindful_version)
    );
}

/// Whether it may be believed, its figure, what limits it, what to do next, and the twelve facts.
fn first_screen(html: &mut String, run: &Run, analysis: &Analysis) {
    let summary = &analysis.summary;
    let card = card::of(analysis);
    let class = match card.validity {
        Validity::Valid => "valid",
        Validity::Suspect => "suspect",
        Validity::Invalid => "invalid",
    };
    let _ = write!(
        html,
        "<header class=\"card {class}\">\n<p class=\"validity\"><strong class=\"{class}\">{}</strong> {}</p>\n",
        card.word,
        text(&card.why)
    );
    if let [step] = card.steps.as_slice() {
        headline(html, step, "h1");
    } else {
        let _ = writeln!(html, "<p class=\"place\">{} steps on {}</p>", card.steps.len(), text(&summary.target));
        if let Some((number, step)) = best(analysis) {
            let of_step = card::of_step(step, Some((number, analysis.steps.len())));
            let _ =
                writeln!(html, "<p class=\"place\">the most, {}</p>", text(&of_step.place.clone().unwrap_or_default()));
            headline(html, &of_step, "h1");
        }
    }
    let _ = writeln!(
        html,
        "</header>\n<section class=\"facts\">\n{}</section>",
        panels::of(&facts::measured(run, analysis))
    );
}

fn headline(html: &mut String, card: &StepCard, level: &str) {
    match &card.headline {
        Some(headline) => {
            let _ = writeln!(html, "<{level}><b>{}</b> {}</{level}>", headline.figure, text(&headline.label));
            let _ = writeln!(html, "<p>{}</p>", text(&headline.why));
        }
        None => {
            let _ = writeln!(html, "<{level}>{NO_FIGURE}</{level}>");
        }
    }
    if let Some(limit) = &card.limit {
        let _ = writeln!(html, "<p><strong>{}</strong>: {}</p>", text(&limit.limit), text(&limit.why));
        let _ = writeln!(html, "<p>next: {}</p>", text(&limit.next));
    }
}

/// The steps, each with its figures and pictures.
fn each_step(html: &mut String, run: &Run, analysis: &Analysis, number: &mut usize) {
    let all = analysis.steps.len();
    if all > MOST_STEPS {
        let _ = writeln!(
            html,
            "<p>Single steps have no pictures of their own here: there are {all} of them. `mindful export --as svg --chart \
             time` draws the last one, `mindful export --as csv` has the figures of all.</p>"
        );
        return;
    }
    let doubt = charts::doubt(&[(run, analysis)]);
    for (at, (record, step)) in (1..).zip(run.steps.iter().zip(&analysis.steps)) {
        section(html, record, step, (at, all), doubt, number);
    }
    if html.contains("class=\"heat\"") {
        let _ = writeln!(html, "<p class=\"reading\">{}</p>", heat::svg::READING);
    }
}

/// A step: its figure, what limited it, its latencies in figures and over time.
fn section(
    html: &mut String,
    record: &StepRecord,
    step: &StepAnalysis,
    (at, all): (usize, usize),
    doubt: Option<&'static str>,
    number: &mut usize,
) {
    html.push_str("<section class=\"step\">\n");
    if all > 1 {
        let card = card::of_step(step, Some((at, all)));
        let values = step.summary.point.values.iter().filter(|(key, _)| *key != "sessions");
        let values: Vec<_> = values.map(|(key, value)| format!(", {key} {value}")).collect();
        let _ = writeln!(
            html,
            "<p class=\"place\">{}{}</p>",
            text(&card.place.clone().unwrap_or_default()),
            text(&values.concat())
        );
        headline(html, &card, "h2");
    }
    html.push_str(&panels::of(&figures::operations(step)));
    let coarser = all > MANY_STEPS;
    let columns = if coarser { COLUMNS.1 } else { COLUMNS.0 };
    for drawing in charts::of_step(record, step, doubt, columns) {
        *number += 1;
        html.push_str(&drawing.figure(*number));
    }
    *number += 1;
    html.push_str(&heat::svg::figures(record, step, *number, doubt, coarser));
    html.push_str("</section>\n");
}

/// What speaks for or against the figures, each kind once with what to do and where it was seen.
fn findings(html: &mut String, analysis: &Analysis) {
    let all = &analysis.summary.findings;
    html.push_str("<section>\n<h2>Findings</h2>\n");
    if all.is_empty() {
        html.push_str("<p>None.</p>\n");
    }
    for (at, finding) in all.iter().enumerate() {
        if all[..at].iter().any(|other| other.code == finding.code) {
            continue;
        }
        let (class, word) = match finding.severity {
            Severity::Error => ("invalid", "error"),
            Severity::Warning => ("suspect", "warning"),
            Severity::Info => ("place", "info"),
        };
        let same: Vec<_> = all[at..].iter().filter(|other| other.code == finding.code).collect();
        let mut evidence: Vec<String> = same.iter().take(5).map(|other| text(&other.evidence)).collect();
        if same.len() > 5 {
            evidence.push(format!("and {} more", same.len() - 5));
        }
        let _ = writeln!(
            html,
            "<p><strong class=\"{class}\">{word}</strong> <strong>{}</strong>: {} <span class=\"place\">{}</span></p>",
            text(&finding.code),
            text(&finding.text),
            evidence.join("; ")
        );
    }
    html.push_str("</section>\n");
}

/// The report, the plan, the environment and the summary, folded.
fn behind(html: &mut String, run: &Run, report: &Report) {
    let folded = |html: &mut String, title: &str, content: &str| {
        let _ = write!(html, "<details>\n<summary>{title}</summary>\n{content}</details>\n");
    };
    folded(html, "The report in full", &panels::html(report.panels()));
    let keys = run.head.settings.iter();
    let plan: Vec<_> = keys.map(|(name, setting)| (name.to_owned(), setting.value.clone())).collect();
    folded(html, "The plan: every key and its value", &panels::list(&plan));
    let pairs = |facts: &mindful_core::run::Facts| {
        facts.iter().map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>()
    };
    if let Some(description) = &run.description {
        folded(html, "What the target says of itself", &panels::list(&pairs(&description.facts)));
    }
    folded(html, "The host", &panels::list(&pairs(&run.environment)));
}
