//! Plots above each other over one axis, with one legend.

use super::frame::Drawing;
use super::plot::{BELOW, Plot};

/// Height of one field.
const HEIGHT: f64 = 150.0;
/// Between two fields: the name of the lower one.
const BETWEEN: f64 = 36.0;

/// All of `plots` have the same series, in the same order, and the same axis across.
#[derive(Debug, Clone)]
pub(crate) struct Stack {
    pub name: &'static str,
    pub title: String,
    pub caption: String,
    /// How to read it, in sentences; may be empty.
    pub notes: String,
    /// From top to bottom.
    pub plots: Vec<Plot>,
    /// The figures of all plots, titles first.
    pub rows: Vec<Vec<String>>,
}

impl Stack {
    /// The picture; `None` without a plot.
    pub(crate) fn drawing(self, doubt: Option<&'static str>) -> Option<Drawing> {
        let (first, last) = (self.plots.first()?, self.plots.len() - 1);
        let across = self.plots.iter().flat_map(Plot::points).map(|point| point.x);
        let x = first.x.scale(across, 6);
        let (mut content, mut above) = first.legend();
        let mut bottom = above;
        for (at, plot) in self.plots.iter().enumerate() {
            bottom = plot.draw(&mut content, above, HEIGHT, &x, at == last);
            above = bottom + BETWEEN;
        }
        Some(Drawing {
            name: self.name,
            title: self.title,
            caption: self.caption,
            notes: self.notes,
            content,
            height: bottom + BELOW,
            rows: self.rows,
            doubt,
        })
    }
}
