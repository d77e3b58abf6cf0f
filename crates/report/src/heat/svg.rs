//! The maps as pictures: one SVG each, which takes its colours from its page.

use std::fmt::Write as _;

use mindful_analyze::StepAnalysis;
use mindful_analyze::figures::heat::{Fineness, Heat, HeatMap};
use mindful_core::record::run::StepRecord;
use mindful_core::result::OpSummary;

use super::{Of, axis, heading, maps, peak, shade, slow, timed};
use crate::drawing::frame::{Svg, next_figure, scrolled};
use crate::figure::time_us;

const FINENESS: Fineness = Fineness { columns: 120, bands_a_decade: 20 };
const SHADES: usize = 8;
/// Ratio of the values of a shade and the one before it.
const FACTOR: f64 = 2.0;

/// The picture's size, and the map's place in it.
const SIZE: (f64, f64) = (520.0, 312.0);
const LEFT: f64 = 52.0;
const TOP: f64 = 22.0;
const WIDTH: f64 = 336.0;
const HEIGHT: f64 = 236.0;
/// Where the distribution over all time begins, and how wide its highest bar is.
const BARS: f64 = LEFT + WIDTH + 6.0;
const BARS_WIDTH: f64 = 56.0;
const APART: f64 = 13.0;
const SWATCH: f64 = 14.0;

/// Where many steps share a page.
const COARSER: Fineness = Fineness { columns: 48, bands_a_decade: 10 };

/// Adds a figure for each kind of operation of the step: both maps, and the cost of slow operations in words. `doubt` is printed across each map; `coarser` is for pages with many steps.
pub(crate) fn figures(
    html: &mut String,
    record: &StepRecord,
    step: &StepAnalysis,
    doubt: Option<&'static str>,
    coarser: bool,
) {
    let number = next_figure(html);
    for (of, map) in maps(record, step, if coarser { COARSER } else { FINENESS }) {
        let op = of.operations.and_then(|kind| step.summary.ops.get(kind));
        let what = timed(record);
        let title = format!("{}: {what} over time", of.name);
        let _ = write!(html, "<figure class=\"heat\">\n<h3>{title}</h3>\n<div class=\"pair\">\n");
        for heat in [Heat::Frequency, Heat::Intensity] {
            html.push_str(&scrolled(&format!("{title}: {}", heading(heat))));
            html.push_str(&Picture { map: &map, heat, op, of, number, doubt }.svg(&title));
            html.push_str("</div>\n");
        }
        let said = slow(step, of).unwrap_or_default();
        let _ = write!(html, "</div>\n<figcaption>{said}</figcaption>\n</figure>\n");
    }
}

/// Legend of the maps.
pub(crate) const READING: &str = "x: when an operation began. y: how long it took. Left: number of operations. Right: time spent in them. Each \
     shade is twice the one before. The bars next to a map are its sums over the window. Two bands are two kinds of \
     service, such as a cache and a device; the mean (dashed) describes neither. A band that is faint on the left and \
     strong on the right is rare but costs much time. A stall shows as slow operations, and as a gap after them if it is \
     longer than a column.";

struct Picture<'a> {
    map: &'a HeatMap,
    heat: Heat,
    op: Option<&'a OpSummary>,
    of: Of,
    number: usize,
    doubt: Option<&'static str>,
}

impl Picture<'_> {
    fn svg(&self, title: &str) -> String {
        let (map, heat) = (self.map, self.heat);
        let class = if heat == Heat::Frequency { "frequency" } else { "intensity" };
        let id = format!("{class}-{}-{}", self.number, self.of.id);
        let (width, height) = SIZE;
        let [low, high] = [map.edges_ns[0], map.edges_ns[map.bands()]].map(axis::latency);
        let until = axis::span(map.boundaries_s[map.columns()]);
        let mut svg = Svg::default();
        svg.rect("ground", [LEFT, TOP, WIDTH, HEIGHT]);
        self.cells(&mut svg);
        self.bars(&mut svg);
        self.axes(&mut svg);
        self.marks(&mut svg);
        self.legend(&mut svg);
        svg.watermark(self.doubt, [width / 2.0, height / 2.0]);
        format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n\
             <title id=\"{id}-t\">{title}: {}</title>\n<desc id=\"{id}-d\">Heat map of {until}, from {low} to {high}; {}.</desc>\n\
             {}</svg>\n",
            heading(heat),
            peak(map, heat),
            svg.0
        )
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
        svg.text("what", [LEFT, TOP - 8.0], heading(self.heat));
        let (low, high) = (self.map.edges_ns[0], self.map.edges_ns[self.map.bands()]);
        for ns in axis::latencies_ns(low, high, 9) {
            let y = self.height_of(ns);
            svg.line("grid", [LEFT, y, LEFT + WIDTH, y]);
            svg.text("end", [LEFT - 6.0, y + 4.0], &axis::latency(ns));
        }
        let end = self.map.boundaries_s[self.map.columns()];
        for (s, name) in axis::instants(end, 6) {
            let (x, y) = (LEFT + WIDTH * s / end, TOP + HEIGHT);
            svg.line("tick", [x, y, x, y + 4.0]);
            svg.text("middle", [x, y + 17.0], &name);
        }
    }

    /// Mean and percentiles across the map, each named at the side.
    fn marks(&self, svg: &mut Svg) {
        let Some(op) = self.op else { return };
        let reported = [("p50", op.p50_us), ("mean", op.mean_us), ("p99", op.p99_us), ("p99.9", op.p999_us)];
        let mut reported: Vec<_> = reported.into_iter().filter_map(|(name, us)| Some((name, us?))).collect();
        reported.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut below = f64::INFINITY;
        for (name, us) in reported {
            let y = self.height_of(us * 1e3);
            below = (y + 4.0).min(below - APART);
            let (class, wide) = (if name == "mean" { "mean" } else { "mark" }, BARS + BARS_WIDTH - LEFT);
            svg.mark(class, [LEFT, y], &format!("M0 0h{wide}"), &time_us(us));
            svg.text(&format!("{class}-name"), [LEFT + wide + 5.0, below], name);
        }
    }

    fn legend(&self, svg: &mut Svg) {
        let y = SIZE.1 - 16.0;
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
