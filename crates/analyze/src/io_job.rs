//! A job on files: the load of each step, its small and large I/Os, and the best figures.

use mindful_core::contract::file_read::{FileOption, InFlight, ONE_AT_A_TIME};
use mindful_core::plan::units;
use mindful_core::record::run::{Point, Run, StepHead};
use mindful_core::result::{IoBest, IoJobSummary, OpSummary, StepSummary};

use crate::figures::blocks;

/// Key of [`Point::values`]: small I/Os in flight, of all sessions together.
pub const SMALL: &str = "small";
/// Key: large reads in flight, of all sessions together.
pub const LARGE: &str = "large";
/// Setting of the highest mean latency a calibration allows.
pub(crate) const LIMIT: &str = "limit";

/// Small I/Os of a step: reads and writes of blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Small {
    pub per_s: f64,
    pub mean_us: f64,
    /// Median latency of the reads, or of the writes where there are no reads, us.
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
}

/// `(small, large)` I/Os in flight at `point`; `None` if it is not a step of a job on files.
pub fn load(point: &Point) -> Option<(u32, u32)> {
    Some((point.number(SMALL)?, point.number(LARGE)?))
}

/// Figures of small I/Os; `None` without any.
pub fn small(step: &StepSummary) -> Option<Small> {
    let kinds = || [&step.ops.select, &step.ops.update].into_iter().flatten().filter(|op| op.count > 0);
    let first: &OpSummary = kinds().next()?;
    let per_s: f64 = kinds().map(|op| op.per_s).sum();
    let summed: Option<f64> = kinds().map(|op| Some(op.mean_us? * op.per_s)).sum();
    Some(Small { per_s, mean_us: summed? / per_s, p50_us: first.p50_us, p99_us: first.p99_us })
}

/// Figures of large reads; `None` without any.
pub fn large(step: &StepSummary) -> Option<&OpSummary> {
    step.ops.scan.as_ref().filter(|op| op.count > 0)
}

pub fn large_bytes(run: &Run) -> Option<u64> {
    run.head.settings.parse(FileOption::LargeSize.name(), units::parse_bytes).ok().flatten()
}

/// Whether bare files were read: they have no row layout that could be wrong.
pub(crate) fn on_files(run: &Run) -> bool {
    run.description.as_ref().is_some_and(|description| description.files)
}

/// Whether the sessions of a step can keep more than one I/O in flight: not where they read one block at a time.
pub(crate) fn takes_iodepth(run: &Run, head: &StepHead) -> bool {
    let described = || run.description.as_ref()?.facts.get(FileOption::Io.name());
    on_files(run)
        && head.point.values.get(FileOption::Io.name()).or_else(described).is_none_or(|io| io != ONE_AT_A_TIME)
}

/// I/Os that each session of a step keeps in flight; `None` for engines without an iodepth.
pub(crate) fn in_flight(run: &Run, head: &StepHead) -> Option<InFlight> {
    let facts = &run.description.as_ref()?.facts;
    let reported = facts.get(FileOption::Iodepth.name())?;
    // Even if the plan sets them.
    if !takes_iodepth(run, head) {
        return Some(InFlight { small: 1, large: 0 });
    }
    if let Some((small, large)) = load(&head.point) {
        let sessions = u32::try_from(head.placements.len()).ok().filter(|sessions| *sessions > 0)?;
        return Some(InFlight { small: small / sessions, large: large / sessions });
    }
    let here = |key: &str| head.point.values.get(key);
    let large = here(FileOption::LargeIodepth.name())
        .or_else(|| facts.get(FileOption::LargeIodepth.name()))
        .and_then(|large| large.parse().ok());
    Some(InFlight {
        small: here(FileOption::Iodepth.name()).unwrap_or(reported).parse().ok()?,
        large: large.unwrap_or(0),
    })
}

/// The iodepth of a step and the length of each of these I/Os: of a block, or of a large read where there are no others.
pub(crate) fn iodepth(run: &Run, head: &StepHead) -> Option<(u32, u64)> {
    match in_flight(run, head)? {
        InFlight { small: 0, large } => {
            Some((large, head.point.bytes(FileOption::LargeSize.name()).or_else(|| large_bytes(run))?))
        }
        InFlight { small, .. } => Some((small, blocks::step_block_bytes(run, head)?)),
    }
}

/// The best of the steps of `run`; `None` if they are not a job on files.
pub(crate) fn best(run: &Run, steps: &[StepSummary]) -> Option<IoJobSummary> {
    let at: Vec<_> = steps.iter().filter_map(|step| Some((step, load(&step.point)?))).collect();
    if at.is_empty() {
        return None;
    }
    let limit = run.head.settings.parse(LIMIT, units::parse_duration).ok().flatten();
    let limit_us = limit.map(|limit| limit.as_secs_f64() * 1e6);
    let within = |small: &Small| limit_us.is_none_or(|limit| small.mean_us <= limit);
    let reported = |step: &StepSummary, (small, large), value, mean_us, p99_us| IoBest {
        value,
        mean_us,
        p99_us,
        small,
        large,
        span: step.point.values.get(FileOption::Span.name()).cloned(),
    };
    let small_figures = || at.iter().filter_map(|(step, load)| Some((*step, *load, small(step)?)));
    let rates = small_figures().filter(|(.., small)| within(small));
    let most_small = rates.max_by(|a, b| a.2.per_s.total_cmp(&b.2.per_s));
    let least_us = small_figures().min_by(|a, b| a.2.mean_us.total_cmp(&b.2.mean_us));
    let large_figures = at.iter().filter_map(|(step, load)| Some((*step, *load, large(step)?)));
    let most_large = large_figures.max_by(|a, b| a.2.per_s.total_cmp(&b.2.per_s));
    let mib = large_bytes(run).map(|bytes| bytes as f64 / f64::from(1 << 20));
    Some(IoJobSummary {
        limit_us,
        most_small_per_s: most_small.map(|(step, load, s)| reported(step, load, s.per_s, Some(s.mean_us), s.p99_us)),
        most_large_mib_per_s: most_large
            .zip(mib)
            .map(|((step, load, op), mib)| reported(step, load, op.per_s * mib, op.mean_us, op.p99_us)),
        least_small_us: least_us.map(|(step, load, s)| reported(step, load, s.mean_us, Some(s.mean_us), s.p99_us)),
    })
}
