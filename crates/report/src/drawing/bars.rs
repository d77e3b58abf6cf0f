//! Level bars, a row each: from where to where, with a name before and a remark behind.

use std::fmt::Write as _;

use super::frame::{CHARACTER, Drawing, WIDTH};
use super::scale::{Scale, Unit, drawable};
use crate::escape::escape_to;
use crate::markup::text;

const ROW: f64 = 34.0;
const THICK: f64 = 15.0;
const TOP: f64 = 8.0;

/// A row.
#[derive(Debug, Clone)]
pub struct Bar {
    /// What it is.
    pub name: String,
    /// Begin and end of the bar; `None` where the figure is not known.
    pub span: Option<[f64; 2]>,
    /// The figure in words.
    pub value: String,
    /// What else there is to say of it.
    pub remark: String,
    /// Which colour it has, from 0.
    pub colour: usize,
}

/// Where bars stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// From the left, under a scale.
    Left,
    /// Around the middle, as a funnel.
    Middle,
}

/// A chart of bars.
#[derive(Debug, Clone)]
pub struct Bars {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its heading.
    pub title: String,
    /// What it shows, in words.
    pub about: String,
    /// The rows.
    pub rows: Vec<Bar>,
    /// Where they stand.
    pub place: Place,
    /// What the figures are.
    pub unit: Unit,
    /// Titles of the table: name, figure, remark.
    pub titles: [&'static str; 3],
}

impl Bars {
    /// The picture.
    pub fn drawing(&self, doubt: Option<&'static str>) -> Drawing {
        let known = |bar: &Bar| bar.span.filter(|ends| ends.iter().all(|end| drawable(*end)));
        let scale = Scale::linear(self.rows.iter().filter_map(known).flatten(), self.unit, 5);
        let longest = self.rows.iter().map(|bar| bar.name.chars().count().min(30)).max().unwrap_or(0);
        let left = 20.0 + CHARACTER * longest as f64;
        let place = |value: f64| left + (WIDTH - left - 24.0) * scale.share(value);
        let mut svg = String::new();
        let bottom = TOP + ROW * self.rows.len() as f64;
        if self.place == Place::Left {
            for (value, name) in &scale.ticks {
                let x = place(*value);
                let _ = writeln!(svg, "<path class=\"rule\" d=\"M{x:.1} {TOP}V{bottom}\"/>");
                let _ = writeln!(svg, "<text class=\"at-middle\" x=\"{x:.1}\" y=\"{}\">{name}</text>", bottom + 16.0);
            }
        }
        for (at, bar) in self.rows.iter().enumerate() {
            let y = TOP + ROW * at as f64;
            let _ = writeln!(
                svg,
                "<text class=\"axis-name at-end\" x=\"{:.1}\" y=\"{}\">{}</text>",
                left - 8.0,
                y + 12.0,
                text(&escape_to(&bar.name, 30))
            );
            if let Some([from, to]) = known(bar) {
                let (mut from, mut to) = (place(from.min(to)), place(from.max(to)));
                if self.place == Place::Middle {
                    let (middle, half) = (f64::midpoint(left, WIDTH - 24.0), (to - from) / 2.0);
                    (from, to) = (middle - half, middle + half);
                }
                let _ = writeln!(
                    svg,
                    "<rect class=\"bar c{}\" x=\"{from:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{THICK}\"><title>{}</title></rect>",
                    bar.colour % 6 + 1,
                    (to - from).max(1.0),
                    text(&format!("{}: {}", bar.name, bar.value))
                );
            }
            let words = [bar.value.as_str(), bar.remark.as_str()].into_iter().filter(|words| !words.is_empty());
            let words = escape_to(&words.collect::<Vec<_>>().join(", "), ((WIDTH - left) / 6.0) as usize);
            let (x, class) = match self.place {
                Place::Middle => (f64::midpoint(left, WIDTH - 24.0), "near at-middle"),
                Place::Left => (left + 2.0, "near"),
            };
            let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{}\">{}</text>", y + 27.0, text(&words));
        }
        let rows = self.rows.iter().map(|bar| vec![bar.name.clone(), bar.value.clone(), bar.remark.clone()]);
        Drawing {
            name: self.name,
            title: self.title.clone(),
            about: self.about.clone(),
            content: svg,
            height: bottom + if self.place == Place::Left { 24.0 } else { 4.0 },
            rows: std::iter::once(self.titles.map(str::to_owned).to_vec()).chain(rows).collect(),
            doubt,
        }
    }
}
