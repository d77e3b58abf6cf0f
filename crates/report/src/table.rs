//! Plain tables and wrapped text.

use crate::escape::escape;

/// Which side a column is flush with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// Rows of cells under a header; columns as wide as their widest cell.
pub struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(header: &[(&str, Side)]) -> Self {
        let titles = header.iter().map(|(title, _)| (*title).to_owned()).collect();
        Self { sides: header.iter().map(|(_, side)| *side).collect(), rows: vec![titles] }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// All rows, the titles first.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    pub fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// The lines, header first. The last column, if flush left, is wrapped to fit `columns`.
    pub fn lines(&self, columns: usize) -> Vec<String> {
        let width = |i: usize| self.rows.iter().map(|row| columns_of(&row[i])).max().unwrap_or(0);
        let widths: Vec<_> = (0..self.sides.len()).map(width).collect();
        let last = widths.len() - 1;
        let needed = |gap| widths[..last].iter().map(|width| width + gap).sum::<usize>();
        let text = if self.sides[last] == Side::Left { widths[last].min(LEAST_TEXT) } else { widths[last] };
        let gap = if needed(GAP) + text > columns { 1 } else { GAP };
        let before = needed(gap);
        let mut lines = Vec::new();
        for row in &self.rows {
            let mut line = String::new();
            for (i, cell) in row.iter().enumerate().take(last) {
                push_cell(&mut line, cell, widths[i], self.sides[i]);
                line.push_str(&" ".repeat(gap));
            }
            if self.sides[last] == Side::Right {
                push_cell(&mut line, &row[last], widths[last], Side::Right);
                lines.push(line.trim_end().to_owned());
                continue;
            }
            let mut parts = wrap(&row[last], columns.saturating_sub(before).max(LEAST_TEXT)).into_iter();
            line.push_str(&parts.next().unwrap_or_default());
            lines.push(line.trim_end().to_owned());
            lines.extend(parts.map(|part| format!("{}{part}", " ".repeat(before))));
        }
        lines
    }
}

/// Rows under their titles, the first and the last column flush left, the others right; as wide as they need.
pub fn table_of(titles: &[&str], rows: Vec<Vec<String>>) -> String {
    let last = titles.len().saturating_sub(1);
    let side =
        |at: usize| if at == 0 || (at == last && titles[at].ends_with("event")) { Side::Left } else { Side::Right };
    let mut table = Table::new(&titles.iter().enumerate().map(|(at, title)| (*title, side(at))).collect::<Vec<_>>());
    for row in rows {
        table.row(row.iter().map(|cell| escape(cell)).collect());
    }
    table.lines(usize::MAX).join("\n") + "\n"
}

/// Columns between two cells, where there is room.
const GAP: usize = 2;

/// Columns that a wrapped text takes at least.
const LEAST_TEXT: usize = 16;

fn push_cell(line: &mut String, cell: &str, width: usize, side: Side) {
    let pad = " ".repeat(width - columns_of(cell));
    match side {
        Side::Left => line.extend([cell, &pad]),
        Side::Right => line.extend([&pad, cell]),
    }
}

/// Columns a text takes: one a character, which holds for all that mindful itself writes.
pub fn columns_of(text: &str) -> usize {
    text.chars().count()
}

/// `text` in lines of at most `width` columns, broken between words; a longer word is cut.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut word: Vec<char> = word.chars().collect();
        while !word.is_empty() {
            let line = lines.last_mut().map_or(0, |line| columns_of(line));
            let room = width.saturating_sub(if line == 0 { 0 } else { line + 1 });
            if word.len() > room && line > 0 {
                lines.push(String::new());
                continue;
            }
            let part: String = word.drain(..word.len().min(width.max(1))).collect();
            if let Some(last) = lines.last_mut() {
                if !last.is_empty() {
                    last.push(' ');
                }
                last.push_str(&part);
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn wrapped_lines_keep_to_their_width_and_lose_no_letter(text in "[a-z ]{0,200}", width in 1_usize..40) {
            let lines = wrap(&text, width);
            prop_assert!(lines.iter().all(|line| columns_of(line) <= width));
            prop_assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
        }
    }
}
