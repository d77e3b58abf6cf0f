//! The table of figures: the names they have in the summary, and the ratios that decide what they may be called.

mod cpu;
mod device;
mod plan;
mod reads;
mod work;
mod writes;

use mindful_analyze::StepAnalysis;
use mindful_core::metric::Counter;

/// A figure that can be explained.
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) formula: &'static str,
    /// The counters it is made of.
    pub(super) sources: &'static [Counter],
    pub(super) value: fn(&StepAnalysis) -> Option<f64>,
}

const GROWTH: &str = "growth of the counter from the first border of the window to its last, by the time between";

/// All figures, section by section.
pub(super) fn all() -> impl Iterator<Item = &'static Figure> {
    [plan::FIGURES, work::FIGURES, reads::FIGURES, device::FIGURES, writes::FIGURES, cpu::FIGURES].into_iter().flatten()
}
