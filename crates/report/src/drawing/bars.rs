//! Level bars, a row each: from where to where, with a name before and a remark after.

use std::fmt::Write as _;

use super::frame::{CHARACTER, Drawing, LINE, WIDTH, lines_of, write_lines};
use super::scale::{Scale, Unit, drawable};
use crate::markup::escaped_text;

const ROW: f64 = 34.0;
const THICK: f64 = 15.0;
const TOP: f64 = 8.0;
const RIGHT: f64 = 24.0;
/// Longest line of a name, characters.
const NAME_COLUMNS: usize = 30;

#[derive(Debug, Clone)]
pub(crate) struct Bar {
    pub name: String,
    /// Begin and end of the bar; `None` if the figure is unknown.
    pub span: Option<[f64; 2]>,
    pub value: String,
    pub remark: String,
    /// Which colour it has, from 0.
    pub colour: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// From the left, under a scale.
    Left,
    /// Around the middle, as a funnel.
    Middle,
}

#[derive(Debug, Clone)]
pub(crate) struct Bars {
    pub name: &'static str,
    pub title: String,
    pub caption: String,
    /// How to read it, in sentences; may be empty.
    pub notes: String,
    pub rows: Vec<Bar>,
    pub place: Place,
    pub unit: Unit,
    /// Titles of the table: name, figure, remark.
    pub titles: [&'static str; 3],
}

impl Bars {
    pub(crate) fn drawing(&self, doubt: Option<&'static str>) -> Drawing {
        let scale = Scale::linear(self.rows.iter().filter_map(known_ends).flatten(), self.unit, 5);
        let longest = self.rows.iter().map(|bar| bar.name.chars().count().min(NAME_COLUMNS)).max().unwrap_or(0);
        let left = 20.0 + CHARACTER * longest as f64;
        let (mut bars, mut bottom) = (String::new(), TOP);
        for bar in &self.rows {
            bottom += self.row(&mut bars, bar, &scale, [left, bottom]);
        }
        let mut svg = String::new();
        if self.place == Place::Left {
            for (value, name) in &scale.ticks {
                let x = x_of(&scale, left, *value);
                let _ = writeln!(svg, "<path class=\"rule\" d=\"M{x:.1} {TOP}V{bottom}\"/>");
                let _ = writeln!(svg, "<text class=\"at-middle\" x=\"{x:.1}\" y=\"{}\">{name}</text>", bottom + 16.0);
            }
        }
        svg.push_str(&bars);
        let rows = self.rows.iter().map(|bar| vec![bar.name.clone(), bar.value.clone(), bar.remark.clone()]);
        Drawing {
            name: self.name,
            title: self.title.clone(),
            caption: self.caption.clone(),
            notes: self.notes.clone(),
            content: svg,
            height: bottom + if self.place == Place::Left { 24.0 } else { 4.0 },
            rows: std::iter::once(self.titles.map(str::to_owned).to_vec()).chain(rows).collect(),
            doubt,
        }
    }

    /// Draws a row at `y` and returns its height: as many lines as its words need.
    fn row(&self, svg: &mut String, bar: &Bar, scale: &Scale, [left, y]: [f64; 2]) -> f64 {
        let names = lines_of(&bar.name, NAME_COLUMNS);
        write_lines(svg, "axis-name at-end", [left - 8.0, y + 12.0], &names);
        if let Some([from, to]) = known_ends(bar) {
            let (mut from, mut to) = (x_of(scale, left, from.min(to)), x_of(scale, left, from.max(to)));
            if self.place == Place::Middle {
                let (middle, half) = (f64::midpoint(left, WIDTH - RIGHT), (to - from) / 2.0);
                (from, to) = (middle - half, middle + half);
            }
            let _ = writeln!(
                svg,
                "<rect class=\"bar c{}\" x=\"{from:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{THICK}\"><title>{}</title></rect>",
                bar.colour % 6 + 1,
                (to - from).max(1.0),
                escaped_text(&format!("{}: {}", bar.name, bar.value))
            );
        }
        let words = [bar.value.as_str(), bar.remark.as_str()].into_iter().filter(|words| !words.is_empty());
        let words = lines_of(&words.collect::<Vec<_>>().join(", "), ((WIDTH - left) / CHARACTER) as usize);
        let (x, class) = match self.place {
            Place::Middle => (f64::midpoint(left, WIDTH - RIGHT), "near at-middle"),
            Place::Left => (left + 2.0, "near"),
        };
        write_lines(svg, class, [x, y + 27.0], &words);
        ROW + LINE * (names.len() - 1).max(words.len() - 1) as f64
    }
}

/// Begin and end of a bar, where both can be drawn.
fn known_ends(bar: &Bar) -> Option<[f64; 2]> {
    bar.span.filter(|ends| ends.iter().all(|end| drawable(*end)))
}

fn x_of(scale: &Scale, left: f64, value: f64) -> f64 {
    left + (WIDTH - left - RIGHT) * scale.share(value)
}
