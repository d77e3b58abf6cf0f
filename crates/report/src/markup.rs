//! Texts on a page or in a picture.

use crate::escape;

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
