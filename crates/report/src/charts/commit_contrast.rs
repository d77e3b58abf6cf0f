//! Commits per second, their p99 and commits per sync against sessions, below the line of bare writes.

use mindful_core::result::{CommitContrastSummary, CommitRow, Summary};

use crate::drawing::frame::Drawing;
use crate::drawing::plot::{Axis, Guide, Look, Plot, Point, Series};
use crate::drawing::scale::Unit;

type FigureOfRow = fn(&CommitRow) -> Option<f64>;

/// The charts of commits; none of another run.
pub(crate) fn drawings(summary: &Summary, doubt: Option<&'static str>) -> Vec<Drawing> {
    let Some(contrast) = &summary.commits else { return Vec::new() };
    let charts: [(&'static str, &str, Unit, FigureOfRow); 3] = [
        ("commits", "Commits per second", Unit::Number, |row| Some(row.commits_per_s)),
        ("commit-p99", "99th percentile of a commit", Unit::Us, |row| row.p99_us),
        ("commits-per-sync", "Commits per sync", Unit::Number, |row| row.commits_per_sync),
    ];
    let drawn = charts.into_iter().filter_map(|(name, title, unit, figure)| plot(contrast, name, title, unit, figure));
    drawn.map(|plot| plot.drawing(doubt)).collect()
}

fn plot(
    contrast: &CommitContrastSummary,
    name: &'static str,
    title: &str,
    unit: Unit,
    figure: FigureOfRow,
) -> Option<Plot> {
    let mut series: Vec<Series> = Vec::new();
    let mut guides = Vec::new();
    for row in &contrast.rows {
        let Some(y) = figure(row) else { continue };
        if row.name.starts_with("bare") {
            if row.name == "bare, fdatasync" && name != "commits-per-sync" {
                guides.push(Guide::Level(y, row.name.clone()));
            }
            continue;
        }
        let point = Point { x: f64::from(row.sessions), y, label: String::new(), wide: None, high: None };
        match series.iter_mut().find(|series| series.name == row.name) {
            Some(series) => series.points.push(point),
            None => series.push(Series { name: row.name.clone(), look: Look::Curve, points: vec![point] }),
        }
    }
    (!series.is_empty()).then(|| Plot {
        name,
        title: title.to_owned(),
        caption: format!(
            "{title} by sessions of the database, or writes in flight; the level line is one bare write at a time."
        ),
        notes: String::new(),
        x: Axis { name: "sessions, or writes in flight".to_owned(), unit: Unit::Number, log: true },
        y: Axis::linear(title, unit),
        labels: "",
        series,
        guides,
    })
}
