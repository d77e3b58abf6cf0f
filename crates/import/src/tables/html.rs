//! Tables of an HTML report.

use html5gum::{Token, Tokenizer};

use super::table::{MOST_COLUMNS, MOST_ROWS, Table, UNKNOWN};
use crate::number;

/// Most letters kept of a cell: statements are longer, figures are not.
const LONGEST_CELL: usize = 400;

/// Most letters of a line between tables that is a heading, and no note.
const LONGEST_TITLE: usize = 100;

/// All tables of the page `text`; each under the heading before it, or under the line before it: up to 12.1 the parts of
/// the summary at the head have a bare line as theirs.
pub(crate) fn tables(text: &str) -> Vec<Table> {
    let mut page = Page::default();
    for Ok(token) in Tokenizer::new(text) {
        match token {
            Token::StartTag(tag) => {
                let attribute = |name: &[u8]| Some(String::from_utf8_lossy(tag.attributes.get(name)?).into_owned());
                let number = |name: &[u8]| attribute(name)?.trim().parse::<usize>().ok();
                let span = |name: &[u8]| number(name).unwrap_or(1).clamp(1, MOST_COLUMNS);
                if *tag.name == b"table"[..] {
                    page.open_table(attribute(b"summary").unwrap_or_default());
                }
                page.open(&tag.name, span(b"colspan"), span(b"rowspan"));
            }
            Token::EndTag(tag) => page.close(&tag.name),
            Token::String(string) => page.text(&String::from_utf8_lossy(&string)),
            _ => {}
        }
    }
    page.finish()
}

#[derive(Default)]
struct Page {
    tables: Vec<Table>,
    title: String,
    in_title: bool,
    /// The last line outside of tables, notes and links, and whether the next text begins another one.
    line: String,
    line_ended: bool,
    aside: usize,
    cell: Option<String>,
    spans: (usize, usize),
    row: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
    /// Rows that were read, of all tables.
    all_rows: usize,
    summary: String,
    open: bool,
}

#[derive(Clone)]
struct Cell {
    text: String,
    names: bool,
    columns: usize,
    rows: usize,
}

impl Page {
    fn open_table(&mut self, summary: String) {
        self.end_table(true);
        self.open = true;
        self.summary = summary;
        let line = std::mem::take(&mut self.line);
        if (1..=LONGEST_TITLE).contains(&line.trim().len()) {
            self.title = line;
        }
    }

    fn open(&mut self, tag: &[u8], columns: usize, rows: usize) {
        match tag {
            b"h1" | b"h2" | b"h3" | b"h4" => {
                self.title.clear();
                self.in_title = true;
                self.aside = 0;
                self.line.clear();
            }
            b"li" | b"a" | b"title" | b"style" | b"script" => self.aside += 1,
            b"p" | b"hr" | b"div" => self.line_ended = true,
            b"tr" => self.end_row(),
            b"th" | b"td" => {
                self.end_cell(false);
                self.cell = Some(String::new());
                self.spans = (columns, rows);
            }
            b"br" => self.text(" "),
            _ => {}
        }
    }

    fn close(&mut self, tag: &[u8]) {
        match tag {
            b"h1" | b"h2" | b"h3" | b"h4" => self.in_title = false,
            b"li" | b"a" | b"title" | b"style" | b"script" => self.aside = self.aside.saturating_sub(1),
            // An item need not be closed.
            b"ul" | b"ol" => self.aside = 0,
            b"p" | b"div" => self.line_ended = true,
            b"th" => self.end_cell(true),
            b"td" => self.end_cell(false),
            b"tr" => self.end_row(),
            b"table" => self.end_table(true),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let into = match &mut self.cell {
            Some(cell) => cell,
            None if self.in_title => &mut self.title,
            None if self.aside > 0 || self.open || text.trim().is_empty() => return,
            None => {
                if std::mem::take(&mut self.line_ended) {
                    self.line.clear();
                }
                &mut self.line
            }
        };
        if into.len() < LONGEST_CELL {
            into.extend(text.chars().take(LONGEST_CELL));
        }
    }

    fn end_cell(&mut self, names: bool) {
        let Some(text) = self.cell.take() else { return };
        let text = number::with_apostrophes(&text).unwrap_or(text).split_whitespace().collect::<Vec<_>>().join(" ");
        self.row.push(Cell { text, names, columns: self.spans.0, rows: self.spans.1 });
    }

    /// All tables. An unclosed table was truncated: its last cell may have lost digits, and its last row lacks cells.
    fn finish(mut self) -> Vec<Table> {
        self.cell = None;
        let torn = !self.row.is_empty();
        let (cells, tables) = (self.row.iter().map(|cell| cell.columns).sum(), self.tables.len());
        self.end_row();
        self.end_table(false);
        if let Some(row) = self.tables[tables..].last_mut().and_then(|table| table.rows.last_mut()).filter(|_| torn) {
            row.iter_mut().skip(cells).for_each(|cell| UNKNOWN.clone_into(cell));
        }
        self.tables
    }

    fn end_row(&mut self) {
        self.end_cell(false);
        if self.open && !self.row.is_empty() {
            self.all_rows += 1;
            if self.all_rows <= MOST_ROWS {
                self.rows.push(std::mem::take(&mut self.row));
            }
        }
        self.row.clear();
    }

    fn end_table(&mut self, whole: bool) {
        self.end_row();
        self.open = false;
        let rows = std::mem::take(&mut self.rows);
        let headings = rows.iter().take_while(|row| is_heading(row)).count();
        let mut columns = columns(&rows[..headings]);
        let mut cells = grid(&rows[headings..], false);
        let width = cells.iter().map(Vec::len).max().unwrap_or(0).max(columns.len());
        columns.resize(width, String::new());
        for row in &mut cells {
            row.resize(width, String::new());
        }
        let title = self.title.trim().to_owned();
        let summary = std::mem::take(&mut self.summary);
        let whole = whole && self.all_rows <= MOST_ROWS;
        // A table without rows is known by its summary.
        if !rows.is_empty() || !summary.is_empty() {
            self.tables.push(Table { title, summary, columns, rows: cells, whole });
        }
    }
}

/// Whether a row names columns: above columns without a common name there may be a blank cell of data.
fn is_heading(row: &[Cell]) -> bool {
    let spans = |cell: &Cell| cell.names && cell.columns > 1;
    let names = row.iter().any(|cell| cell.names) && row.iter().all(|cell| cell.names || cell.text.is_empty());
    names || row.iter().any(spans)
}

/// Names of columns from rows of headings.
fn columns(headings: &[Vec<Cell>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in grid(headings, true) {
        names.resize(names.len().max(row.len()), String::new());
        for (name, part) in names.iter_mut().zip(row) {
            let gap = if name.is_empty() || part.is_empty() { "" } else { " " };
            name.extend([gap, &part]);
        }
    }
    names
}

/// Cells by their columns. One over several rows keeps its columns in all of them. A name over several columns names each; a
/// figure is in the first of them, and in each of its rows.
fn grid(rows: &[Vec<Cell>], names: bool) -> Vec<Vec<String>> {
    // For each column, the number of further rows that a cell covers, and its text.
    let mut covered: Vec<(usize, String)> = Vec::new();
    let mut grid = Vec::new();
    for row in rows {
        let mut line: Vec<String> = Vec::new();
        let mut cells = row.iter();
        loop {
            let at = line.len();
            if at >= MOST_COLUMNS {
                break;
            }
            if let Some((left, text)) = covered.get_mut(at).filter(|(left, _)| *left > 0) {
                *left -= 1;
                line.push(text.clone());
            } else if let Some(cell) = cells.next() {
                covered.resize(covered.len().max(at + cell.columns), (0, String::new()));
                for column in 0..cell.columns {
                    let text = if names || column == 0 { cell.text.clone() } else { String::new() };
                    covered[at + column] = (cell.rows - 1, if names { String::new() } else { text.clone() });
                    line.push(text);
                }
            } else if covered[at.min(covered.len())..].iter().any(|(left, _)| *left > 0) {
                line.push(String::new());
            } else {
                break;
            }
        }
        grid.push(line);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_line_is_a_heading_but_notes_and_links_are_not() {
        let table = "<table><tr><th>Event</th></tr><tr><td>x</td></tr></table>";
        let text = format!(
            "<h3><a name=\"99999\"></a>Report Summary</h3><p />Load Profile<p />{table}<ul><li>a note</ul><p />\nInstance Efficiency Percentages \
             (Target 100%)\n<p />{table}<a href=\"#top\">Back to Top</a><p />{table}\
             <h3>Foreground Wait Events</h3><ul><li class=\"awr\"> s - second<li>ms</ul>{table}<a>Back to Top</a><p />"
        );
        let titles: Vec<_> = tables(&text).into_iter().map(|table| table.title).collect();
        let efficiency = "Instance Efficiency Percentages (Target 100%)";
        assert_eq!(titles, ["Load Profile", efficiency, efficiency, "Foreground Wait Events"]);
    }

    #[test]
    fn a_truncated_page_has_no_last_figure() {
        let text = "<table><tr><th>Statistic</th><th>Total</th><th>per Second</th></tr><tr><td>physical reads</td><td>83</td><td>64";
        let [table] = &tables(text)[..] else { panic!("{:?}", tables(text)) };
        assert_eq!(
            (&table.rows[0][..], table.whole),
            (&["physical reads".to_owned(), "83".to_owned(), UNKNOWN.to_owned()][..], false)
        );
    }

    #[test]
    fn headings_over_several_rows_and_columns_fall_into_place() {
        let text = "<table><tr><th rowspan=2>I#</th><th colspan=2>Wait</th></tr><tr><th>Class</th><th>Event</th></tr>\
            <tr><td>*</td><td>User I/O</td><td>db file sequential read</td></tr></table>";
        assert_eq!(tables(text)[0].columns, ["I#", "Wait Class", "Wait Event"]);
    }

    #[test]
    fn a_cell_over_several_rows_is_in_each_of_them() {
        let text = "<table><tr><th>I#</th><th>Event</th><th>Waits</th></tr>\
            <tr><td rowspan=2>*</td><td>log file sync</td><td>7</td></tr><tr><td>DB CPU</td><td>8</td></tr>\
            <tr><td colspan=2>1</td><td>9</td></tr></table>";
        assert_eq!(tables(text)[0].rows, [["*", "log file sync", "7"], ["*", "DB CPU", "8"], ["1", "", "9"]]);
    }
}
