//! Texts on a page or in a picture, and tables on a page.

use std::fmt::Write as _;

use crate::escape;
use crate::table::Table;

/// A paragraph of a page, of a class if that has a name.
pub(crate) fn paragraph(class: &str, words: &str) -> String {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    format!("<p{class}>{}</p>\n", escaped_text(words))
}

/// A text from outside, harmless on one line of a page or a picture.
pub(crate) fn escaped_text(from_outside: &str) -> String {
    let text = escape(from_outside);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// A table on a page, its first column naming the rows; nothing without rows. Columns of words are flush left, those of
/// numbers right.
pub(crate) fn table(table: &Table) -> String {
    let Some((titles, rows)) = table.rows().split_first().filter(|(_, rows)| !rows.is_empty()) else {
        return String::new();
    };
    let mut html = String::from(
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table of the figures\"><table>\n<thead><tr>",
    );
    let begins_with_letter = |cell: &String| cell.starts_with(char::is_alphabetic);
    let class = |at: usize| if rows.iter().any(|row| begins_with_letter(&row[at])) { " class=\"words\"" } else { "" };
    let classes: Vec<&str> = (0..titles.len()).map(class).collect();
    for (title, class) in titles.iter().zip(&classes) {
        let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escaped_text(title));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for cells in rows {
        for (at, (cell, class)) in cells.iter().zip(&classes).enumerate() {
            let cell = escaped_text(cell);
            let _ = if at == 0 {
                write!(html, "<tr><th scope=\"row\">{cell}</th>")
            } else {
                write!(html, "<td{class}>{cell}</td>")
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
    html
}
