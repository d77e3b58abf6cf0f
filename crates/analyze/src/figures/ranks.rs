//! The ranks that took a step together, each in figures.

use mindful_core::contract::metric::Counter;
use mindful_core::record::run::{RankRecord, Run, StepRecord};
use mindful_core::result::RankSummary;

use crate::figures::counters::Counters;
use crate::figures::cpu::client_cpus;
use crate::figures::window::Window;
use crate::figures::work::Work;

/// Each rank of `step`, or only the one that this part belongs to; empty for a run of one process.
pub(crate) fn ranks(
    run: &Run,
    step: &StepRecord,
    window: Option<&Window>,
    work: Option<&Work>,
    counters: &Counters,
) -> Vec<RankSummary> {
    let spans = step.spans();
    let first_us = spans.iter().flatten().map(|(begin, _)| *begin).min();
    let base = step.ranks.first().map_or(0, |rank| rank.first_session);
    let whole = is_whole(step);
    let of_rank = |rank: &RankRecord| {
        let begin = rank.first_session.saturating_sub(base) as usize;
        let own = begin..begin.saturating_add(rank.sessions as usize);
        let starts: Option<Vec<i64>> =
            spans.get(own.clone()).and_then(|own| own.iter().map(|span| span.map(|(begin, _)| begin)).collect());
        let last_us = starts.and_then(|starts| starts.into_iter().max());
        let skew_us = last_us.zip(first_us).map(|(last, first)| last.saturating_sub(first));
        let ms = |us: i64| us as f64 / 1e3;
        // The folder of a rank has its counters directly.
        let of_counters = || counters.rate(Counter::ClientCpuUs).map(|us| us / 1e6);
        let used = if whole { window.and_then(|window| cores(rank, step, window)) } else { of_counters() };
        RankSummary {
            rank: rank.rank,
            of: rank.ranks,
            host: rank.host.clone(),
            sessions: rank.sessions,
            ops_share: work.filter(|_| whole).and_then(|work| share(work, own)),
            client_cores: used,
            client_cpus: if whole { rank.cpus } else { client_cpus(run, counters) },
            start_skew_ms: skew_us.map(ms),
            clock_offset_ms: rank.clock_offset_us.map(ms),
            clock_within_ms: rank.clock_within_us.map(ms),
        }
    };
    step.ranks.iter().map(of_rank).collect()
}

pub(crate) fn is_whole(step: &StepRecord) -> bool {
    step.ranks.first().is_some_and(|rank| step.ranks.len() == rank.ranks as usize)
}

/// Cores' worth of CPU that other ranks used on the host of the first, the only one that samples its host.
pub(crate) fn beside_the_first(step: &StepRecord, window: &Window) -> f64 {
    let Some((first, others)) = step.ranks.split_first() else { return 0.0 };
    let beside = others.iter().filter(|rank| rank.host == first.host);
    beside.filter_map(|rank| cores(rank, step, window)).sum()
}

/// The rank that used the largest part of the CPUs it might use, and that part.
pub fn busiest(ranks: &[RankSummary]) -> Option<(&RankSummary, f64)> {
    let busy = |rank: &RankSummary| Some(rank.client_cores? / rank.client_cpus.filter(|cpus| *cpus > 0.0)?);
    let parts = ranks.iter().filter_map(|rank| Some((rank, busy(rank)?)));
    parts.max_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// Operations of the sessions `own` by those of all.
fn share(work: &Work, own: std::ops::Range<usize>) -> Option<f64> {
    let all: f64 = work.ops_by_session.iter().sum();
    let own: f64 = work.ops_by_session.get(own)?.iter().sum();
    (all > 0.0).then_some(own / all)
}

/// CPU of a rank's process over the window, from its readings at boundaries.
fn cores(rank: &RankRecord, step: &StepRecord, window: &Window) -> Option<f64> {
    let mut readings = rank.cpu_us.iter().filter(|(boundary, _)| window.has_boundary(*boundary));
    let ((first, before_us), (last, after_us)) = (readings.next()?, readings.next_back()?);
    let us = step.boundary_us(*last)?.saturating_sub(step.boundary_us(*first)?);
    (us > 0 && after_us >= before_us).then(|| (after_us - before_us) / us as f64)
}
