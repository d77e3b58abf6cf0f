//! The object of a step's reads, and shares of it as text.

use mindful_core::record::run::{Run, StepRecord};

use crate::figures::blocks;
use crate::io_job;

/// Page-cache share above which it served all: the rest is below the precision of reports.
pub(crate) const ALL_CACHED: f64 = 0.999;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) visited: Visited,
    /// Length of a block in bytes; `None` if unknown.
    pub block_bytes: Option<u64>,
    /// Whether the access path sorts blocks, so that one request may read several.
    pub sorted: bool,
    pub simulated: bool,
    /// Whether another tool measured it.
    pub imported: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visited {
    /// Blocks of bare files, with no database and no cache of one before them.
    FileBlocks,
    DatabaseBlocks,
    /// Rows of a database. Claims about their blocks are not made.
    Rows,
}

impl Visited {
    fn in_run(run: &Run) -> Self {
        match blocks::no_layout(run) {
            _ if io_job::on_files(run) => Self::FileBlocks,
            Some(_) => Self::Rows,
            None => Self::DatabaseBlocks,
        }
    }
}

impl Subject {
    pub(super) fn on_files(self) -> bool {
        self.visited == Visited::FileBlocks
    }

    pub(crate) fn from_step(run: &Run, step: &StepRecord) -> Self {
        let sorted = step.head.workload.as_ref().is_some_and(|workload| !workload.access.is_index());
        let simulated = run.description.as_ref().is_some_and(|description| description.simulated);
        let block_bytes = blocks::step_block_bytes(run, &step.head).filter(|bytes| *bytes > 0);
        let imported = run.head.imported.is_some();
        Self { visited: Visited::in_run(run), block_bytes, sorted, simulated, imported }
    }
}

/// Share that the page cache served, in words.
pub(crate) fn part(phi: f64) -> String {
    if phi > ALL_CACHED { "all".to_owned() } else { percent(phi) }
}

pub(super) fn format_time(us: f64) -> String {
    if us < 1e3 { format!("{us:.0} us") } else { format!("{:.2} ms", us / 1e3) }
}

/// A share as text with a digit that matters.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let whole = (value - value.round()).abs() < 1e-6;
    match value.abs() {
        size if whole || size >= 99.95 => format!("{value:.0} %"),
        size if size < 0.1 => format!("{value:.2} %"),
        _ => format!("{value:.1} %"),
    }
}
