//! The expected work of a session, drawn by core itself.

use std::collections::BTreeMap;

use mindful_core::contract::slice::{SliceReport, Tally};
use mindful_core::workload::draws::Draws;
use mindful_core::workload::{OpKind, Workload};

/// Operations and choices of session 0 on schema 1.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Operations by kind.
    pub ops: [u64; 3],
    /// Blocks visited by selects and updates.
    pub blocks: [u64; 2],
    /// Operations by the choices that fell.
    pub tally: BTreeMap<u8, u64>,
}

impl Work {
    pub(crate) fn drawn(workload: &Workload, ops: u64) -> Self {
        let draws = Draws::new(workload, 0, 1);
        let mut work = Self::default();
        for op in (0..ops).map(|index| draws.op(index)) {
            work.ops[op.kind as usize] += 1;
            if op.kind != OpKind::Scan {
                work.blocks[op.kind as usize] += op.blocks;
            }
            *work.tally.entry(op.cell()).or_default() += 1;
        }
        work
    }

    pub(crate) fn from_reports(reports: &[SliceReport]) -> Self {
        let mut work = Self::default();
        for report in reports {
            for kind in OpKind::ALL {
                work.ops[kind as usize] += report.op(kind).ops;
            }
            for kind in [OpKind::Select, OpKind::Update] {
                work.blocks[kind as usize] += report.op(kind).blocks;
            }
            let Tally(cells) = &report.tally;
            for (cell, count) in cells {
                *work.tally.entry(*cell).or_default() += count;
            }
        }
        work
    }
}

/// Compares reports with the draws of core: kinds, blocks and choices, each exactly.
pub(crate) fn assert_as_drawn(workload: &Workload, reports: &[SliceReport]) {
    let done = Work::from_reports(reports);
    assert_eq!(done, Work::drawn(workload, done.ops.iter().sum()), "not what core draws for {workload:?}");
}
