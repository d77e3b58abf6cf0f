//! The summary as JSON: names and order are fixed by its format number.

use mindful_core::result::Summary;

/// Pretty, stable, one newline at the end.
pub fn summary(summary: &Summary) -> String {
    let mut text = serde_json::to_string_pretty(summary).unwrap_or_else(|_| unreachable!("a summary is plain data"));
    text.push('\n');
    text
}
