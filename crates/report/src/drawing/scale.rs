//! From a figure to its place on an axis, with round ticks.

use crate::figure::{UNKNOWN, format_whole, number, time_us};
use crate::heat::axis;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    #[default]
    /// A number, its unit in the name of the axis.
    Number,
    /// A length of time in us, named with a fitting unit.
    Us,
    /// An instant in s since the begin.
    Elapsed,
}

impl Unit {
    /// A figure of this unit in a table.
    pub(crate) fn cell(self, value: Option<f64>) -> String {
        value.map_or_else(|| UNKNOWN.to_owned(), if self == Self::Us { time_us } else { number })
    }
}

/// Figures larger than this are of a spoilt record: they are not drawn.
const LARGEST: f64 = 1e15;

/// Whether `value` has a place on any axis.
pub(crate) fn drawable(value: f64) -> bool {
    value.is_finite() && value.abs() <= LARGEST
}

#[derive(Debug, Clone)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    /// Figures to name, with their names.
    pub ticks: Vec<(f64, String)>,
}

impl Scale {
    /// From 0, or the least where that is below it, to the first tick above all of `values`; about `most` ticks.
    pub(crate) fn linear(values: impl Iterator<Item = f64>, unit: Unit, most: usize) -> Self {
        let (low, high) =
            values.filter(|value| drawable(*value)).fold((0.0_f64, 0.0_f64), |(a, b), v| (a.min(v), b.max(v)));
        let high = if high > low { high } else { low + 1.0 };
        if unit == Unit::Elapsed {
            return Self { low, high, log: false, ticks: axis::instants(high, most) };
        }
        let (divisor, name) = divisor(unit, high.max(-low));
        let step = nice((high - low) / divisor / most as f64);
        let (first, last) = ((low / divisor / step).floor() as i64, (high / divisor / step - 1e-9).ceil() as i64);
        let tick = |i: i64| (i as f64 * step * divisor, format!("{}{name}", named(i as f64 * step, step)));
        let ticks: Vec<_> = (first..=last).map(tick).collect();
        Self { low: first as f64 * step * divisor, high: last as f64 * step * divisor, log: false, ticks }
    }

    /// By ratio, over the positive ones of `values`.
    pub(crate) fn log(values: impl Iterator<Item = f64>, unit: Unit, most: usize) -> Self {
        let positive = values.filter(|value| drawable(*value) && *value > 1e-6);
        let (low, high) = positive.fold((f64::INFINITY, 0.0_f64), |(a, b), v| (a.min(v), b.max(v)));
        let (low, high) = if low <= high { (low / 1.15, high * 1.15) } else { (1.0, 10.0) };
        let tick = |value: f64| {
            let name = if unit == Unit::Us { axis::latency(value * 1e3) } else { named(value, value) };
            (value, name)
        };
        let ticks = axis::latencies_ns(low, high, most).into_iter().filter(|v| (low..=high).contains(v)).map(tick);
        Self { low, high, log: true, ticks: ticks.collect() }
    }

    /// Position of `value`, from 0 at the low end to 1 at the high end; values beyond an end are at that end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(1e-9) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }
}

/// The divisor of figures up to `most` on their axis, and the name of the resulting unit.
fn divisor(unit: Unit, most: f64) -> (f64, &'static str) {
    match unit {
        Unit::Us if most < 1_000.0 => (1.0, " us"),
        Unit::Us if most < 1e6 => (1e3, " ms"),
        Unit::Us => (1e6, " s"),
        Unit::Number | Unit::Elapsed if most >= 1e9 => (1e9, " G"),
        Unit::Number | Unit::Elapsed if most >= 1e7 => (1e6, " M"),
        Unit::Number | Unit::Elapsed => (1.0, ""),
    }
}

/// The next of 1, 2 and 5 times a power of ten from `least` on.
fn nice(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|step| *step >= least * 0.999).unwrap_or(power * 10.0)
}

fn named(value: f64, step: f64) -> String {
    let decimals = (-step.max(1e-9).log10().floor()).max(0.0) as usize;
    if decimals > 0 {
        return format!("{value:.decimals$}");
    }
    format!("{}{}", if value <= -0.5 { "-" } else { "" }, format_whole(value.abs().round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scale: &Scale) -> String {
        scale.ticks.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn ticks_are_round_and_hold_all_figures() {
        let linear = |values: &[f64], unit| names(&Scale::linear(values.iter().copied(), unit, 5));
        assert_eq!(linear(&[12.0, 64_211.0], Unit::Number), "0 | 20,000 | 40,000 | 60,000 | 80,000");
        assert_eq!(linear(&[310.0, 1_200.0], Unit::Us), "0.0 ms | 0.5 ms | 1.0 ms | 1.5 ms");
        assert_eq!(linear(&[0.35], Unit::Number), "0.0 | 0.1 | 0.2 | 0.3 | 0.4");
        assert_eq!(linear(&[], Unit::Number), "0.0 | 0.2 | 0.4 | 0.6 | 0.8 | 1.0");
        assert_eq!(linear(&[-3.0, 4.0], Unit::Number), "-4 | -2 | 0 | 2 | 4");
        assert_eq!(names(&Scale::log([90.0, 40_000.0].into_iter(), Unit::Us, 5)), "100 us | 1 ms | 10 ms");
    }

    #[test]
    fn no_figure_breaks_a_scale() {
        for values in [[f64::NAN, f64::INFINITY], [1e308, -1e308], [0.0, 0.0], [5e-324, 1e15], [-1.0, -2.0]] {
            for scale in
                [Scale::linear(values.into_iter(), Unit::Us, 5), Scale::log(values.into_iter(), Unit::Number, 5)]
            {
                assert!(scale.ticks.len() < 20, "{values:?}: {:?}", scale.ticks);
                assert!(values.into_iter().filter(|v| drawable(*v)).all(|v| (0.0..=1.0).contains(&scale.share(v))));
            }
        }
    }
}
