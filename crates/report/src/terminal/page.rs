//! A report while it is written: lines, headings, paragraphs and tables.

use crate::style::{Style, Tone};
use crate::table;

/// A report while it is written.
pub(crate) struct Page {
    pub style: Style,
    pub text: String,
}

impl Page {
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    pub fn heading(&mut self, heading: &str) {
        self.blank();
        let painted = self.style.paint(Tone::Strong, heading);
        self.line(&painted);
    }

    /// A paragraph, each line moved in by `indent`.
    pub fn wrapped(&mut self, indent: usize, text: &str) {
        if text.is_empty() {
            return;
        }
        for line in table::wrap(text, self.style.columns() - indent) {
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }

    /// A word in its tone and a paragraph beside it.
    pub fn hanging(&mut self, at: usize, tone: Tone, word: &str, text: &str) {
        let indent = at + table::columns_of(word) + 2;
        let mut lines = table::wrap(text, self.style.columns() - indent).into_iter();
        let first = format!("{}{}  {}", " ".repeat(at), self.style.paint(tone, word), lines.next().unwrap_or_default());
        self.line(&first);
        for line in lines {
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }

    /// A table, each line moved in by two; its header is faint.
    pub fn table(&mut self, table: &table::Table) {
        for (i, line) in table.lines(self.style.columns() - 2).iter().enumerate() {
            let line = if i == 0 { self.style.paint(Tone::Faint, line) } else { line.clone() };
            self.line(&format!("  {line}"));
        }
    }

    /// Names and what they are, aligned.
    pub fn pairs(&mut self, pairs: &[(String, String)]) {
        let widest = pairs.iter().map(|(name, _)| table::columns_of(name)).max().unwrap_or(0).min(32);
        for (name, what) in pairs {
            let mut lines = table::wrap(what, self.style.columns() - widest - 4).into_iter();
            let pad = " ".repeat(widest.saturating_sub(table::columns_of(name)));
            self.line(&format!("  {name}{pad}  {}", lines.next().unwrap_or_default()));
            for line in lines {
                self.line(&format!("{}{line}", " ".repeat(widest + 4)));
            }
        }
    }
}
