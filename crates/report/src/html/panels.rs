//! The panels of a report on a page: the same words as on a terminal, in the marks of a page.

use std::fmt::Write as _;

use crate::markup::{escaped_text, table};
use crate::panels::{Panel, Piece};

pub(super) fn panel_html(panel: &Panel) -> String {
    panel.pieces().iter().map(piece).collect()
}

fn piece(piece: &Piece) -> String {
    match piece {
        Piece::Line(line) if line.trim().is_empty() => String::new(),
        Piece::Line(words) | Piece::Paragraph { text: words, .. } => format!("<p>{}</p>\n", escaped_text(words)),
        Piece::Heading(heading) => format!("<h3>{}</h3>\n", escaped_text(heading)),
        Piece::Figure([figure, label]) => format!("<p class=\"figure\"><b>{figure}</b> {}</p>\n", escaped_text(label)),
        Piece::Beside { word, text: words, .. } => {
            format!("<p><strong>{}</strong> {}</p>\n", escaped_text(word), escaped_text(words))
        }
        Piece::Table { table: rows, .. } => table(rows),
        Piece::Pairs(pairs) => list(pairs),
        // A page has charts.
        Piece::OverTime { .. } | Piece::Curve(_) => String::new(),
    }
}

pub(super) fn list(pairs: &[(String, String)]) -> String {
    let mut html = String::from("<dl>\n");
    for (name, what) in pairs {
        let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escaped_text(name), escaped_text(what));
    }
    html.push_str("</dl>\n");
    html
}
