//! Latency over time as two heat maps side by side: the number of operations, and the time in them.

pub(crate) mod axis;
pub(crate) mod svg;
pub mod terminal;

use mindful_analyze::StepAnalysis;
use mindful_analyze::figures::heat::{Fineness, Heat, HeatMap};
use mindful_analyze::figures::latency::{SLOW, Slow};
use mindful_core::record::latency::wait_kind;
use mindful_core::record::run::StepRecord;
use mindful_core::workload::OpKind;

use crate::figure::{format_whole, number, percent, time_us};

/// What a map shows: operations of a kind, or waits that the database counted.
#[derive(Debug, Clone, Copy)]
struct Of {
    name: &'static str,
    operations: Option<OpKind>,
}

/// The maps of a step, one for each kind of operation that it did and of wait that the database counted.
fn maps(record: &StepRecord, step: &StepAnalysis, fineness: Fineness) -> Vec<(Of, HeatMap)> {
    let Some(window) = step.window.as_ref() else { return Vec::new() };
    let of = |kind: OpKind| {
        let of = Of { name: kind.name(), operations: Some(kind) };
        Some((of, HeatMap::from_step(record, window, kind, fineness)?))
    };
    let waits =
        |(kind, name)| Some((Of { name, operations: None }, HeatMap::from_waits(record, window, kind, fineness)?));
    OpKind::ALL.into_iter().filter_map(of).chain(wait_kind::ALL.into_iter().filter_map(waits)).collect()
}

fn heading(heat: Heat) -> &'static str {
    match heat {
        Heat::Frequency => "operations",
        Heat::Intensity => "time in them",
    }
}

fn peak(map: &HeatMap, heat: Heat) -> String {
    let peak = number(map.peak_per_s(heat));
    match heat {
        Heat::Frequency => format!("up to {peak} operations/s in a cell"),
        Heat::Intensity => format!("up to {peak} sessions at work in a cell"),
    }
}

/// The time of the slow operations of a kind, in a sentence; `None` if unknown.
fn slow(step: &StepAnalysis, of: Of) -> Option<String> {
    let slow = Slow::from_work(step.work.as_ref()?.kind(of.operations?))?;
    let above = format!("{SLOW} times the median ({})", time_us(slow.above_us));
    Some(match slow.ops {
        0 => format!("No operation took longer than {above}."),
        ops => format!(
            "Operations that took longer than {above}: {}, {} of all, with {} of the time.",
            format_whole(ops),
            percent(Some(slow.ops_share)),
            percent(Some(slow.time_share))
        ),
    })
}

/// The shade of a cell, from 1 to `shades`; each means `factor` times the one before it, the last for the peak. 0 for
/// empty cells.
fn shade(value: f64, peak: f64, shades: usize, factor: f64) -> usize {
    if value <= 0.0 {
        return 0;
    }
    let below_peak = (peak / value).log(factor).max(0.0) as usize;
    shades.saturating_sub(below_peak).max(1)
}

fn timed(record: &StepRecord) -> &'static str {
    let open = record.head.workload.as_ref().is_some_and(|workload| workload.rate.is_some());
    if open { "response time" } else { "latency" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shade_is_a_factor_and_every_value_has_one() {
        let shades: Vec<_> = [0.0, 1e-9, 6.0, 12.0, 13.0, 51.0, 100.0].map(|v| shade(v, 100.0, 4, 2.0)).into();
        assert_eq!(shades, [0, 1, 1, 1, 2, 4, 4]);
    }
}
