//! Names and texts from outside, made harmless for a terminal.

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
        )
}

/// The same, shortened to `width` characters.
pub fn escape_to(text: &str, width: usize) -> String {
    let whole = escape(text);
    if whole.chars().count() <= width {
        return whole;
    }
    let mut cut: String = whole.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
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

    proptest! {
        #[test]
        fn no_control_character_survives(text in any::<String>(), width in 1_usize..40) {
            prop_assert!(!escape(&text).chars().any(char::is_control));
            prop_assert!(escape_to(&text, width).chars().count() <= width);
        }
    }
}
