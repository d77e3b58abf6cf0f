//! Tables of a text report: columns are where the ruler under their names has its dashes.

use std::borrow::Cow;
use std::ops::Range;

use super::table::{MOST_COLUMNS, MOST_ROWS, Table, UNKNOWN};

/// Columns of text before the first dashes that make room for a column without a name.
const UNNAMED: usize = 8;
/// Dashes in one piece, moved in, that end a table: 54 or 61 of them.
const FOOTER: usize = 40;
/// Longest line that is read, bytes: rows are shorter.
const LONGEST_LINE: usize = 2_048;
/// Columns from one stop of tabs to the next.
const TAB: usize = 8;
/// Longest report in which tabs are replaced, bytes.
const LONGEST_WITH_TABS: usize = 16 << 20;

/// All tables of `text`. Each word of a row belongs to the column above it, or to the nearest one.
pub(crate) fn tables(text: &str) -> Vec<Table> {
    let text = without_tabs(text);
    let mut reader = Reader::default();
    for line in text.lines().filter(|line| line.len() <= LONGEST_LINE) {
        reader.line(line.trim_start_matches('\u{c}').trim_end());
    }
    if !text.ends_with('\n') {
        reader.tear_last_row();
    }
    reader.tables.retain(|table| !table.rows.is_empty());
    reader.tables
}

/// `text` with blanks instead of tabs: SQL*Plus writes tabs unless `tab` is off.
fn without_tabs(text: &str) -> Cow<'_, str> {
    if text.len() > LONGEST_WITH_TABS || !text.contains('\t') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        let blanks = TAB - column % TAB;
        match c {
            '\t' => plain.extend(std::iter::repeat_n(' ', blanks)),
            c => plain.push(c),
        }
        column = match c {
            '\n' => 0,
            '\t' => column + blanks,
            _ => column + 1,
        };
    }
    Cow::Owned(plain)
}

#[derive(Default)]
struct Reader<'a> {
    tables: Vec<Table>,
    /// Rows that were read, of all tables.
    rows: usize,
    /// Places of the columns of the last table, while rows may follow.
    places: Option<Vec<Range<usize>>>,
    title: String,
    /// Lines since the last blank one: they may be a heading.
    pending: Vec<&'a str>,
    /// The extent of the title at the begin of a pending line: it is not a column name.
    title_ends: Option<(usize, usize)>,
    /// Whether the section contains statements, which may resemble anything.
    statements: bool,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str) {
        if line.trim().is_empty() {
            self.forget();
        } else if let Some(at) = line.find("DB/Inst:").or_else(|| line.find(" for DB: ")) {
            self.begin_section(line[..at].trim());
            self.statements = self.title.starts_with("SQL ") || self.title.starts_with("Top SQL");
            self.places = None;
            self.forget();
        } else if line.starts_with("->") {
            // Notes follow a title, even if nothing else marks it as one.
            if let [title] = self.pending[..]
                && !title.starts_with(' ')
            {
                self.drop_pending_rows();
                self.begin_section(head(title));
                self.places = None;
            }
            self.forget();
        } else {
            self.marks_or_text(line);
        }
    }

    fn marks_or_text(&mut self, line: &'a str) {
        let mut words = words(line);
        // Waves below each column precede sums.
        if words.len() > 1 && self.places.is_some() && words.iter().all(|word| is_all(line, word, b'~')) {
            return;
        }
        let waves = words.first().is_some_and(|word| is_all(line, word, b'~'));
        let dashes = |word: &Range<usize>| is_all(line, word, b'-');
        let ruled = words.len() <= MOST_COLUMNS && words.iter().skip(usize::from(waves)).all(dashes);
        match (waves, ruled, words.as_slice()) {
            (false, true, [one]) if one.start >= UNNAMED && one.len() >= FOOTER => {
                if let (Some(_), Some(table)) = (&self.places, self.tables.last_mut()) {
                    table.whole = self.rows <= MOST_ROWS;
                }
                self.places = None;
                self.forget();
            }
            (true, true, [_]) | (true, false, _) => {
                self.take_title();
                self.pending.push(line);
            }
            (waves, true, _) => {
                if waves {
                    self.begin_section(self.pending.last().map_or("", |line| head(line)));
                    self.statements = false;
                    // Names below a title may be longer than it.
                    if let Some(next) = words.get(1).map(|next| next.start) {
                        words[0].end = next - 1;
                    }
                }
                self.begin(words);
            }
            _ => {
                self.pending.push(line);
                if let (Some(places), Some(table)) = (&self.places, self.tables.last_mut()) {
                    self.rows += 1;
                    if self.rows <= MOST_ROWS {
                        table.rows.push(cells(line, &words, places));
                    }
                }
            }
        }
    }

    /// The line before a wave is a title; words to the right of it may name columns.
    fn take_title(&mut self) {
        self.places = None;
        let Some(line) = self.pending.last().copied() else { return };
        self.drop_pending_rows();
        self.begin_section(head(line));
        self.statements = false;
        let end = line.len() - line.trim_start().len() + self.title.len();
        self.title_ends = Some((self.pending.len() - 1, end));
        // The following lines may have no columns. Then each line is a cell, and so is a title with figures of its own.
        let own = Some(words(line))
            .filter(|_| line.contains(": "))
            .map(|words| cells(line, &words, std::slice::from_ref(&(0..1))));
        self.tables.push(Table { rows: own.into_iter().collect(), ..self.table(vec![String::new()]) });
        self.places = Some(std::iter::once(0..1).collect());
    }

    /// The text ends within a line: if that is a row, the cells after its last one are missing.
    fn tear_last_row(&mut self) {
        let row = self.places.as_ref().and_then(|_| self.tables.last_mut()?.rows.last_mut());
        for cell in row.into_iter().flat_map(|row| row.iter_mut().rev().take_while(|cell| cell.is_empty())) {
            UNKNOWN.clone_into(cell);
        }
    }

    /// A title that differs from the last one ends its section; the same one continues it on the next page.
    fn begin_section(&mut self, title: &str) {
        if let Some(table) = self.tables.last_mut() {
            table.whole |= table.title != title && self.rows <= MOST_ROWS;
        }
        title.clone_into(&mut self.title);
    }

    fn table(&self, columns: Vec<String>) -> Table {
        Table { title: self.title.clone(), columns, ..Table::default() }
    }

    /// The pending lines were a heading, not rows.
    fn drop_pending_rows(&mut self) {
        if let Some(table) = self.tables.last_mut() {
            let rows = table.rows.len().saturating_sub(self.pending.len());
            table.rows.truncate(rows);
        }
    }

    fn begin(&mut self, mut places: Vec<Range<usize>>) {
        if self.places.is_some() {
            self.drop_pending_rows();
        }
        self.places = None;
        if !self.statements {
            if places.first().is_some_and(|first| first.start >= UNNAMED) {
                places.insert(0, 0..places[0].start - 1);
            }
            let mut columns = vec![String::new(); places.len()];
            for (number, heading) in self.pending.iter().enumerate() {
                let from = self.title_ends.filter(|(of, _)| *of == number).map_or(0, |(_, end)| end);
                let words = words(heading).into_iter().filter(|word| word.start >= from && names(heading, word));
                for (name, cell) in columns.iter_mut().zip(cells(heading, &words.collect::<Vec<_>>(), &places)) {
                    if !cell.is_empty() {
                        let gap = if name.is_empty() { "" } else { " " };
                        *name = format!("{name}{gap}{cell}");
                    }
                }
            }
            self.tables.push(self.table(columns));
            self.places = Some(places);
        }
        self.forget();
    }

    fn forget(&mut self) {
        self.pending.clear();
        self.title_ends = None;
    }
}

/// Whether a heading's word is a name: waves and dashes only underline.
fn names(line: &str, word: &Range<usize>) -> bool {
    !is_all(line, word, b'~') && !is_all(line, word, b'-')
}

fn is_all(line: &str, word: &Range<usize>, byte: u8) -> bool {
    line.as_bytes()[word.clone()].iter().all(|b| *b == byte)
}

fn head(line: &str) -> &str {
    line.trim().split("  ").next().unwrap_or_default()
}

/// Places of the words of a line, in bytes.
fn words(line: &str) -> Vec<Range<usize>> {
    let mut end = 0;
    let places = line.split([' ', '\t']).map(|word| {
        let begin = end;
        end = begin + word.len() + 1;
        begin..begin + word.len()
    });
    places.filter(|place| !place.is_empty()).collect()
}

/// Assigns each word to the column it overlaps most, or else to the nearest one. A multi-byte letter shifts later words
/// by fewer columns than the distance between two words.
fn cells(line: &str, words: &[Range<usize>], places: &[Range<usize>]) -> Vec<String> {
    let mut cells = vec![String::new(); places.len()];
    let moved = line.len() - line.chars().count();
    for word in words {
        let wide = if moved == 0 { 0 } else { line[..word.start].len() - line[..word.start].chars().count() };
        let (start, end) = (word.start - wide, word.end - wide);
        let score = |place: &Range<usize>| {
            let overlap = end.min(place.end) as i64 - start.max(place.start) as i64;
            (overlap, std::cmp::Reverse(place.start))
        };
        let Some(best) = (0..places.len()).max_by_key(|i| score(&places[*i])) else { continue };
        if !cells[best].is_empty() {
            cells[best].push(' ');
        }
        cells[best].push_str(&line[word.clone()]);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_above_waves_names_no_column() {
        let text = "\
Top 5 Timed Events                                 Avg %Total
~~~~~~~~~~~~~~~~~~                                wait   Call
Event                            Waits    Time (s) (ms)   Time
------------------------- ------------ ----------- ---- ------
db file sequential read         76,367          42    1    1.1
";
        let table = &tables(text)[0];
        assert_eq!(table.title, "Top 5 Timed Events");
        assert_eq!(table.columns, ["Event", "Waits", "Time (s)", "Avg wait (ms)", "%Total Call Time"]);
    }
}
