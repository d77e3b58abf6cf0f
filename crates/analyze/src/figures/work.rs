//! Work of the sessions in the window, and the realised shares of its choices.

use mindful_core::contract::slice::{SliceReport, Tally};
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::StepRecord;
use mindful_core::result::ChoicesSummary;
use mindful_core::workload::OpKind;

use crate::figures::window::Window;

#[derive(Debug, Default)]
pub struct KindWork {
    /// Operations. Not whole where a slice lies partly outside the window.
    pub ops: f64,
    pub blocks: f64,
    pub busy_ns: f64,
    pub service: Recorder,
    /// Response times by the schedule (open loop only).
    pub response: Option<Recorder>,
}

#[derive(Debug)]
pub struct Work {
    kinds: [KindWork; 3],
    pub seconds: f64,
    pub sessions: u32,
    /// Time spent in slices by all sessions, us: operations, pauses, and the work loop itself.
    pub slice_us: f64,
    /// Average number of sessions inside a slice between the boundaries in the window: an operation that crosses a
    /// boundary counts on both sides. `None` without two such boundaries.
    pub occupied: Option<f64>,
    pub think_us: f64,
    /// Time spent waiting for another writer, us, if the engine reports it.
    pub writer_wait_us: Option<f64>,
    /// CPU used by the sessions, us, if the engine reports it for each slice.
    pub cpu_us: Option<f64>,
    pub ops_by_session: Vec<f64>,
}

fn occupied(step: &StepRecord, window: &Window) -> Option<f64> {
    let boundaries = &step.boundaries_us;
    let first = boundaries.partition_point(|us| *us < window.begin_us);
    let last = boundaries.partition_point(|us| *us <= window.end_us).checked_sub(1)?;
    let between_us = boundaries.get(last)?.saturating_sub(*boundaries.get(first)?);
    let occupied_us = step.occupied_us(first, last);
    (between_us > 0 && occupied_us > 0).then(|| occupied_us as f64 / between_us as f64)
}

impl Work {
    pub(crate) fn from_step(step: &StepRecord, window: &Window) -> Self {
        let sessions = step.head.session_count();
        let mut work = Self {
            kinds: Default::default(),
            seconds: window.seconds(),
            sessions: sessions as u32,
            slice_us: 0.0,
            occupied: occupied(step, window),
            think_us: 0.0,
            writer_wait_us: None,
            cpu_us: Some(0.0),
            ops_by_session: vec![0.0; step.head.placements.len()],
        };
        for merged in step.merged.slices.iter().filter(|merged| window.share_of(&merged.report, step) > 0.0) {
            work.add(&merged.report, merged.slice_us, 1.0);
            for (session, ops) in merged.ops_by_session() {
                work.ops_by_session[session as usize] += ops as f64;
            }
        }
        // Slices that lie wholly in the window come first: sums of whole numbers are exact in any order.
        let alone: Vec<_> = step.unmerged.iter().map(|slice| (slice, window.share_of(&slice.1, step))).collect();
        let (whole, cut): (Vec<_>, Vec<_>) = alone.into_iter().partition(|(_, share)| *share >= 1.0);
        for ((session, slice), share) in whole.into_iter().chain(cut).filter(|(_, share)| *share > 0.0) {
            work.add(slice, slice.end_us.saturating_sub(slice.begin_us), share);
            if let Some(ops) = work.ops_by_session.get_mut(*session as usize) {
                *ops += slice.total_ops() as f64 * share;
            }
        }
        work
    }

    /// Adds the share of a report that lies in the window, 0 to 1; `slice_us` is its time in slices.
    fn add(&mut self, slice: &SliceReport, slice_us: i64, share: f64) {
        for (kind, op) in self.kinds.iter_mut().zip(&slice.ops) {
            kind.ops += op.ops as f64 * share;
            kind.blocks += op.blocks as f64 * share;
            kind.busy_ns += op.latency.sum_ns as f64 * share;
            // A distribution cannot be cut: a slice lends it whole when most of it lies inside.
            if share >= 0.5 {
                kind.service.merge(&op.latency);
                if let Some(response) = &op.response {
                    kind.response.get_or_insert_with(Recorder::new).merge(response);
                }
            }
        }
        self.slice_us += slice_us as f64 * share;
        self.think_us += slice.think_us as f64 * share;
        if let Some(wait) = slice.writer_wait_us {
            *self.writer_wait_us.get_or_insert(0.0) += wait as f64 * share;
        }
        self.cpu_us = self.cpu_us.zip(slice.cpu_us).map(|(sum, cpu)| sum + cpu as f64 * share);
    }

    pub fn kind(&self, kind: OpKind) -> &KindWork {
        &self.kinds[kind as usize]
    }

    /// Whether there were scans, or large reads of files: they visit many blocks at once.
    pub(crate) fn scanned(&self) -> bool {
        self.kind(OpKind::Scan).ops > 0.0
    }

    pub(crate) fn ops(&self) -> f64 {
        self.kinds.iter().map(|kind| kind.ops).sum()
    }

    pub(crate) fn blocks(&self) -> f64 {
        self.kinds.iter().map(|kind| kind.blocks).sum()
    }

    /// Average number of sessions inside an operation: `X * R` of Little's law.
    pub fn busy_sessions(&self) -> f64 {
        self.kinds.iter().map(|kind| kind.busy_ns).sum::<f64>() / 1e9 / self.seconds
    }

    /// CPU of the sessions, cores' worth, if the engine reports it.
    pub(crate) fn cores(&self) -> Option<f64> {
        Some(self.cpu_us.filter(|us| *us > 0.0)? / 1e6 / self.seconds)
    }

    /// Average number of sessions inside a slice, operations counted to the slice they began in.
    pub(crate) fn working_sessions(&self) -> f64 {
        self.slice_us / 1e6 / self.seconds
    }

    /// Average number of sessions that were thinking.
    pub(crate) fn thinking_sessions(&self) -> f64 {
        self.think_us / 1e6 / self.seconds
    }

    /// Operations of the slowest, the median and the fastest session; `None` without sessions.
    pub fn fairness(&self) -> Option<(f64, f64, f64)> {
        let mut ops = self.ops_by_session.clone();
        ops.sort_by(f64::total_cmp);
        Some((*ops.first()?, ops[ops.len() / 2], *ops.last()?))
    }
}

/// Bits of a [`Tally`]'s cells, by name.
const CHOICES: [(u8, &str); 5] = [(1, "update"), (2, "scan"), (4, "hot_spot"), (8, "hot_schema"), (16, "think")];

/// The realised shares of all operations of the window's slices; `None` if the engine does not tally.
pub(crate) fn choices(step: &StepRecord) -> Option<ChoicesSummary> {
    let mut cells = Tally::default();
    for report in step.reports().filter(|report| report.index >= step.head.warmup_slices) {
        for (cell, count) in &report.tally.0 {
            cells.add(*cell, *count);
        }
    }
    let all: u64 = cells.0.iter().fold(0, |all, (_, count)| all.saturating_add(*count));
    let percent = |count: u64| 100.0 * count as f64 / all as f64;
    let with = |bit: u8| {
        cells.0.iter().filter(|(cell, _)| cell & bit != 0).fold(0_u64, |all, (_, count)| all.saturating_add(*count))
    };
    (all > 0).then(|| ChoicesSummary {
        operations: all,
        alone_pct: CHOICES.iter().map(|(bit, name)| ((*name).to_owned(), percent(with(*bit)))).collect(),
        joint_pct: cells.0.iter().map(|(cell, count)| (choice_name(*cell), percent(*count))).collect(),
    })
}

/// `update+hot_spot`; `select` for a read without further choices.
fn choice_name(cell: u8) -> String {
    let chosen: Vec<_> = CHOICES.iter().filter(|(bit, _)| cell & bit != 0).map(|(_, name)| *name).collect();
    if chosen.is_empty() { "select".to_owned() } else { chosen.join("+") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_named_by_all_it_holds() {
        assert_eq!(
            (choice_name(0), choice_name(5), choice_name(24)),
            ("select".into(), "update+hot_spot".into(), "hot_schema+think".into())
        );
    }
}
