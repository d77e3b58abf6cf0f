//! A contrast as a waterfall: the time that each level needs for a block, and its difference to the one before.

use mindful_core::result::{ContrastSummary, LevelSummary, Summary};

use crate::drawing::bars::{Bar, Bars};
use crate::drawing::frame::{Drawing, Heading};
use crate::drawing::scale::Unit;
use crate::figure::{number, time_us};

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
