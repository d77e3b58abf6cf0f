//! A run as Markdown: the same words and tables as on a terminal, for a merge request, a wiki or a job's summary.

use std::fmt::Write as _;

use mindful_analyze::Analysis;
use mindful_core::record::run::Run;
use mindful_core::result::Validity;

use crate::card::{self, NO_FIGURE};
use crate::panels::{Panel, Piece, answer, facts, place};
use crate::report::{found_plan, run_report};
use crate::style::Detail;

/// The run: its verdict, its figures, the twelve facts, and its report folded.
pub fn page(run: &Run, analysis: &Analysis) -> String {
    let summary = &analysis.summary;
    let sign = match summary.validity {
        Validity::Valid => "",
        Validity::Suspect => " (do not quote without its findings)",
        Validity::Invalid => " (do not quote)",
    };
    let (plan, validity) = (found_plan(&run.head.settings), summary.validity.name());
    let (id, why) = (plain(&summary.id), plain(&card::against(summary)));
    let mut text = format!("{plan}## {validity}: run {id}\n\n{why}{sign}\n");
    if let Some(answer) = answer::answer(run, analysis) {
        let _ = write!(text, "\n**{}** {}\n", plain(&answer.sentence), plain(&answer.details));
    }
    let all = analysis.steps.len();
    for (number, step) in (1..).zip(&analysis.steps) {
        let place = if all > 1 { plain(&card::place(step, number, all)) + ": " } else { String::new() };
        let figure = card::figure(step).map(|[figure, label]| format!("{figure} {}", plain(&label)));
        let _ = write!(text, "\n- {place}**{}**", figure.unwrap_or_else(|| NO_FIGURE.to_owned()));
        if let Some(verdict) = &step.verdict {
            let _ = write!(text, ", {}", plain(&card::limit_with_evidence(verdict)));
        }
    }
    text.push_str("\n\n");
    for panel in [place::measured_at(run), facts::measured(run, analysis)] {
        text.push_str(&panel_markdown(&panel));
    }
    text.push_str("<details><summary>The report in full</summary>\n\n");
    let report = run_report(run, analysis, None, Detail::Full);
    text.extend(report.panels().iter().map(panel_markdown));
    text.push_str("</details>\n");
    text
}

pub(crate) fn panel_markdown(panel: &Panel) -> String {
    panel.pieces().iter().map(piece).collect()
}

fn piece(piece: &Piece) -> String {
    match piece {
        Piece::Line(line) if line.trim().is_empty() => String::new(),
        Piece::Line(words) | Piece::Paragraph { text: words, .. } => format!("{}\n\n", plain(words.trim())),
        Piece::Heading(heading) => format!("### {}\n\n", plain(heading)),
        Piece::Figure([figure, label]) => format!("**{figure} {}**\n\n", plain(label)),
        Piece::Beside { word, text, .. } => format!("**{}** {}\n\n", plain(word), plain(text)),
        Piece::Table { table, .. } => rows(table.rows(), " ---: |"),
        // A page has charts.
        Piece::OverTime { .. } | Piece::Curve(_) => String::new(),
        Piece::Pairs(pairs) => {
            let pairs = pairs.iter().map(|(name, what)| vec![name.clone(), what.clone()]);
            rows(
                &std::iter::once(vec!["fact".to_owned(), "value".to_owned()]).chain(pairs).collect::<Vec<_>>(),
                " --- |",
            )
        }
    }
}

/// A table; its first row are the titles, `others` sets all columns but the first.
fn rows(rows: &[Vec<String>], others: &str) -> String {
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        let cells: Vec<_> = row.iter().map(|cell| plain(cell)).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
        if at == 0 {
            let _ = writeln!(
                text,
                "|{}",
                row.iter().enumerate().map(|(i, _)| if i == 0 { " --- |" } else { others }).collect::<String>()
            );
        }
    }
    text.push('\n');
    text
}

/// `words` with Markdown's special characters escaped.
fn plain(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for c in crate::escape(words).chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '@' | '!' => text.extend(['\\', c]),
            c => text.push(c),
        }
    }
    text
}
