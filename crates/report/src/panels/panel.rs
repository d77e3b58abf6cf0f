//! Panels: the parts of a report, each computed from a run and its analysis alone. Only their caller decides the width
//! of a line and the use of colour.

use crate::drawing::characters::{Spot, curve, sparkline};
use crate::style::{Style, Tone};
use crate::table::{Table, columns_of, wrap};

pub(crate) enum Piece {
    Line(String),
    /// Above it a blank line.
    Heading(String),
    /// The main figure and its label, indented by two.
    Figure([String; 2]),
    /// A paragraph: columns before its first line and before the others, and columns it leaves free in all.
    Paragraph {
        first: usize,
        rest: usize,
        free: usize,
        text: String,
    },
    /// A word in its tone, `at` columns in, and a paragraph next to it.
    Beside {
        at: usize,
        tone: Tone,
        word: String,
        text: String,
    },
    /// Moved in by two; its header may be faint.
    Table {
        table: Table,
        faint: bool,
    },
    Pairs(Vec<(String, String)>),
    /// Figures over time: the period, and for each figure its name, its values and its range in words.
    OverTime {
        over: String,
        figures: Vec<(String, Vec<Option<f64>>, String)>,
    },
    /// A curve with the names of its axes and how their ends are reported.
    Curve(Curve),
}

pub(crate) struct Curve {
    pub title: String,
    pub spots: Vec<Spot>,
    pub far: String,
    pub ends: [String; 2],
}

#[derive(Default)]
pub(crate) struct Panel(Vec<Piece>);

impl Panel {
    pub(crate) fn add_line(&mut self, line: &str) {
        self.0.push(Piece::Line(line.trim_end().to_owned()));
    }

    pub(crate) fn blank(&mut self) {
        self.add_line("");
    }

    pub(crate) fn heading(&mut self, heading: &str) {
        self.0.push(Piece::Heading(heading.to_owned()));
    }

    pub(crate) fn figure(&mut self, figure_and_label: [String; 2]) {
        self.0.push(Piece::Figure(figure_and_label));
    }

    /// A paragraph, each line moved in by `indent`; nothing where there is no text.
    pub(crate) fn wrapped(&mut self, indent: usize, text: &str) {
        if !text.is_empty() {
            self.paragraph(indent, indent, indent, text);
        }
    }

    /// A paragraph with its first line at column `first` and the others at `rest`, with `free` columns left over.
    pub(crate) fn paragraph(&mut self, first: usize, rest: usize, free: usize, text: &str) {
        self.0.push(Piece::Paragraph { first, rest, free, text: text.to_owned() });
    }

    pub(crate) fn hanging(&mut self, at: usize, tone: Tone, word: &str, text: &str) {
        self.0.push(Piece::Beside { at, tone, word: word.to_owned(), text: text.to_owned() });
    }

    pub(crate) fn table(&mut self, table: Table) {
        self.0.push(Piece::Table { table, faint: true });
    }

    /// A table below a blank line; nothing without rows.
    pub(crate) fn table_below(&mut self, table: Table) {
        if !table.is_empty() {
            self.blank();
            self.table(table);
        }
    }

    pub(crate) fn main_table(&mut self, table: Table) {
        self.0.push(Piece::Table { table, faint: false });
    }

    /// Facts under a heading; nothing without facts.
    pub(crate) fn of_facts(heading: &str, facts: Vec<(String, String)>) -> Self {
        let mut panel = Self::default();
        if !facts.is_empty() {
            panel.heading(heading);
            panel.pairs(facts);
        }
        panel
    }

    pub(crate) fn pairs(&mut self, pairs: Vec<(String, String)>) {
        self.0.push(Piece::Pairs(pairs));
    }

    pub(crate) fn over_time(&mut self, over: String, figures: Vec<(String, Vec<Option<f64>>, String)>) {
        self.0.push(Piece::OverTime { over, figures });
    }

    pub(crate) fn curve(&mut self, curve: Curve) {
        self.0.push(Piece::Curve(curve));
    }

    /// Its pieces, for callers with a form of their own.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.0
    }

    pub(crate) fn has_table(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Table { .. }))
    }

    pub(crate) fn to_text(&self, style: &Style) -> String {
        let lines: Vec<String> = self.0.iter().flat_map(|piece| lines(piece, style)).collect();
        lines.iter().flat_map(|line| [line.trim_end(), "\n"]).collect()
    }
}

fn lines(piece: &Piece, style: &Style) -> Vec<String> {
    let room = |taken: usize| style.columns().saturating_sub(taken);
    match piece {
        Piece::Line(line) => whole(line, style),
        Piece::Heading(heading) => vec![String::new(), style.paint(Tone::Strong, heading)],
        Piece::Figure(figure_and_label) => {
            let lines = wrap(&figure_and_label.join(" "), room(2));
            lines.iter().map(|line| format!("  {}", style.paint(Tone::Strong, line))).collect()
        }
        Piece::Paragraph { first, rest, free, text } => moved_in(&wrap(text, room(*free)), &" ".repeat(*first), *rest),
        Piece::Beside { at, tone, word, text } => {
            let indent = at + columns_of(word) + 2;
            let before = format!("{}{}  ", " ".repeat(*at), style.paint(*tone, word));
            moved_in(&wrap(text, room(indent)), &before, indent)
        }
        Piece::Table { table, faint } => {
            let header = |at: usize, line: &String| {
                if at == 0 && *faint { style.paint(Tone::Faint, line) } else { line.clone() }
            };
            let lines = table.lines(room(2), style.table_columns().saturating_sub(2));
            lines.iter().enumerate().map(|(at, line)| format!("  {}", header(at, line))).collect()
        }
        Piece::Pairs(pairs) => aligned(pairs, style),
        Piece::OverTime { over, figures } => over_time(over, figures, style),
        Piece::Curve(curve) => drawn(curve, style),
    }
}

/// Figures over time side by side, in as many columns as there is room for.
fn over_time(over: &str, figures: &[(String, Vec<Option<f64>>, String)], style: &Style) -> Vec<String> {
    const MOST: usize = 16;
    let words: usize = figures.iter().map(|(name, _, range)| columns_of(name) + columns_of(range) + 4).sum();
    let room = style.columns().saturating_sub(columns_of(over) + 4 + words) / figures.len().max(1);
    let columns = room.min(MOST);
    if columns < 4 {
        return Vec::new();
    }
    let one = |(name, values, range): &(String, Vec<Option<f64>>, String)| {
        format!("{name} {} {range}", sparkline(values, columns, style.ascii))
    };
    vec![format!("  {over}  {}", figures.iter().map(one).collect::<Vec<_>>().join("  "))]
}

fn drawn(drawn: &Curve, style: &Style) -> Vec<String> {
    const HIGH: usize = 9;
    const FEWEST: usize = 80;
    if style.columns() < FEWEST {
        return Vec::new();
    }
    let beside = drawn.ends.iter().map(|end| columns_of(end)).max().unwrap_or(0);
    let wide = (style.columns() - beside - 5).min(72);
    let (side, corner, ground) = if style.ascii { ('|', '+', '-') } else { ('│', '└', '─') };
    let mut lines = vec![String::new(), format!("  {}", style.paint(Tone::Faint, &drawn.title))];
    for (at, line) in curve(&drawn.spots, wide, HIGH, style.ascii).iter().enumerate() {
        let end = match at {
            0 => &drawn.ends[0],
            _ if at + 1 == HIGH => &drawn.ends[1],
            _ => "",
        };
        let pad = " ".repeat(beside - columns_of(end));
        lines.push(format!("  {pad}{end} {side}{}", line.trim_end()));
    }
    lines.push(format!("  {} {corner}{}", " ".repeat(beside), ground.to_string().repeat(wide)));
    let pad = " ".repeat((beside + wide + 4).saturating_sub(columns_of(&drawn.far)));
    lines.push(format!("{pad}{}", drawn.far));
    lines
}

/// A line unchanged if it fits, or if it contains text that must stay in one piece, such as a path; else several lines
/// with the same indent.
fn whole(line: &str, style: &Style) -> Vec<String> {
    let words = line.trim_start();
    let at = columns_of(line) - columns_of(words);
    let room = style.columns().saturating_sub(at);
    let breaks = columns_of(line) > style.table_columns() && words.split(' ').all(|word| columns_of(word) <= room);
    if breaks { moved_in(&wrap(words, room), &" ".repeat(at), at) } else { vec![line.to_owned()] }
}

/// `lines` with `first` before the first one and `rest` columns before the others.
fn moved_in(lines: &[String], first: &str, rest: usize) -> Vec<String> {
    let rest = " ".repeat(rest);
    lines.iter().enumerate().map(|(at, line)| format!("{}{line}", if at == 0 { first } else { &rest })).collect()
}

fn aligned(pairs: &[(String, String)], style: &Style) -> Vec<String> {
    let widest = pairs.iter().map(|(name, _)| columns_of(name)).max().unwrap_or(0).min(32);
    let pair = |(name, what): &(String, String)| {
        let pad = " ".repeat(widest.saturating_sub(columns_of(name)));
        moved_in(&wrap(what, style.columns() - widest - 4), &format!("  {name}{pad}  "), widest + 4)
    };
    pairs.iter().flat_map(pair).collect()
}
