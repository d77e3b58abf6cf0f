//! Level rows over one axis: a bar or a mark in each, with a name before and words below.

use super::frame::{CHARACTER, Drawing, Heading, LINE, Svg, WIDTH, lines_of};
use super::plot::{Axis, MARKS};
use super::scale::{Unit, drawable};
use crate::table::Side::Left;
use crate::table::{Column, Table};

const ROW: f64 = 34.0;
const THICK: f64 = 15.0;
const RIGHT: f64 = 24.0;
/// Longest line of a name, characters.
const NAME_COLUMNS: usize = 30;

#[derive(Debug, Clone, Default)]
pub(crate) struct Bar {
    pub name: String,
    /// Begin and end of the bar; `None` without a bar, or if the figure is unknown.
    pub span: Option<[f64; 2]>,
    /// The place of a mark.
    pub mark: Option<f64>,
    pub interval: Option<[f64; 2]>,
    pub value: String,
    pub remark: String,
    /// Which colour it has, from 0.
    pub colour: usize,
    pub shaded: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Bars {
    pub heading: Heading,
    pub rows: Vec<Bar>,
    /// `None` for bars around the middle.
    pub axis: Option<Axis>,
    /// Figures that must be on the axis.
    pub reach: Vec<f64>,
    /// A line through all rows, and its name.
    pub guide: Option<(f64, &'static str)>,
    pub band: Option<[f64; 2]>,
    pub table: Table,
}

impl Bars {
    /// Bars from the left over an axis; `titles` are those of name, value and remark in the table.
    pub(crate) fn from_left(heading: Heading, rows: Vec<Bar>, unit: Unit, titles: [&str; 3]) -> Self {
        let axis = Some(Axis::linear("", unit));
        Self { axis, ..Self::around_middle(heading, rows, titles) }
    }

    /// Bars around the middle, as a funnel.
    pub(crate) fn around_middle(heading: Heading, rows: Vec<Bar>, titles: [&str; 3]) -> Self {
        let columns: [Column<Bar>; 3] = [
            (titles[0], Left, &|bar| bar.name.clone()),
            (titles[1], Left, &|bar| bar.value.clone()),
            (titles[2], Left, &|bar| bar.remark.clone()),
        ];
        let table = Table::of(&rows, &columns);
        Self { heading, rows, axis: None, reach: Vec::new(), guide: None, band: None, table }
    }

    pub(crate) fn drawing(self) -> Drawing {
        let ends = |bar: &Bar| [bar.span, bar.interval, bar.mark.map(|mark| [mark; 2])].into_iter().flatten().flatten();
        let values = self.rows.iter().flat_map(ends).chain(self.reach.iter().copied());
        let scale = self.axis.clone().unwrap_or_default().scale(values, 6);
        let longest = self.rows.iter().map(|bar| bar.name.chars().count().min(NAME_COLUMNS)).max().unwrap_or(0);
        let left = 20.0 + CHARACTER * longest as f64;
        let x = |value: f64| left + (WIDTH - left - RIGHT) * scale.share(value);
        let top = if self.guide.is_some_and(|(_, name)| !name.is_empty()) { 26.0 } else { 8.0 };
        let (mut rows, mut bottom) = (Svg::default(), top);
        for bar in &self.rows {
            let words = [bar.value.as_str(), bar.remark.as_str()].into_iter().filter(|words| !words.is_empty());
            let words = words.collect::<Vec<_>>().join(", ");
            let columns = ((WIDTH - left) / CHARACTER) as usize;
            let lines = [lines_of(&bar.name, NAME_COLUMNS), lines_of(&words, columns)];
            let high = ROW + LINE * (lines[0].len().max(lines[1].len()) - 1) as f64;
            if bar.shaded {
                rows.rect("band", [4.0, bottom - 4.0, WIDTH - 8.0, high]);
            }
            self.row(&mut rows, bar, &lines, &x, [left, bottom]);
            bottom += high;
        }
        let (mut svg, mut below) = (Svg::default(), 4.0);
        if let Some([from, to]) = self.band.map(|band| band.map(x)) {
            svg.rect("band", [from, top, (to - from).max(1.0), bottom - top]);
        }
        if let Some(axis) = &self.axis {
            for (value, name) in &scale.ticks {
                svg.line("rule", [x(*value), top, x(*value), bottom]);
                svg.text("at-middle", [x(*value), bottom + 16.0], name);
            }
            svg.text("axis-name at-middle", [f64::midpoint(left, WIDTH - RIGHT), bottom + 34.0], &axis.name);
            below = if axis.name.is_empty() { 24.0 } else { 40.0 };
        }
        svg.0 += &rows.0;
        if let Some((value, name)) = self.guide {
            svg.line("guide", [x(value), top, x(value), bottom]);
            svg.text("noted at-middle", [x(value), 16.0], name);
        }
        Drawing::new(self.heading, svg, bottom + below, self.table)
    }

    /// Draws a row at `y`, with the lines of its name and of the words below the bar.
    fn row(
        &self,
        svg: &mut Svg,
        bar: &Bar,
        [names, words]: &[Vec<String>; 2],
        x: &dyn Fn(f64) -> f64,
        [left, y]: [f64; 2],
    ) {
        let title = format!("{}: {}", bar.name, bar.value);
        let colour = format!("c{}", bar.colour % 6 + 1);
        let middle = f64::midpoint(left, WIDTH - RIGHT);
        svg.lines("axis-name at-end", [left - 8.0, y + 12.0], names);
        if let Some([from, to]) = bar.span.filter(|ends| ends.iter().all(|end| drawable(*end))) {
            let (from, to) = (x(from.min(to)), x(from.max(to)));
            let wide = (to - from).max(1.0);
            let faint = if bar.interval.is_some() { " faint" } else { "" };
            let from = if self.axis.is_some() { from } else { middle - wide / 2.0 };
            svg.mark(
                &format!("bar {colour}{faint}"),
                [from, y],
                &format!("M0 0h{wide:.1}v{THICK}h-{wide:.1}z"),
                &title,
            );
        }
        let ends = bar.interval.map(|ends| ends.map(x));
        if let Some(ends) = ends {
            svg.interval(if bar.mark.is_some() { "whisker c1" } else { "edge" }, ends, y + THICK / 2.0);
        }
        let (mut class, mut at) = if self.axis.is_some() { ("near", left + 2.0) } else { ("near at-middle", middle) };
        if let Some(mark) = bar.mark.map(x) {
            svg.mark(&format!("dot {colour}"), [mark, y + THICK / 2.0], MARKS[0], &title);
            let half = CHARACTER * words[0].chars().count() as f64 / 2.0;
            let [from, to] = ends.unwrap_or([mark; 2]);
            class = "near at-middle";
            at = f64::midpoint(from, to).clamp(left + half, (WIDTH - 4.0 - half).max(left + half));
        }
        svg.lines(class, [at, y + 27.0], words);
    }
}
