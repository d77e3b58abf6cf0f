//! The differences of two sides: each a point with its interval, beside the line of no difference.

use std::fmt::Write as _;

use crate::compared::{Compared, Row};
use crate::drawing::frame::{CHARACTER, Drawing, WIDTH};
use crate::drawing::scale::{Scale, Unit, drawable};
use crate::escape::escape_to;
use crate::markup::text;

/// Its name on the command line.
pub const NAME: &str = "differences";

const ROW: f64 = 34.0;
const TOP: f64 = 26.0;
const RIGHT: f64 = 24.0;
/// From this ratio on, or below its inverse, the axis goes by ratio.
const FAR: f64 = 4.0;

/// The chart; `None` where no difference has a place.
pub fn drawing(compared: &Compared, doubt: Option<&'static str>) -> Option<Drawing> {
    let rows: Vec<&Row> = compared.rows.iter().filter(|row| drawable(row.ratio) && row.ratio > 0.0).collect();
    if rows.is_empty() {
        return None;
    }
    let axis = Axis::of(&rows, compared.margin);
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = String::new();
    axis.draw(&mut svg, bottom, compared);
    for (at, row) in rows.iter().enumerate() {
        axis.row(&mut svg, TOP + ROW * at as f64, row);
    }
    Some(Drawing {
        name: NAME,
        title: "Differences, candidate by baseline".into(),
        about: format!(
            "{} against {}: to the right of the line the candidate has more of it, which is good of throughput and bad \
             of latency. A bar is the interval of the difference, how sure it is stands in the \
             table; the grey band is what does not matter here, up to {:.1} %.",
            compared.names[1],
            compared.names[0],
            compared.margin * 100.0
        ),
        content: svg,
        height: bottom + 40.0,
        rows: table(compared),
        doubt,
    })
}

/// The figures behind it, titles first.
pub(crate) fn table(compared: &Compared) -> Vec<Vec<String>> {
    let [baseline, candidate] = compared.names.clone();
    let titles = ["figure".to_owned(), baseline, candidate, "difference".into(), "interval".into(), "said".into()];
    let row = |row: &Row| {
        let (change, between) = (row.change(), row.between());
        vec![row.what.clone(), row.baseline.clone(), row.candidate.clone(), change, between, row.remark.clone()]
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
    fn of(rows: &[&Row], margin: f64) -> Self {
        let ends = |row: &&Row| row.interval.map_or([row.ratio; 2], |interval| [interval.low, interval.high]);
        let ratios = || rows.iter().flat_map(|row| [[row.ratio; 2], ends(row)].concat());
        let known = || ratios().filter(|ratio| drawable(*ratio) && *ratio > 0.0);
        let by_ratio = known().any(|ratio| !(1.0 / FAR..=FAR).contains(&ratio));
        let scale = if by_ratio {
            Scale::log(known().chain([0.5, 2.0]), Unit::Number, 8)
        } else {
            let edges = [-margin, margin].map(|share| share * 150.0);
            Scale::linear(known().map(|ratio| (ratio - 1.0) * 100.0).chain(edges), Unit::Number, 6)
        };
        let longest = rows.iter().map(|row| row.what.chars().count().min(32)).max().unwrap_or(0);
        Self { scale, by_ratio, left: 22.0 + CHARACTER * longest as f64 }
    }

    fn x(&self, ratio: f64) -> f64 {
        let value = if self.by_ratio { ratio } else { (ratio - 1.0) * 100.0 };
        self.left + (WIDTH - self.left - RIGHT) * self.scale.share(value)
    }

    fn draw(&self, svg: &mut String, bottom: f64, compared: &Compared) {
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

    fn row(&self, svg: &mut String, top: f64, row: &Row) {
        let (x, y) = (self.x(row.ratio), top + 11.0);
        let _ = writeln!(
            svg,
            "<text class=\"axis-name at-end\" x=\"{:.1}\" y=\"{}\">{}</text>",
            self.left - 10.0,
            y + 4.0,
            text(&escape_to(&row.what, 32))
        );
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
        let title = format!("{}: {}, {}", row.what, row.change(), row.between());
        let _ = writeln!(
            svg,
            "<path class=\"dot c1\" transform=\"translate({x:.1} {y})\" d=\"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z\">\
             <title>{}</title></path>",
            text(&title)
        );
        let middle = f64::midpoint(from, to);
        let words = format!("{}{}", row.change(), if row.interval.is_some() { "" } else { ", no interval" });
        let half = CHARACTER * words.chars().count() as f64 / 2.0;
        let middle = middle.clamp(self.left + half, (WIDTH - 4.0 - half).max(self.left + half));
        let _ = writeln!(
            svg,
            "<text class=\"near at-middle\" x=\"{middle:.1}\" y=\"{}\">{}</text>",
            y + 16.0,
            text(&words)
        );
    }
}
