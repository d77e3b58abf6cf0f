//! Names and texts from outside, made harmless for a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` on one line, with every character that could steer a terminal or turn the direction of reading written as
/// `\u{…}`.
pub fn escape(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => harmless.push_str("\\n"),
            '\t' => harmless.push_str("\\t"),
            c if steers(c) => harmless.extend(c.escape_unicode()),
            c => harmless.push(c),
        }
    }
    harmless
}

fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{61c}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

pub(crate) fn escape_to(text: &str, width: usize) -> String {
    let whole = escape(text);
    if whole.chars().count() <= width {
        return whole;
    }
    let mut cut: String = whole.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// JSON with the control characters that JSON permits written as escapes. To a terminal U+009B is ESC [; U+202E
/// reverses the direction of reading.
pub fn escape_json(text: &str) -> Cow<'_, str> {
    let left = |c: char| c > '~' && steers(c);
    if !text.contains(left) {
        return text.into();
    }
    let mut harmless = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if left(c) {
            // Writing to a string cannot fail.
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(harmless, "\\u{unit:04x}");
            }
        } else {
            harmless.push(c);
        }
    }
    harmless.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(escape("a\x1b[2Jb\r\n\u{9b}31m\u{202e}x"), "a\\u{1b}[2Jb\\u{d}\\n\\u{9b}31m\\u{202e}x");
        assert_eq!(escape("Prüfung 日本"), "Prüfung 日本");
    }

    #[test]
    fn json_that_steers_is_the_same_json() {
        let name = "a\u{9b}31m\u{7f}b\u{202e}c\u{2066}\u{e0041}";
        let text = serde_json::to_string(name).unwrap();
        assert_eq!(escape_json(&text), r#""a\u009b31m\u007fb\u202ec\u2066\udb40\udc41""#);
        assert_eq!(serde_json::from_str::<String>(&escape_json(&text)).unwrap(), name);
    }

    proptest! {
        #[test]
        fn no_control_character_survives(text in any::<String>(), width in 1_usize..40) {
            prop_assert!(!escape(&text).chars().any(char::is_control));
            prop_assert!(escape_to(&text, width).chars().count() <= width);
        }
    }
}
