//! Contrasts: the time of each level for a block as a waterfall, and commits of a database against bare durable writes.

use mindful_core::result::{CommitContrastSummary, CommitRow, ContrastSummary, LevelSummary, Summary};

use crate::drawing::bars::{Bar, Bars};
use crate::drawing::frame::{Drawing, Heading};
use crate::drawing::plot::{Axis, Guide, Look, Plot, Point, Series};
use crate::drawing::scale::Unit;
use crate::figure::{number, time_us};
use crate::grouped;
use crate::panels::contrast::commit_table;

/// Colours of a first bar, of added and of saved time.
const FIRST: usize = 0;
const MORE: usize = 1;
const LESS: usize = 2;

/// The charts of a contrast; empty for another run.
pub(crate) fn drawings(summary: &Summary) -> Vec<Drawing> {
    let Some(contrast) = &summary.contrast else { return Vec::new() };
    let sessions = summary.steps.iter().find_map(|step| step.sessions);
    let levels = sessions.filter(|_| !contrast.all_cores.is_empty()).map(|sessions| levels(contrast, sessions));
    [levels, added(contrast)].into_iter().flatten().map(Bars::drawing).collect()
}

fn levels(contrast: &ContrastSummary, sessions: u32) -> Bars {
    let us = |level: &LevelSummary| f64::from(sessions) * 1e6 / level.iops;
    let bar = |(at, level): (usize, &LevelSummary)| {
        let here = us(level);
        let before = at.checked_sub(1).map(|before| us(&contrast.all_cores[before]));
        let differs = |before: f64| format!("{} ({:+.1} %)", signed(here - before), 100.0 * (here / before - 1.0));
        Bar {
            name: level.name.clone(),
            span: Some([before.unwrap_or(0.0), here]),
            value: format!("{} per block, {} IOPS", time_us(here), number(level.iops)),
            remark: before.map_or_else(String::new, differs),
            colour: before.map_or(FIRST, |before| if here < before { LESS } else { MORE }),
            ..Bar::default()
        }
    };
    let heading = Heading::new(
        "rungs",
        "Time for a block, level by level",
        format!("Time for a block with {sessions} sessions on all cores; each bar begins where the last one ends."),
        "The time for a block is the number of sessions divided by blocks per second.",
    );
    let rows = contrast.all_cores.iter().enumerate().map(bar).collect();
    Bars::from_left(heading, rows, Unit::Us, ["level", "time for a block", "compared with the level before"])
}

/// The parts of the added time, stacked.
fn added(contrast: &ContrastSummary) -> Option<Bars> {
    let (added, whole) = (contrast.added.as_ref()?, contrast.added_us_per_block?);
    // One round has no interval.
    contrast.differs().filter(|differs| *differs)?;
    let (name, title, colour) = if whole < 0.0 {
        ("the database needs less", "Time that a block takes less with a database", LESS)
    } else {
        ("the database adds", "What a database adds to a block", FIRST)
    };
    let parts =
        [("reads from storage", added.storage_us), ("CPU outside of reads", added.cpu_us), ("waits", added.waits_us)];
    let mut end = 0.0;
    let mut bars: Vec<Bar> = Vec::new();
    for (name, us) in parts {
        let begin = end;
        end += us;
        let share = Some(100.0 * us / whole).filter(|share| share.is_finite());
        let remark = share.map_or_else(String::new, |share| format!("{share:.0} % of it"));
        let colour = if us < 0.0 { LESS } else { MORE };
        let span = Some([begin, end]);
        bars.push(Bar { name: name.into(), span, value: signed(us), remark, colour, ..Bar::default() });
    }
    bars.push(Bar { name: name.into(), span: Some([0.0, whole]), value: signed(whole), colour, ..Bar::default() });
    let heading = Heading::new(
        "added",
        title,
        "Time of a block with the database minus that of a raw read of the same bytes, at equal concurrency.",
        "The parts add up to the last bar.",
    );
    Some(Bars::from_left(heading, bars, Unit::Us, ["part", "time a block", "share"]))
}

fn signed(us: f64) -> String {
    format!("{}{}", if us < 0.0 { "-" } else { "+" }, time_us(us.abs()))
}

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
pub(crate) fn commits(summary: &Summary) -> Option<Drawing> {
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
    Plot::stack(heading, &plots, commit_table(contrast))
}

fn plot(contrast: &CommitContrastSummary, name: &str, unit: Unit, level: bool, figure: FigureOfRow) -> Plot {
    let levels = contrast.rows.iter().filter(|row| level && row.name == LEVEL);
    let guides = levels.filter_map(|row| Some(Guide::Level(figure(row)?, row.name.clone()))).collect();
    let rows = contrast.rows.iter().filter(|row| !row.name.starts_with(BARE));
    let point = |row: &CommitRow| figure(row).map(|y| Point::new(f64::from(row.sessions), y));
    let series = grouped(rows.map(|row| (row.name.clone(), point(row)))).into_iter();
    let series =
        series.map(|(name, points)| Series { name, look: Look::Curve, points: points.into_iter().flatten().collect() });
    Plot {
        x: Axis { name: ACROSS.to_owned(), unit: Unit::Number, log: true },
        y: Axis::linear(name, unit),
        series: series.collect(),
        guides,
        ..Plot::default()
    }
}
