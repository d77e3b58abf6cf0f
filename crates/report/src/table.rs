//! Plain tables and wrapped text.

use crate::escape::escape;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// A column of a table of `T`: its name, its side, and its cell in the row of a `T`.
pub(crate) type Column<'a, T> = (&'a str, Side, &'a dyn Fn(&T) -> String);

/// Rows of cells under a header; columns as wide as their widest cell.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    sides: Vec<Side>,
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[(&str, Side)]) -> Self {
        let names: Vec<String> = header.iter().map(|(title, _)| (*title).to_owned()).collect();
        Self { sides: header.iter().map(|(_, side)| *side).collect(), rows: vec![names.clone()], names }
    }

    /// A row for each of `items`, with the cells of `columns`.
    pub(crate) fn of<T>(items: &[T], columns: &[Column<T>]) -> Self {
        let mut table = Self::new(&columns.iter().map(|(name, side, _)| (*name, *side)).collect::<Vec<_>>());
        table.rows.extend(items.iter().map(|item| columns.iter().map(|(.., cell)| cell(item)).collect()));
        table
    }

    /// The same with the columns that are shown.
    pub(crate) fn of_shown<T>(items: &[T], columns: &[(bool, Column<T>)]) -> Self {
        let shown: Vec<_> = columns.iter().filter(|(is_shown, _)| *is_shown).map(|(_, column)| *column).collect();
        Self::of(items, &shown)
    }

    /// Sets the title of the column `name` to the system's own word. If the columns do not fit, it is still dropped by
    /// `name`.
    pub(crate) fn entitle(&mut self, name: &str, title: String) {
        if let Some(at) = self.names.iter().position(|known| known == name) {
            self.rows[0][at] = title;
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// All rows, the titles first.
    pub(crate) fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// The lines, header first. The last column, if flush left, is wrapped to fit `columns`. Columns that do not fit `most`
    /// are left out, and named below.
    pub(crate) fn lines(&self, columns: usize, most: usize) -> Vec<String> {
        let shown = self.fitting(most);
        let (last, before) = (shown[shown.len() - 1], self.before_last(&shown));
        let mut lines = Vec::new();
        for row in &self.rows {
            let mut line = String::new();
            for at in &shown[..shown.len() - 1] {
                push_cell(&mut line, &row[*at], self.width(*at), self.sides[*at]);
                line.push_str(&" ".repeat(GAP));
            }
            if self.sides[last] == Side::Right {
                push_cell(&mut line, &row[last], self.width(last), Side::Right);
                lines.push(line.trim_end().to_owned());
                continue;
            }
            let mut parts = wrap(&row[last], columns.saturating_sub(before).max(LEAST_TEXT)).into_iter();
            line.push_str(&parts.next().unwrap_or_default());
            lines.push(line.trim_end().to_owned());
            lines.extend(parts.map(|part| format!("{}{part}", " ".repeat(before))));
        }
        let title = |at: usize| self.rows[0][at].as_str();
        let left_out: Vec<_> = (0..self.sides.len()).filter(|at| !shown.contains(at)).map(title).collect();
        if !left_out.is_empty() {
            lines.extend(wrap(&format!("no room for: {}", left_out.join(", ")), most));
        }
        lines
    }

    /// All columns, as wide as they need.
    pub(crate) fn whole(&self) -> String {
        self.lines(usize::MAX, usize::MAX).join("\n") + "\n"
    }

    fn width(&self, at: usize) -> usize {
        self.rows.iter().map(|row| columns_of(&row[at])).max().unwrap_or(0)
    }

    fn before_last(&self, shown: &[usize]) -> usize {
        shown[..shown.len() - 1].iter().map(|at| self.width(*at) + GAP).sum()
    }

    /// The columns that fit `most`, never without the first.
    fn fitting(&self, most: usize) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.sides.len()).collect();
        let mut expendable = self.expendable().into_iter();
        let needed = |shown: &[usize]| {
            let last = shown[shown.len() - 1];
            let text = if self.sides[last] == Side::Left { LEAST_TEXT } else { usize::MAX };
            self.before_last(shown) + self.width(last).min(text)
        };
        while needed(&shown) > most {
            let Some(least) = expendable.next() else { break };
            shown.retain(|at| *at != least);
        }
        shown
    }

    /// All columns but the first, the least important first.
    fn expendable(&self) -> Vec<usize> {
        let of = |title: &&str| (1..self.sides.len()).filter(|at| self.names[*at] == **title).collect::<Vec<_>>();
        let mut order: Vec<usize> = EXPENDABLE.iter().flat_map(of).collect();
        let others: Vec<usize> = (1..self.sides.len()).rev().filter(|at| !order.contains(at)).collect();
        order.extend(others);
        order
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
    table.whole()
}

const GAP: usize = 2;

pub(crate) const LOG_RATE: &str = "log MiB/s";

/// Names of columns that are removed first where not all fit; then the others, from the right.
const EXPENDABLE: [&str; 21] = [
    "MiB/s",
    "p50 us",
    "p95 us",
    "max us",
    "DB cores",
    "spread %",
    LOG_RATE,
    "large MiB/s",
    "unit",
    "upd %",
    "engine",
    "when (UTC)",
    "limited by",
    "writes/s",
    "p99.9 us",
    "phys reads/s",
    "target",
    "count",
    "IOPS per core",
    "p99 us",
    "sessions",
];

const LEAST_TEXT: usize = 16;

fn push_cell(line: &mut String, cell: &str, width: usize, side: Side) {
    let pad = " ".repeat(width - columns_of(cell));
    match side {
        Side::Left => line.extend([cell, &pad]),
        Side::Right => line.extend([&pad, cell]),
    }
}

/// Columns a text takes: one a character, which holds for all that mindful itself writes.
pub(crate) fn columns_of(text: &str) -> usize {
    text.chars().count()
}

/// `text` in lines of at most `width` columns, broken between words; a longer word is cut.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
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

    /// Rows of a report's widest table, under its titles.
    fn wide() -> Table {
        let titles = ["sessions", "blocks/s", "reads/s", "MiB/s", "mean us", "p50 us", "p99 us", "hit %", "limited by"];
        let side = |title: &str| if title == "limited by" { Side::Left } else { Side::Right };
        let mut table = Table::new(&titles.map(|title| (title, side(title))));
        table.row(
            ["8", "1,057,542", "57,542", "450", "8,634", "8,782", "12,255", "4.9", "##############"]
                .map(str::to_owned)
                .into(),
        );
        table
    }

    #[test]
    fn a_table_without_room_leaves_columns_out_and_names_them() {
        assert!(wide().lines(98, 98)[1].ends_with("##############"));
        let lines = wide().lines(58, 58);
        assert!(lines.iter().all(|line| columns_of(line) <= 58), "{lines:#?}");
        assert_eq!(lines[0], "sessions   blocks/s  reads/s  mean us  p99 us  hit %");
        assert_eq!(lines[2], "no room for: MiB/s, p50 us, limited by");
    }

    #[test]
    fn a_column_goes_by_its_name_whatever_its_title() {
        let titles = |word: &str| {
            let header = ["sessions", "reads/s", LOG_RATE, "limited by"].map(|title| (title, Side::Right));
            let mut table = Table::new(&header);
            table.entitle(LOG_RATE, format!("{word} MiB/s"));
            table.row(["8", "57,542", "0.5", "#########"].map(str::to_owned).into());
            table.lines(32, 32)
        };
        for word in ["log", "WAL", "redo", "journal"] {
            assert_eq!(titles(word)[0], "sessions  reads/s  limited by", "{word}");
            assert_eq!(titles(word)[2], format!("no room for: {word} MiB/s"));
        }
    }

    proptest! {
        #[test]
        fn a_table_fits_and_its_cells_are_two_apart(most in 20_usize..140) {
            let lines = wide().lines(most, most);
            prop_assert!(lines.iter().all(|line| columns_of(line) <= most), "{lines:#?}");
            let apart = lines[0].split("  ").map(str::trim).filter(|cell| !cell.is_empty()).count();
            prop_assert_eq!(apart, wide().fitting(most).len(), "{:#?}", lines);
        }

        #[test]
        fn wrapped_lines_keep_to_their_width_and_lose_no_letter(text in "[a-z ]{0,200}", width in 1_usize..40) {
            let lines = wrap(&text, width);
            prop_assert!(lines.iter().all(|line| columns_of(line) <= width));
            prop_assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
        }
    }
}
