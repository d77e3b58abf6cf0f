//! Strips: several figures above each other on one axis of time, with events marked through all of them.

use std::fmt::Write as _;

use super::frame::{CHARACTER, Drawing, Heading, Svg, WIDTH};
use super::scale::{Scale, Unit, drawable};
use crate::table::Side::Right;
use crate::table::Table;

const LEFT: f64 = 74.0;
const RIGHT: f64 = 16.0;
const STRIP: f64 = 62.0;
/// Height above all strips for the names of marks.
const ABOVE: f64 = 14.0;
/// Above each strip its name and legend.
const HEAD: f64 = 24.0;
/// A line of a legend that does not fit next to the name.
const LEGEND: f64 = 15.0;

#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub name: String,
    /// A figure a column; `None` if unknown.
    pub values: Vec<Option<f64>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Strip {
    pub name: String,
    pub unit: Unit,
    /// Its figures; on top of each other where they are parts of a whole.
    pub layers: Vec<Layer>,
    pub stacked: bool,
    pub level: Option<(f64, String)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub span_s: [f64; 2],
    pub name: String,
    /// Whether another part begins here, which is marked before all else.
    pub edge: bool,
}

impl Event {
    /// Something within a part.
    pub(crate) fn new(span_s: [f64; 2], name: &str) -> Self {
        Self { span_s, name: name.to_owned(), edge: false }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Strips {
    pub heading: Heading,
    /// Begin and end of each column, s.
    pub columns: Vec<[f64; 2]>,
    /// From top to bottom.
    pub rows: Vec<Strip>,
    pub events: Vec<Event>,
}

impl Strips {
    pub(crate) fn drawing(self) -> Drawing {
        let end = self.columns.last().map_or(1.0, |column| column[1]);
        let time = Scale::linear([end].into_iter(), Unit::Elapsed, 6);
        let x = |s: f64| LEFT + (WIDTH - LEFT - RIGHT) * time.share(s);
        let (mut svg, mut bottom, mut tops) = (Svg::default(), ABOVE, Vec::new());
        for strip in &self.rows {
            let top = bottom + HEAD + LEGEND * strip.legend().1 as f64;
            tops.push(top);
            Placed { strip, top, columns: &self.columns, x: &x }.draw(&mut svg);
            bottom = top + STRIP;
        }
        for (s, name) in &time.ticks {
            svg.line("tick", [x(*s), bottom, x(*s), bottom + 4.0]);
            svg.text("at-middle", [x(*s), bottom + 17.0], name);
        }
        self.marks(&mut svg, &x, &tops);
        let table = self.table();
        Drawing::new(self.heading, svg, bottom + 24.0, table)
    }

    /// Marks events through all strips, which begin at `tops`: no line crosses their names.
    fn marks(&self, svg: &mut Svg, x: &dyn Fn(f64) -> f64, tops: &[f64]) {
        let bottom = tops.last().map_or(ABOVE, |top| top + STRIP);
        let mut named: Vec<[f64; 2]> = Vec::new();
        let (edges, others): (Vec<_>, Vec<_>) = self.events.iter().partition(|event| event.edge);
        for event in edges.into_iter().chain(others) {
            let [from, to] = event.span_s.map(x);
            if to - from > 1.5 {
                svg.rect("event-span", [from, ABOVE, to - from, bottom - ABOVE]);
            }
            let mut path = format!("M{from:.1} {ABOVE}v5");
            for top in tops {
                let _ = write!(path, "M{from:.1} {top}v{STRIP}");
            }
            svg.path(if event.edge { "edge" } else { "event" }, &path);
            let half = 3.0 + CHARACTER * event.name.chars().count() as f64 / 2.0;
            let place = [from - half, from + half];
            if named.iter().all(|other| place[1] <= other[0] || other[1] <= place[0]) {
                named.push(place);
                svg.text("noted at-middle", [from, 11.0], &event.name);
            }
        }
    }

    fn table(&self) -> Table {
        let layers = || self.rows.iter().flat_map(|strip| strip.layers.iter().map(move |layer| (strip, layer)));
        let title = |(strip, layer): (&Strip, &Layer)| {
            if layer.name.is_empty() { strip.name.clone() } else { format!("{}: {}", strip.name, layer.name) }
        };
        let titles: Vec<String> = std::iter::once("from".to_owned()).chain(layers().map(title)).collect();
        let mut table = Table::new(&titles.iter().map(|title| (title.as_str(), Right)).collect::<Vec<_>>());
        for (at, column) in self.columns.iter().enumerate() {
            let cells = layers().map(|(strip, layer)| strip.unit.cell(layer.values.get(at).copied().flatten()));
            table.row(std::iter::once(format!("{:.1} s", column[0])).chain(cells).collect());
        }
        table
    }
}

struct Placed<'a> {
    strip: &'a Strip,
    top: f64,
    columns: &'a [[f64; 2]],
    x: &'a dyn Fn(f64) -> f64,
}

impl Placed<'_> {
    fn draw(&self, svg: &mut Svg) {
        let (strip, right) = (self.strip, WIDTH - RIGHT);
        let level = strip.level.as_ref().map(|(value, _)| *value);
        let most = strip.layers.iter().enumerate().flat_map(|(at, _)| self.tops(at)).flatten();
        let scale = Scale::linear(most.chain(level), strip.unit, 2);
        let y = |value: f64| self.top + STRIP * (1.0 - scale.share(value));
        svg.rect("field", [LEFT, self.top, right - LEFT, STRIP]);
        svg.levels([LEFT, right], &scale, y);
        for at in (0..strip.layers.len()).rev() {
            let tops = self.tops(at);
            if strip.stacked {
                svg.path(&format!("area c{}", at % 6 + 1), &self.area(&tops, &y));
            }
            svg.path(&format!("line thin c{0} d{0}", at % 6 + 1), &self.step_path(&tops, &y));
        }
        if let Some(value) = level {
            svg.line("guide", [LEFT, y(value), right, y(value)]);
        }
        self.legend(svg);
    }

    /// The upper edge of a layer: its own figures, or the sum with all layers below it.
    fn tops(&self, layer: usize) -> Vec<Option<f64>> {
        let from = if self.strip.stacked { 0 } else { layer };
        let value = |layer: &Layer, at: usize| layer.values.get(at).copied().flatten().filter(|v| drawable(*v));
        let sum = |at: usize| {
            let values = self.strip.layers[from..=layer].iter().map(|layer| value(layer, at));
            values.fold(None, |all: Option<f64>, one| one.map_or(all, |one| Some(all.unwrap_or(0.0) + one)))
        };
        (0..self.columns.len()).map(sum).collect()
    }

    /// A line that keeps each figure through its column, and has gaps where nothing is known.
    fn step_path(&self, tops: &[Option<f64>], y: &dyn Fn(f64) -> f64) -> String {
        let mut path = String::new();
        let mut on = false;
        for (column, top) in self.columns.iter().zip(tops) {
            if let Some(top) = top {
                let (from, to, y) = ((self.x)(column[0]), (self.x)(column[1]), y(*top));
                let _ = if on { write!(path, "V{y:.1}H{to:.1}") } else { write!(path, "M{from:.1} {y:.1}H{to:.1}") };
            }
            on = top.is_some();
        }
        path
    }

    fn area(&self, tops: &[Option<f64>], y: &dyn Fn(f64) -> f64) -> String {
        let (mut path, ground) = (String::new(), self.top + STRIP);
        for (column, top) in self.columns.iter().zip(tops).filter_map(|(column, top)| Some((column, (*top)?))) {
            let (from, to) = ((self.x)(column[0]), (self.x)(column[1]));
            let _ = write!(path, "M{from:.1} {ground}V{:.1}H{to:.1}V{ground}z", y(top));
        }
        path
    }

    fn legend(&self, svg: &mut Svg) {
        let (names, lines) = self.strip.legend();
        let y = self.top - 8.0 - LEGEND * lines as f64;
        svg.text("axis-name", [LEFT, y], &self.strip.name);
        for (layer, name, [x, below]) in names {
            let (y, class) =
                (y + below, layer.map_or_else(|| "guide".to_owned(), |at| format!("line c{0} d{0}", at % 6 + 1)));
            svg.line(&class, [x, y - 4.0, x + 20.0, y - 4.0]);
            svg.text("", [x + 23.0, y], name);
        }
    }
}

fn width(name: &str) -> f64 {
    34.0 + CHARACTER * name.chars().count() as f64
}

/// A name in a legend with the number of its layer, and where it begins: from the left, and below the name of the strip.
type LegendName<'a> = (Option<usize>, &'a str, [f64; 2]);

impl Strip {
    /// The names of layers and of the level, and the lines that they take; none if they fit next to the name.
    fn legend(&self) -> (Vec<LegendName<'_>>, usize) {
        let layers = self.layers.iter().enumerate().filter(|(_, layer)| !layer.name.is_empty());
        let names = layers.map(|(at, layer)| (Some(at), layer.name.as_str()));
        let names: Vec<_> = names.chain(self.level.iter().map(|(_, name)| (None, name.as_str()))).collect();
        let all: f64 = names.iter().map(|(_, name)| width(name)).sum();
        let right = WIDTH - RIGHT;
        let fits = CHARACTER * self.name.chars().count() as f64 + 12.0 + all <= right - LEFT;
        let (mut x, mut lines) = if fits { (right - all, 0) } else { (LEFT, 1) };
        let mut placed = Vec::new();
        for (layer, name) in names {
            if !fits && x > LEFT && x + width(name) > right + 12.0 {
                (x, lines) = (LEFT, lines + 1);
            }
            placed.push((layer, name, [x, LEGEND * lines as f64]));
            x += width(name);
        }
        (placed, lines)
    }
}
