//! The differences of two sides: each a point with its interval, and the line of no difference.

use std::fmt::Write as _;

use crate::comparison::difference::{Difference, Differences, change, interval_words};
use crate::drawing::frame::{CHARACTER, Drawing, WIDTH, lines_of, write_lines};
use crate::drawing::scale::{Scale, Unit, drawable};
use crate::markup::escaped_text;

pub(crate) const NAME: &str = "differences";

const ROW: f64 = 34.0;
const TOP: f64 = 26.0;
/// Longest line of a name, characters; a row has room for two.
const NAME_COLUMNS: usize = 32;
const RIGHT: f64 = 24.0;
/// From this ratio on, or below its inverse, the axis is logarithmic.
const FAR: f64 = 4.0;

/// The chart; `None` without a difference to draw.
pub(crate) fn drawing(compared: &Differences, doubt: Option<&'static str>) -> Option<Drawing> {
    let rows: Vec<&Difference> = compared.rows.iter().filter(|row| drawable(row.ratio) && row.ratio > 0.0).collect();
    if rows.is_empty() {
        return None;
    }
    let axis = Axis::from_rows(&rows, compared.margin);
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = String::new();
    axis.draw(&mut svg, bottom, compared);
    for (at, row) in rows.iter().enumerate() {
        axis.row(&mut svg, TOP + ROW * at as f64, row);
    }
    Some(Drawing {
        name: NAME,
        title: "Differences between candidate and baseline".into(),
        caption: format!(
            "{} against {}: right of the line, the candidate has more.",
            compared.names[1], compared.names[0]
        ),
        notes: format!(
            "More throughput is better, more latency is worse. A bar is the interval of the difference; the table has its \
             confidence. Differences within the grey band, up to {:.1} %, do not matter here.",
            compared.margin * 100.0
        ),
        content: svg,
        height: bottom + 40.0,
        rows: table(compared),
        doubt,
    })
}

/// Its figures, titles first.
pub(crate) fn table(compared: &Differences) -> Vec<Vec<String>> {
    let [baseline, candidate] = compared.names.clone();
    let titles = ["figure".to_owned(), baseline, candidate, "difference".into(), "interval".into(), "remark".into()];
    let row = |row: &Difference| {
        let (change, between) = (change(row.ratio), interval_words(row.interval));
        vec![row.name.clone(), row.baseline.clone(), row.candidate.clone(), change, between, row.remark.clone()]
    };
    std::iter::once(titles.to_vec()).chain(compared.rows.iter().map(row)).collect()
}

/// The axis of all differences: in percent, or by ratio where they are far apart.
struct Axis {
    scale: Scale,
    by_ratio: bool,
    left: f64,
}

impl Axis {
    fn from_rows(rows: &[&Difference], margin: f64) -> Self {
        let ends = |row: &&Difference| row.interval.map_or([row.ratio; 2], |interval| [interval.low, interval.high]);
        let ratios = || rows.iter().flat_map(|row| [[row.ratio; 2], ends(row)].concat());
        let known = || ratios().filter(|ratio| drawable(*ratio) && *ratio > 0.0);
        let by_ratio = known().any(|ratio| !(1.0 / FAR..=FAR).contains(&ratio));
        let scale = if by_ratio {
            Scale::log(known().chain([0.5, 2.0]), Unit::Number, 8)
        } else {
            let edges = [-margin, margin].map(|share| share * 150.0);
            Scale::linear(known().map(|ratio| (ratio - 1.0) * 100.0).chain(edges), Unit::Number, 6)
        };
        let longest = rows.iter().map(|row| row.name.chars().count().min(NAME_COLUMNS)).max().unwrap_or(0);
        Self { scale, by_ratio, left: 22.0 + CHARACTER * longest as f64 }
    }

    fn x(&self, ratio: f64) -> f64 {
        let value = if self.by_ratio { ratio } else { (ratio - 1.0) * 100.0 };
        self.left + (WIDTH - self.left - RIGHT) * self.scale.share(value)
    }

    fn draw(&self, svg: &mut String, bottom: f64, compared: &Differences) {
        let (low, high) = (self.x(1.0 / (1.0 + compared.margin)), self.x(1.0 + compared.margin));
        let (wide, tall) = ((high - low).max(1.0), bottom - TOP);
        let _ =
            writeln!(svg, "<rect class=\"band\" x=\"{low:.1}\" y=\"{TOP}\" width=\"{wide:.1}\" height=\"{tall:.1}\"/>");
        for (value, name) in &self.scale.ticks {
            let (x, sign) = if self.by_ratio {
                (self.x(*value), "x")
            } else {
                (self.x(1.0 + value / 100.0), if *value > 0.0 { "+" } else { "" })
            };
            let _ = writeln!(svg, "<path class=\"rule\" d=\"M{x:.1} {TOP}V{bottom}\"/>");
            let _ = writeln!(svg, "<text class=\"at-middle\" x=\"{x:.1}\" y=\"{}\">{sign}{name}</text>", bottom + 16.0);
        }
        let (none, middle) = (self.x(1.0), f64::midpoint(self.left, WIDTH - RIGHT));
        let _ = writeln!(svg, "<path class=\"guide\" d=\"M{none:.1} {TOP}V{bottom}\"/>");
        let _ = writeln!(svg, "<text class=\"noted at-middle\" x=\"{none:.1}\" y=\"16\">no difference</text>");
        let name = if self.by_ratio { "candidate by baseline, as a factor" } else { "difference in percent" };
        let _ = writeln!(
            svg,
            "<text class=\"axis-name at-middle\" x=\"{middle:.1}\" y=\"{}\">{name}</text>",
            bottom + 34.0
        );
    }

    fn row(&self, svg: &mut String, top: f64, row: &Difference) {
        let (x, y) = (self.x(row.ratio), top + 11.0);
        write_lines(svg, "axis-name at-end", [self.left - 10.0, y + 4.0], &lines_of(&row.name, NAME_COLUMNS));
        let (mut from, mut to) = (x, x);
        if let Some(interval) = row.interval {
            (from, to) = (self.x(interval.low), self.x(interval.high));
            let _ = writeln!(
                svg,
                "<path class=\"whisker c1\" d=\"M{from:.1} {y}H{to:.1}M{from:.1} {}v8M{to:.1} {}v8\"/>",
                y - 4.0,
                y - 4.0
            );
        }
        let title = format!("{}: {}, {}", row.name, change(row.ratio), interval_words(row.interval));
        let _ = writeln!(
            svg,
            "<path class=\"dot c1\" transform=\"translate({x:.1} {y})\" d=\"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z\">\
             <title>{}</title></path>",
            escaped_text(&title)
        );
        let middle = f64::midpoint(from, to);
        let words = format!("{}{}", change(row.ratio), if row.interval.is_some() { "" } else { ", no interval" });
        let half = CHARACTER * words.chars().count() as f64 / 2.0;
        let middle = middle.clamp(self.left + half, (WIDTH - 4.0 - half).max(self.left + half));
        let _ = writeln!(
            svg,
            "<text class=\"near at-middle\" x=\"{middle:.1}\" y=\"{}\">{}</text>",
            y + 16.0,
            escaped_text(&words)
        );
    }
}
