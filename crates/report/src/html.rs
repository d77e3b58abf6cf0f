//! A run as one page that stands by itself: no script, nothing fetched, light and dark.

use std::fmt::Write as _;

use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::result::Validity;
use mindful_core::run::{Run, StepRecord};

use crate::figure::sessions;
use crate::terminal::figures;
use crate::terminal::{limit, speaks_against};
use crate::{escape, heat};

const STYLE: &str = include_str!("html/page.css");

/// The page; `reported` is the report of the run as text, which stands at its end.
pub fn page(run: &Run, analysis: &Analysis, reported: &str) -> String {
    let summary = &analysis.summary;
    let id = text(&summary.id);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>mindful: run {id}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
    );
    let (word, _, why) = speaks_against(summary);
    let class = match summary.validity {
        Validity::Valid => "valid",
        Validity::Suspect => "suspect",
        Validity::Invalid => "invalid",
    };
    let _ = writeln!(html, "<p class=\"validity\"><strong class=\"{class}\">{word}</strong> {}</p>", text(&why));
    let many = analysis.steps.len() > 1;
    if many {
        let _ = writeln!(html, "<h1>{} steps on {}</h1>", analysis.steps.len(), text(&summary.target));
    }
    for (number, (record, step)) in (1..).zip(run.steps.iter().zip(&analysis.steps)) {
        let place =
            many.then(|| format!("step {number} of {}: {}", analysis.steps.len(), sessions(step.summary.sessions)));
        section(&mut html, record, step, number, place.as_deref());
    }
    if html.contains("<figure") {
        let _ = writeln!(html, "<p class=\"reading\">{}</p>", heat::svg::READING);
    }
    let _ = write!(
        html,
        "<details>\n<summary>The report in full</summary>\n<pre>{}</pre>\n</details>\n\
         <footer>run {id}, {}, by mindful {}</footer>\n</main>\n</body>\n</html>\n",
        marked_up(reported),
        text(&summary.started_at),
        text(&run.head.mindful_version)
    );
    html
}

/// A step: its figure, what limited it, its latencies in figures and over time.
fn section(html: &mut String, record: &StepRecord, step: &StepAnalysis, number: usize, place: Option<&str>) {
    html.push_str("<section>\n");
    if let Some(place) = place {
        let _ = writeln!(html, "<p class=\"place\">{}</p>", text(place));
    }
    let level = if place.is_some() { "h2" } else { "h1" };
    match &step.headline {
        Some(headline) => {
            let figure = crate::figure::number(headline.per_s);
            let _ = writeln!(html, "<{level}><b>{figure}</b> {}</{level}>", text(&headline.label));
            let _ = writeln!(html, "<p>{}</p>", text(&headline.why));
        }
        None => {
            let _ = writeln!(html, "<{level}>no figure: there was no time in which all sessions worked</{level}>");
        }
    }
    if let Some(verdict) = &step.verdict {
        let _ = writeln!(html, "<p><strong>{}</strong>: {}</p>", text(&limit(verdict)), text(&verdict.figures));
        let _ = writeln!(html, "<p>next: {}</p>", text(verdict.next));
    }
    operations(html, step);
    html.push_str(&heat::svg::figures(record, step, number));
    html.push_str("</section>\n");
}

fn operations(html: &mut String, step: &StepAnalysis) {
    let panel = figures::operations(step);
    let Some((titles, done)) = panel.tables().next().and_then(|table| table.rows().split_first()) else { return };
    html.push_str("<div class=\"wide\"><table>\n<tr>");
    for title in titles {
        let _ = write!(html, "<th>{title}</th>");
    }
    for cells in done {
        let _ = write!(html, "</tr>\n<tr><th>{}</th>", cells[0]);
        for cell in &cells[1..] {
            let _ = write!(html, "<td>{cell}</td>");
        }
    }
    html.push_str("</tr>\n</table></div>\n");
}

/// A text from outside, harmless on one line of a page.
fn text(from_outside: &str) -> String {
    marked_up(&escape(from_outside))
}

/// `text` with what a page would take for its own marks written as references.
fn marked_up(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
