//! Commits of a database against bare durable writes, in one picture: commits per second, their p99 and commits per sync
//! against sessions, with the level of one bare write at a time.

use mindful_core::result::{CommitContrastSummary, CommitRow, Summary};

use crate::drawing::frame::{Drawing, Heading};
use crate::drawing::plot::{Axis, Guide, Look, Plot, Point, Series};
use crate::drawing::scale::Unit;
use crate::figure::{UNKNOWN, number, time_us};
use crate::grouped;

/// Prefix of the names of bare writes, and the way that is drawn as a level.
const BARE: &str = "bare";
const LEVEL: &str = "bare, fdatasync";
const ACROSS: &str = "sessions, or writes in flight";

type FigureOfRow = fn(&CommitRow) -> Option<f64>;

/// The drawn figures, from top to bottom: name, unit, and whether a bare write has a level there.
const FIGURES: [(&str, Unit, bool, FigureOfRow); 3] = [
    ("commits per second", Unit::Number, true, |row| Some(row.commits_per_s)),
    ("99th percentile of a commit", Unit::Us, true, |row| row.p99_us),
    ("commits per sync", Unit::Number, false, |row| row.commits_per_sync),
];

/// The picture of a contrast of commits; `None` for another run, and without commits.
pub(crate) fn drawing(summary: &Summary) -> Option<Drawing> {
    let contrast = summary.commits.as_ref()?;
    let plots = FIGURES.map(|(name, unit, level, figure)| plot(contrast, name, unit, level, figure));
    let plots: Vec<Plot> = plots.into_iter().filter(|plot| plot.series.iter().any(|s| !s.points.is_empty())).collect();
    let heading = Heading::new(
        "commits",
        "Commits against bare durable writes",
        "Commits per second, their 99th percentile and commits per sync, by sessions of the database or writes in flight.",
        "The level line is one bare overwrite of 8 KiB at a time, each followed by fdatasync. Commits rise above it where \
         several of them share a sync.",
    );
    Plot::stack(heading, &plots, rows(contrast))
}

fn plot(contrast: &CommitContrastSummary, name: &str, unit: Unit, level: bool, figure: FigureOfRow) -> Plot {
    let levels = contrast.rows.iter().filter(|row| level && row.name == LEVEL);
    let guides = levels.filter_map(|row| Some(Guide::Level(figure(row)?, row.name.clone()))).collect();
    let rows = contrast.rows.iter().filter(|row| !row.name.starts_with(BARE));
    let point = |row: &CommitRow| figure(row).map(|y| Point::new(f64::from(row.sessions), y));
    let series = grouped(rows.map(|row| (row.name.clone(), point(row)))).into_iter();
    let series =
        series.map(|(name, points)| Series { name, look: Look::Curve, points: points.into_iter().flatten().collect() });
    let series = series.collect();
    Plot {
        heading: Heading::default(),
        x: Axis { name: ACROSS.to_owned(), unit: Unit::Number, log: true },
        y: Axis::linear(name, unit),
        labels: "",
        series,
        guides,
    }
}

fn rows(contrast: &CommitContrastSummary) -> Vec<Vec<String>> {
    let titles = ["way", ACROSS].into_iter().chain(FIGURES.map(|(name, ..)| name)).map(str::to_owned).collect();
    let row = |row: &CommitRow| {
        let figures = FIGURES.map(|(_, unit, _, figure)| match figure(row) {
            None => UNKNOWN.to_owned(),
            Some(us) if unit == Unit::Us => time_us(us),
            Some(value) => number(value),
        });
        [row.name.clone(), row.sessions.to_string()].into_iter().chain(figures).collect()
    };
    std::iter::once(titles).chain(contrast.rows.iter().map(row)).collect()
}
