//! A run as one page that stands by itself: no script, nothing fetched, light and dark.

use std::fmt::Write as _;

use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::result::Validity;
use mindful_core::run::{Run, StepRecord};

use crate::card::{self, NO_FIGURE, StepCard};
use crate::terminal::figures;
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
    let card = card::of(analysis);
    let class = match card.validity {
        Validity::Valid => "valid",
        Validity::Suspect => "suspect",
        Validity::Invalid => "invalid",
    };
    let _ = writeln!(
        html,
        "<p class=\"validity\"><strong class=\"{class}\">{}</strong> {}</p>",
        card.word,
        text(&card.why)
    );
    let many = analysis.steps.len() > 1;
    if many {
        let _ = writeln!(html, "<h1>{} steps on {}</h1>", analysis.steps.len(), text(&summary.target));
    }
    for (number, ((record, step), card)) in (1..).zip(run.steps.iter().zip(&analysis.steps).zip(&card.steps)) {
        section(&mut html, record, step, number, card);
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
fn section(html: &mut String, record: &StepRecord, step: &StepAnalysis, number: usize, card: &StepCard) {
    html.push_str("<section>\n");
    if let Some(place) = &card.place {
        let _ = writeln!(html, "<p class=\"place\">{}</p>", text(place));
    }
    let level = if card.place.is_some() { "h2" } else { "h1" };
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
