//! Texts on a page or in a picture.

use crate::escape;

/// A text from outside, harmless on one line of a page or a picture.
pub(crate) fn escaped_text(from_outside: &str) -> String {
    let text = escape(from_outside);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
