//! What was asked for.

use super::figure::{Figure, Unit};
use crate::io_job;

const ASKED: &str = "as the plan has it";

pub(super) const FIGURES: &[Figure] = &[
    Figure::of_step("sessions", Unit::Count, ASKED, &[], |s| s.summary.sessions.map(f64::from)),
    Figure::of_step("schemas", Unit::Count, ASKED, &[], |s| s.summary.schemas.map(f64::from)),
    Figure::of_step("scale", Unit::Blocks, "blocks of each schema that may be visited, as the plan has it", &[], |s| {
        s.summary.scale.map(|blocks| blocks as f64)
    })
    .titled("scale_blocks"),
    Figure::of_step(
        "iodepth",
        Unit::Count,
        "operations that a session keeps in flight, as the plan has it; unknown where it is one at a time",
        &[],
        |s| s.summary.iodepth.map(f64::from),
    ),
    Figure::of_step(
        "block_bytes",
        Unit::Bytes,
        "length of a block, as the target tells it or the plan has it",
        &[],
        |s| s.summary.block_bytes.map(|bytes| bytes as f64),
    ),
    Figure::of_step("work_unit", Unit::Blocks, ASKED, &[], |s| s.summary.work_unit.map(|blocks| blocks as f64))
        .titled("work_unit_blocks"),
    Figure::of_step(
        "small_in_flight",
        Unit::Count,
        "small I/Os that a step of a raw job kept in flight, of all sessions together",
        &[],
        |s| io_job::load(&s.summary.point).map(|(small, _)| small.into()),
    )
    .beside_the_summary(),
    Figure::of_step(
        "large_in_flight",
        Unit::Count,
        "large reads that a step of a raw job kept in flight, of all sessions together",
        &[],
        |s| io_job::load(&s.summary.point).map(|(_, large)| large.into()),
    )
    .beside_the_summary(),
    Figure::of_step("update_pct", Unit::Percent, ASKED, &[], |s| s.summary.update_pct),
];
