//! What was asked for.

use super::Figure;

const ASKED: &str = "as the plan has it";

pub(super) const FIGURES: &[Figure] = &[
    Figure { name: "sessions", formula: ASKED, sources: &[], value: |s| s.summary.sessions.map(f64::from) },
    Figure { name: "schemas", formula: ASKED, sources: &[], value: |s| s.summary.schemas.map(f64::from) },
    Figure {
        name: "scale",
        formula: "blocks of each schema that may be visited, as the plan has it",
        sources: &[],
        value: |s| s.summary.scale.map(|blocks| blocks as f64),
    },
    Figure {
        name: "work_unit",
        formula: ASKED,
        sources: &[],
        value: |s| s.summary.work_unit.map(|blocks| blocks as f64),
    },
    Figure {
        name: "iodepth",
        formula: "operations that a session keeps in flight, as the plan has it; unknown where it is one at a time",
        sources: &[],
        value: |s| s.summary.iodepth.map(f64::from),
    },
    Figure {
        name: "block_bytes",
        formula: "length of a block, as the target tells it or the plan has it",
        sources: &[],
        value: |s| s.summary.block_bytes.map(|bytes| bytes as f64),
    },
    Figure { name: "update_pct", formula: ASKED, sources: &[], value: |s| s.summary.update_pct },
];
