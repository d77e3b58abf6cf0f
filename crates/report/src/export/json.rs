//! Summaries as JSON: names and order are fixed by their format number.

use serde::Serialize;

/// `summary` as indented JSON with a newline at its end.
pub fn summary(summary: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(summary).unwrap_or_else(|_| unreachable!("a summary is plain data"));
    text.push('\n');
    text
}
