//! The maps as pictures of a page, which has their colours.

use std::fmt::Write as _;

use mindful_analyze::StepAnalysis;
use mindful_analyze::figures::heat::{Fineness, Heat, HeatMap};
use mindful_core::record::run::StepRecord;
use mindful_core::result::OpSummary;

use super::{axis, heading, maps, peak, shade, slow, timed};
use crate::drawing::frame::{Drawing, Heading, Svg};
use crate::figure::time_us;
use crate::table::Table;

const FINENESS: Fineness = Fineness { columns: 120, bands_a_decade: 20 };
/// Where many steps share a page.
const COARSER: Fineness = Fineness { columns: 48, bands_a_decade: 10 };
const SHADES: usize = 8;
/// Ratio of the values of a shade and the one before it.
const FACTOR: f64 = 2.0;

/// The place of the map in the picture, and below it its axis and its legend.
const LEFT: f64 = 60.0;
const TOP: f64 = 8.0;
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 236.0;
const BELOW: f64 = 58.0;
/// Where the distribution over all time begins, and how wide its highest bar is.
const BARS: f64 = LEFT + WIDTH + 8.0;
const BARS_WIDTH: f64 = 70.0;
const APART: f64 = 13.0;
const SWATCH: f64 = 14.0;

const READING: &str = "x: when an operation began. y: how long it took. One map shows the number of operations, the other the \
     time spent in them. Each shade is twice the one before. The bars next to a map are its sums over the window. Two \
     bands are two kinds of service, such as a cache and a device; the mean (dashed) describes neither. A band that is \
     faint in the first map and strong in the second is rare but costs much time. A stall shows as slow operations, and \
     as a gap after them if it is longer than a column.";

/// Both maps of each kind of operation and wait of the step, with the cost of slow operations in words. The
/// first map has the words on how to read all. `coarser` is for pages with many steps.
pub(crate) fn drawings(
    record: &StepRecord,
    step: &StepAnalysis,
    doubt: Option<&'static str>,
    coarser: bool,
) -> Vec<Drawing> {
    let mut drawings = Vec::new();
    for (of, map) in maps(record, step, if coarser { COARSER } else { FINENESS }) {
        let op = of.operations.and_then(|kind| step.summary.ops.get(kind));
        let [low, high] = [map.edges_ns[0], map.edges_ns[map.bands()]].map(axis::latency);
        let until = axis::span(map.boundaries_s[map.columns()]);
        for heat in [Heat::Frequency, Heat::Intensity] {
            let title = format!("{}: {} over time: {}", of.name, timed(record), heading(heat));
            let slow = slow(step, of).unwrap_or_default();
            let caption = format!("{until}, from {low} to {high}; {}. {slow}", peak(&map, heat));
            let marks = Picture { map: &map, heat, op }.marks();
            let reading = if drawings.is_empty() { READING } else { "" };
            let heading = Heading::new("heat", title, caption.trim_end(), reading);
            drawings.push(Drawing::new(heading, marks, TOP + HEIGHT + BELOW, Table::new(&[])).doubted(doubt));
        }
    }
    drawings
}

struct Picture<'a> {
    map: &'a HeatMap,
    heat: Heat,
    op: Option<&'a OpSummary>,
}

impl Picture<'_> {
    fn marks(&self) -> Svg {
        let colours = if self.heat == Heat::Frequency { "frequency" } else { "intensity" };
        let mut svg = Svg(format!("<g class=\"{colours}\">\n"));
        svg.rect("field", [LEFT, TOP, WIDTH, HEIGHT]);
        self.cells(&mut svg);
        self.bars(&mut svg);
        self.axes(&mut svg);
        self.percentiles(&mut svg);
        self.legend(&mut svg);
        svg.0.push_str("</g>\n");
        svg
    }

    /// Cells of one shade are one path, with a stroke for each run of them in a column.
    fn cells(&self, svg: &mut Svg) {
        let map = self.map;
        let mut paths = [const { String::new() }; SHADES];
        let peak = map.peak_per_s(self.heat);
        for column in 0..map.columns() {
            let of = |band: &usize| shade(map.per_s(self.heat, column, *band), peak, SHADES, FACTOR);
            let bands: Vec<usize> = (0..map.bands()).collect();
            for run in bands.chunk_by(|a, b| of(a) == of(b)).filter(|run| of(&run[0]) > 0) {
                let _ = write!(paths[of(&run[0]) - 1], "M{column} {}v{}", run[0], run.len());
            }
        }
        let (across, up) = (WIDTH / map.columns() as f64, HEIGHT / map.bands() as f64);
        let (x, y) = (LEFT + across / 2.0, TOP + HEIGHT);
        let _ =
            writeln!(svg.0, "<g class=\"cells\" transform=\"translate({x:.2} {y}) scale({across:.4} {:.4})\">", -up);
        for (shade, path) in (1..).zip(paths).filter(|(_, path)| !path.is_empty()) {
            svg.path(&format!("s{shade}"), &path);
        }
        svg.0.push_str("</g>\n");
    }

    /// The distribution over the whole window, to a linear scale.
    fn bars(&self, svg: &mut Svg) {
        let shares = self.map.shares(self.heat);
        let most = shares.iter().copied().fold(0.0, f64::max);
        let up = HEIGHT / self.map.bands() as f64;
        let mut path = String::from("M0 0");
        for (band, share) in shares.iter().enumerate() {
            let _ = write!(path, "H{:.0}V{}", share / most * 1_000.0, band + 1);
        }
        let (y, across) = (TOP + HEIGHT, BARS_WIDTH / 1_000.0);
        let _ = writeln!(
            svg.0,
            "<path class=\"bars\" transform=\"translate({BARS} {y}) scale({across} {:.4})\" d=\"{path}H0z\"/>",
            -up
        );
    }

    fn axes(&self, svg: &mut Svg) {
        let (low, high) = (self.map.edges_ns[0], self.map.edges_ns[self.map.bands()]);
        for ns in axis::latencies_ns(low, high, 9) {
            let y = self.height_of(ns);
            svg.line("rule", [LEFT, y, LEFT + WIDTH, y]);
            svg.text("at-end", [LEFT - 6.0, y + 4.0], &axis::latency(ns));
        }
        let end = self.map.boundaries_s[self.map.columns()];
        for (s, name) in axis::instants(end, 6) {
            let (x, y) = (LEFT + WIDTH * s / end, TOP + HEIGHT);
            svg.line("tick", [x, y, x, y + 4.0]);
            svg.text("at-middle", [x, y + 17.0], &name);
        }
    }

    /// Mean and percentiles across the map, each named at the side.
    fn percentiles(&self, svg: &mut Svg) {
        let Some(op) = self.op else { return };
        let reported = [("p50", op.p50_us), ("mean", op.mean_us), ("p99", op.p99_us), ("p99.9", op.p999_us)];
        let mut reported: Vec<_> = reported.into_iter().filter_map(|(name, us)| Some((name, us?))).collect();
        reported.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut text_y = f64::NEG_INFINITY;
        for (name, us) in reported {
            let y = self.height_of(us * 1e3);
            text_y = (y + 4.0).max(text_y + APART);
            let (class, wide) = (if name == "mean" { "mean" } else { "mark" }, BARS + BARS_WIDTH - LEFT);
            svg.mark(class, [LEFT, y], &format!("M0 0h{wide}"), &time_us(us));
            svg.text("axis-name", [LEFT + wide + 5.0, text_y], name);
        }
    }

    fn legend(&self, svg: &mut Svg) {
        let y = TOP + HEIGHT + BELOW - 12.0;
        for shade in 1..=SHADES {
            let x = LEFT + SWATCH * (shade - 1) as f64;
            svg.line(&format!("swatch s{shade}"), [x, y, x + SWATCH, y]);
        }
        svg.text("", [LEFT + SWATCH * SHADES as f64 + 8.0, y + 4.0], &peak(self.map, self.heat));
    }

    /// Where a latency lies, from the top.
    fn height_of(&self, ns: f64) -> f64 {
        let (low, high) = (self.map.edges_ns[0], self.map.edges_ns[self.map.bands()]);
        let share = (ns / low).ln() / (high / low).ln();
        TOP + HEIGHT * (1.0 - share.clamp(0.0, 1.0))
    }
}
