//! Curves over two axes: lines with marks, bands, guides, names of points and a legend.

use std::fmt::Write as _;

use super::frame::{CHARACTER, Drawing, Heading, LINE, Svg, WIDTH, lines_of};
use super::room::{Area, FreeSpace};
use super::scale::{Scale, Unit, drawable};
use crate::table::Side::{Left, Right};
use crate::table::{Column, Table};

const LEFT: f64 = 74.0;
const RIGHT: f64 = 20.0;
const HEIGHT: f64 = 268.0;
/// Height of a field in a stack, and the distance to the next, with the name of that.
const STACKED_HEIGHT: f64 = 150.0;
const BETWEEN: f64 = 36.0;
/// Below the last field: the axis and its name.
const BELOW: f64 = 46.0;
const LEGEND: f64 = 18.0;
/// Longest line of a name in the legend, characters.
const LEGEND_COLUMNS: usize = 80;
const NAME: f64 = 15.0;
const STRANGE: usize = usize::MAX;
/// Places of a name at its point, the best first: its alignment, and offsets to the right and down.
const PLACES: [(&str, f64, f64); 8] = [
    ("near at-end", -5.0, -7.0),
    ("near", 6.0, -7.0),
    ("near at-middle", 0.0, -10.0),
    ("near", 6.0, 16.0),
    ("near at-end", -5.0, 16.0),
    ("near at-middle", 0.0, 19.0),
    ("near", 9.0, 4.0),
    ("near at-end", -9.0, 4.0),
];
/// Shapes, colours and dashes before they come again.
pub(crate) const LOOKS: usize = 6;
pub(super) const MARKS: [&str; LOOKS] = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M-3.6 -3.6h7.2v7.2h-7.2z",
    "M0 -5l4.8 8.4h-9.6z",
    "M0 -5.2l5.2 5.2l-5.2 5.2l-5.2 -5.2z",
    "M-4 -4l8 8M-4 4l8 -8",
    "M-5 0h10M0 -5v10",
];

#[derive(Debug, Clone, Default)]
pub(crate) struct Axis {
    pub name: String,
    pub unit: Unit,
    /// Whether equal ratios lie equally far apart.
    pub log: bool,
}

impl Axis {
    /// From 0, equal differences equally far apart.
    pub(crate) fn linear(name: &str, unit: Unit) -> Self {
        Self { name: name.to_owned(), unit, log: false }
    }

    pub(super) fn scale(&self, values: impl Iterator<Item = f64>, most: usize) -> Scale {
        if self.log { Scale::log(values, self.unit, most) } else { Scale::linear(values, self.unit, most) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// A line with a mark at each point.
    Curve,
    /// A thin line without marks: no measured points.
    Guide,
    /// A line that keeps each figure until the next.
    Steps,
    /// Marks without a line.
    Dots,
}

impl Look {
    const fn has_marks(self) -> bool {
        matches!(self, Self::Curve | Self::Dots)
    }

    /// Colour, dash and width of line `at`.
    fn line_class(self, at: usize) -> String {
        format!("line c{0} d{0}{1}", at % LOOKS + 1, if self == Self::Guide { " thin" } else { "" })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
    /// Its label; empty for none.
    pub label: String,
    /// Where `x` lies at least and at most, where that is known.
    pub wide: Option<[f64; 2]>,
    /// Where `y` lies at least and at most, where that is known.
    pub high: Option<[f64; 2]>,
}

impl Point {
    /// A point without a label.
    pub(crate) const fn new(x: f64, y: f64) -> Self {
        Self { x, y, label: String::new(), wide: None, high: None }
    }

    fn is_drawable(&self) -> bool {
        drawable(self.x) && drawable(self.y)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub name: String,
    pub look: Look,
    /// Its points in the order of the line.
    pub points: Vec<Point>,
}

#[derive(Debug, Clone)]
pub(crate) enum Guide {
    /// An upright line, with the interval it lies in.
    Upright(f64, Option<[f64; 2]>, String),
    /// A level line.
    Level(f64, String),
    /// A place on a curve.
    Spot(f64, f64, String),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Plot {
    pub heading: Heading,
    pub x: Axis,
    pub y: Axis,
    /// Unit of the labels of points.
    pub labels: &'static str,
    pub series: Vec<Series>,
    pub guides: Vec<Guide>,
}

impl Plot {
    pub(crate) fn drawing(self) -> Drawing {
        let (mut marks, above) = self.legend();
        let bottom = self.draw(&mut marks, above, HEIGHT, &self.x_scale(), true);
        let table = self.table();
        Drawing::new(self.heading, marks, bottom + BELOW, table)
    }

    /// Draws `plots` above each other with one legend; `None` without a plot. They have the same series, in the same order,
    /// and the same axis across. `table` has the figures of all.
    pub(crate) fn stack(heading: Heading, plots: &[Self], table: Table) -> Option<Drawing> {
        let first = plots.first()?;
        let x = first.x.scale(plots.iter().flat_map(Self::points).map(|point| point.x), 6);
        let (mut marks, mut above) = first.legend();
        for (at, plot) in (1..).zip(plots) {
            above = BETWEEN + plot.draw(&mut marks, above, STACKED_HEIGHT, &x, at == plots.len());
        }
        Some(Drawing::new(heading, marks, above - BETWEEN + BELOW, table))
    }

    /// Draws the field of `height`, all that is above it from `above` on, and below it the axis if that is `named`; returns
    /// where the field ends.
    fn draw(&self, svg: &mut Svg, above: f64, height: f64, x: &Scale, named: bool) -> f64 {
        let marked = self.guides.iter().filter(|guide| !matches!(guide, Guide::Level(..))).count();
        // Marked points are named above the field, so that no name lies over a curve.
        let top = above + NAME * marked as f64;
        let field = Field { plot: self, above, top, height, x: x.clone(), y: self.y_scale() };
        field.axes(svg, named);
        let (mut curves, mut room) = (Svg::default(), FreeSpace::new([LEFT, top - 2.0, WIDTH - 2.0, top + height]));
        field.curves(&mut curves, &mut room);
        self.guides.iter().for_each(|guide| room.add_line(STRANGE, field.guide_line(guide)));
        field.guides(svg, &mut room);
        svg.0 += &curves.0;
        field.names(svg, &mut room);
        top + height
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points).filter(|point| point.is_drawable())
    }

    fn x_scale(&self) -> Scale {
        let guides = self.guides.iter().flat_map(|guide| match guide {
            Guide::Upright(x, band, _) => vec![*x, band.map_or(*x, |band| band[1].min(x * 1.5))],
            Guide::Spot(x, ..) => vec![*x],
            Guide::Level(..) => Vec::new(),
        });
        let points = self.points().flat_map(|point| [point.x, point.wide.map_or(point.x, |ends| ends[1])]);
        self.x.scale(points.chain(guides), 6)
    }

    fn y_scale(&self) -> Scale {
        let guides = self.guides.iter().filter_map(|guide| match guide {
            Guide::Level(y, _) | Guide::Spot(_, y, _) => Some(*y),
            Guide::Upright(..) => None,
        });
        let points = self.points().flat_map(|point| {
            let [low, high] = point.high.unwrap_or([point.y; 2]);
            [point.y, low, high]
        });
        self.y.scale(points.chain(guides), 5)
    }

    /// The legend, and the top of the content below it.
    fn legend(&self) -> (Svg, f64) {
        let (mut svg, mut x, mut line) = (Svg::default(), 14.0, 0.0);
        let named: Vec<_> = self.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty()).collect();
        for (at, series) in &named {
            let label = lines_of(&series.name, LEGEND_COLUMNS);
            let longest = label.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            let wide = 42.0 + 1.1 * CHARACTER * longest as f64;
            if x > 14.0 && x + wide > WIDTH - 8.0 {
                (x, line) = (14.0, line + 1.0);
            }
            let y = 12.0 + LEGEND * line;
            if series.look != Look::Dots {
                svg.path(&series.look.line_class(*at), &format!("M{x:.1} {y:.1}h26"));
            }
            if series.look.has_marks() {
                svg.mark(&format!("key dot c{}", at % LOOKS + 1), [x + 13.0, y], MARKS[at % LOOKS], "");
            }
            svg.lines("", [x + 31.0, y + 4.0], &label);
            line += (LINE / LEGEND * (label.len() - 1) as f64).ceil();
            x += wide + 10.0;
        }
        line += if named.is_empty() { 0.0 } else { 1.0 };
        (svg, LEGEND * line + 34.0)
    }

    fn table(&self) -> Table {
        let measured = self.series.iter().filter(|series| series.look != Look::Guide);
        let points: Vec<_> =
            measured.flat_map(|series| series.points.iter().map(move |point| (series, point))).collect();
        let labelled = self.series.iter().flat_map(|series| &series.points).any(|point| !point.label.is_empty());
        let bands = self.points().any(|point| point.high.is_some() || point.wide.is_some());
        let range = |ends: [f64; 2], axis: &Axis| ends.map(|end| axis.unit.cell(Some(end))).join(" to ");
        let ranges = |point: &Point| {
            let ranges = [point.wide.map(|ends| range(ends, &self.x)), point.high.map(|ends| range(ends, &self.y))];
            ranges.into_iter().flatten().collect::<Vec<_>>().join("; ")
        };
        let columns: [(bool, Column<(&Series, &Point)>); 5] = [
            (self.series.len() > 1, ("curve", Left, &|(series, _)| series.name.clone())),
            (labelled, (self.labels, Left, &|(_, point)| point.label.clone())),
            (true, (&self.x.name, Right, &|(_, point)| self.x.unit.cell(Some(point.x)))),
            (true, (&self.y.name, Right, &|(_, point)| self.y.unit.cell(Some(point.y)))),
            (bands, ("from and to", Left, &|(_, point)| ranges(point))),
        ];
        Table::of_shown(&points, &columns)
    }
}

struct Field<'a> {
    plot: &'a Plot,
    above: f64,
    top: f64,
    height: f64,
    x: Scale,
    y: Scale,
}

impl Field<'_> {
    fn x(&self, value: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * self.x.share(value)
    }

    fn y(&self, value: f64) -> f64 {
        self.top + self.height * (1.0 - self.y.share(value))
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn axes(&self, svg: &mut Svg, named: bool) {
        let (right, bottom) = (WIDTH - RIGHT, self.bottom());
        svg.rect("field", [LEFT, self.top, right - LEFT, self.height]);
        svg.levels([LEFT, right], &self.y, |value| self.y(value));
        let mut before = f64::NEG_INFINITY;
        for (value, name) in &self.x.ticks {
            let (x, half) = (self.x(*value), width(name) / 2.0);
            svg.line("tick", [x, bottom, x, bottom + 4.0]);
            if x - half < before || !named {
                continue;
            }
            before = x + half + 6.0;
            let (class, x) = if x + half > WIDTH - 2.0 { ("at-end", WIDTH - 2.0) } else { ("at-middle", x) };
            svg.text(class, [x, bottom + 17.0], name);
        }
        svg.text("axis-name", [14.0, self.above - 10.0], &self.plot.y.name);
        if named {
            svg.text("axis-name at-end", [right, bottom + 36.0], &self.plot.x.name);
        }
    }

    fn guides(&self, svg: &mut Svg, room: &mut FreeSpace) {
        let bottom = self.bottom();
        let (mut words, mut line) = (Svg::default(), self.above + 3.0);
        // All names are on one side of their lines: a name between two lines could belong to either.
        let fits_right = |guide: &Guide| match guide {
            Guide::Upright(x, _, name) | Guide::Spot(x, _, name) => self.x(*x) + 5.0 + width(name) <= WIDTH - 4.0,
            Guide::Level(..) => true,
        };
        let all_right = self.plot.guides.iter().all(fits_right);
        // The name, and the start of the line to its point.
        let mut tell = |x: f64, name: &str| {
            // On the side where it fits, else as far right as possible.
            let wide = width(name);
            let (class, x) = match x {
                x if all_right => ("noted", x + 5.0),
                x if x - 5.0 - wide >= 4.0 => ("noted at-end", x - 5.0),
                x if x + 5.0 + wide <= WIDTH - 4.0 => ("noted", x + 5.0),
                _ => ("noted at-end", WIDTH - 4.0),
            };
            words.text(class, [x, line], name);
            line += NAME;
            line - NAME - 9.0
        };
        for guide in &self.plot.guides {
            match guide {
                Guide::Upright(value, band, name) => {
                    if let Some([low, high]) = band.map(|band| band.map(|end| self.x(end))) {
                        svg.rect("band", [low, self.top, high - low, self.height]);
                    }
                    let x = self.x(*value);
                    svg.line("guide", [x, tell(x, name), x, bottom]);
                }
                Guide::Level(value, name) => {
                    svg.line("guide", self.guide_line(guide));
                    let (class, x, y) = self.place_of_level(self.y(*value), width(name), room);
                    svg.text(class, [x, y], name);
                }
                Guide::Spot(x, y, name) => {
                    let (x, y) = (self.x(*x), self.y(*y));
                    svg.mark("spot", [x, y], "M-9 0a9 9 0 1 0 18 0a9 9 0 1 0 -18 0z", "");
                    svg.line("leader", [x, y - 9.0, x, tell(x, name)]);
                }
            }
        }
        svg.0 += &words.0;
    }

    /// Where the name of a level line at `y` is written: at the left end if no curve is there, else at the right one.
    fn place_of_level(&self, y: f64, wide: f64, room: &mut FreeSpace) -> (&'static str, f64, f64) {
        let (left, right) = (LEFT + 6.0, WIDTH - RIGHT - 6.0);
        let y = if y < self.top + 20.0 { y + 14.0 } else { y - 5.0 };
        let area = |from: f64| [from, y - 10.0, from + wide, y + 2.0];
        match room.find(STRANGE, &[area(left), area(right - wide)]) {
            Some(1) => ("noted at-end", right, y),
            _ => ("noted", left, y),
        }
    }

    /// Draws all curves and marks, and adds them to `room`, in which no name lies over them.
    fn curves(&self, svg: &mut Svg, room: &mut FreeSpace) {
        for (at, series) in self.plot.series.iter().enumerate() {
            let points: Vec<&Point> = series.points.iter().filter(|point| point.is_drawable()).collect();
            if series.look != Look::Dots {
                self.draw_curve(svg, at, series.look, &points);
            }
            for pair in points.windows(2) {
                room.add_line(at, [self.x(pair[0].x), self.y(pair[0].y), self.x(pair[1].x), self.y(pair[1].y)]);
            }
            for point in points.iter().filter(|_| series.look.has_marks()) {
                self.mark(svg, room, at, series, point);
            }
        }
    }

    fn names(&self, svg: &mut Svg, room: &mut FreeSpace) {
        for (at, series) in self.plot.series.iter().enumerate().filter(|(_, series)| series.look.has_marks()) {
            for point in series.points.iter().filter(|point| point.is_drawable() && !point.label.is_empty()) {
                self.name(svg, at, point, room);
            }
        }
    }

    /// The part of a guide in the field.
    fn guide_line(&self, guide: &Guide) -> [f64; 4] {
        match guide {
            Guide::Upright(x, ..) => [self.x(*x), self.top, self.x(*x), self.bottom()],
            Guide::Level(y, _) => [LEFT, self.y(*y), WIDTH - RIGHT, self.y(*y)],
            Guide::Spot(x, y, _) => [self.x(*x), self.top, self.x(*x), self.y(*y)],
        }
    }

    fn name(&self, svg: &mut Svg, at: usize, point: &Point, room: &mut FreeSpace) {
        let (x, y, wide) = (self.x(point.x), self.y(point.y), width(&point.label));
        let places = PLACES.map(|(class, right, down)| (class, x + right, y + down));
        let areas = places.map(|(class, x, y)| -> Area {
            let left = match class {
                "near at-end" => x - wide,
                "near at-middle" => x - wide / 2.0,
                _ => x,
            };
            [left, y - 10.0, left + wide, y + 2.0]
        });
        if let Some((class, x, y)) = room.find(at, &areas).map(|place| places[place]) {
            svg.text(class, [x, y], &point.label);
        }
    }

    fn draw_curve(&self, svg: &mut Svg, at: usize, kind: Look, points: &[&Point]) {
        let mut path = String::new();
        for (i, point) in points.iter().enumerate() {
            let (x, y) = (self.x(point.x), self.y(point.y));
            let _ = match (i, kind) {
                (0, _) => write!(path, "M{x:.1} {y:.1}"),
                (_, Look::Steps) => write!(path, "H{x:.1}V{y:.1}"),
                _ => write!(path, "L{x:.1} {y:.1}"),
            };
        }
        if !path.is_empty() {
            svg.path(&kind.line_class(at), &path);
        }
    }

    fn mark(&self, svg: &mut Svg, room: &mut FreeSpace, at: usize, series: &Series, point: &Point) {
        let (x, y, colour) = (self.x(point.x), self.y(point.y), at % LOOKS + 1);
        room.occupy([x - 4.5, y - 4.5, x + 4.5, y + 4.5]);
        let upright = point.high.map(|[low, high]| [x, self.y(low), x, self.y(high)]);
        let level = point.wide.map(|[low, high]| [self.x(low), y, self.x(high), y]);
        for ends in [upright, level].into_iter().flatten() {
            svg.line(&format!("whisker c{colour}"), ends);
            room.add_line(at, ends);
        }
        let plot = self.plot;
        let [x_words, y_words] = [(&plot.x, point.x), (&plot.y, point.y)].map(|(axis, v)| axis.unit.cell(Some(v)));
        let label = match (point.label.as_str(), plot.labels) {
            ("", _) => String::new(),
            ("1", "sessions") => "1 session: ".to_owned(),
            (label, labels) => format!("{label} {labels}: "),
        };
        let title = format!("{}: {label}{}, {}", series.name, x_words, y_words);
        svg.mark(&format!("dot c{colour}"), [x, y], MARKS[at % LOOKS], &title);
    }
}

fn width(text: &str) -> f64 {
    CHARACTER * text.chars().count() as f64
}
