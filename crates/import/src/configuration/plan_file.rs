//! A plan file in the making: keys with a comment each, and the settings that are not carried over.

use std::fmt::Write as _;

use mindful_core::contract::error::one_line;
use mindful_core::plan::secret::without_secrets;

#[derive(Debug, Default)]
pub(crate) struct PlanFile {
    lines: Vec<(String, toml::Value, String)>,
    left_behind: Vec<String>,
}

impl PlanFile {
    /// Adds `key = value`, with a comment on the old and the new effect.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<toml::Value>, comment: impl Into<String>) {
        self.lines.push((key.to_owned(), value.into(), without_secrets(&comment.into())));
    }

    /// Something that cannot be carried over, and why.
    pub(crate) fn leave(&mut self, what: impl Into<String>) {
        self.left_behind.push(one_line(&without_secrets(&what.into())));
    }

    pub(crate) fn finish(self, source: &str) -> (String, Vec<String>) {
        let mut text = format!("# A mindful plan made from {}.\n", one_line(source));
        for (key, value, comment) in &self.lines {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n# {}\n{key} = {value}\n", one_line(comment));
        }
        if !self.left_behind.is_empty() {
            text.push_str("\n# Not carried over:\n");
            for what in &self.left_behind {
                let _ = writeln!(text, "# - {what}");
            }
        }
        (text, self.left_behind)
    }
}
