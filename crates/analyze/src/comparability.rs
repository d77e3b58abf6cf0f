//! Whether the steps of a ladder differ only in their load.

use mindful_core::plan::units::format_counted;
use mindful_core::record::run::StepHead;
use mindful_core::result::StepSummary;

/// Accepted difference between hit ratios of two steps of one ladder, as a share: a step with more hits does other
/// work.
pub(crate) const HIT_RATIO_APART: f64 = 0.03;

/// Accepted difference in standard errors of the less certain ratio, from the step with fewer operations.
const ERRORS_APART: f64 = 4.0;

/// The standard error of a step's hit ratio, `sqrt(p (1 - p) / n)`. Blocks of an operation are neighbours by key, found
/// together where an operation a moment before was at the same keys: n are operations.
fn error_of_hit_ratio(step: &StepSummary) -> Option<f64> {
    let hits = step.hit_ratio?;
    let kinds = [&step.ops.select, &step.ops.update, &step.ops.scan];
    let ops = kinds.into_iter().flatten().map(|kind| kind.count).sum::<u64>();
    (ops > 0).then(|| (hits * (1.0 - hits) / ops as f64).sqrt())
}

/// Number of schemas that the sessions of a step visit; `None` if unknown.
pub(crate) fn schemas_visited(head: &StepHead) -> Option<u64> {
    let workload = head.workload.as_ref()?;
    if workload.spread_sessions.is_some() {
        return Some(workload.schemas.into());
    }
    let mut schemas: Vec<u32> = head.placements.iter().map(|placement| placement.schema).collect();
    schemas.extend((!workload.hot_schema.is_none()).then_some(1));
    schemas.sort_unstable();
    schemas.dedup();
    Some(schemas.len() as u64).filter(|count| *count > 0)
}

/// Differences between the steps of a ladder other than their load, in words; `None` without a known difference.
pub(crate) fn difference(steps: &[(&StepHead, &StepSummary)]) -> Option<String> {
    let active = steps.iter().filter_map(|(head, step)| {
        let blocks = schemas_visited(head)?.saturating_mul(head.workload.as_ref()?.scale);
        Some((blocks as f64, step.sessions?))
    });
    if let Some([(least, few), (most, many)]) = ends(active).filter(|[(least, _), (most, _)]| least < most) {
        return Some(format!(
            "{least:.0} blocks are visited by {}, {most:.0} by {many}",
            format_counted(few, "session")
        ));
    }
    let hits = steps.iter().filter_map(|(_, step)| Some((step.hit_ratio?, step.sessions?)));
    let [(least, at_least), (most, at_most)] = ends(hits)?;
    let noise = steps.iter().filter_map(|(_, step)| error_of_hit_ratio(step)).fold(0.0, f64::max);
    (most - least > HIT_RATIO_APART.max(ERRORS_APART * noise)).then(|| {
        format!(
            "hit ratio {:.1} % with {}, {:.1} % with {at_most}: more than {:.0} points apart",
            100.0 * least,
            format_counted(at_least, "session"),
            100.0 * most,
            100.0 * HIT_RATIO_APART
        )
    })
}

/// The least and the most of some figures, each with its sessions.
fn ends(figures: impl Iterator<Item = (f64, u32)>) -> Option<[(f64, u32); 2]> {
    figures.filter(|(value, _)| value.is_finite()).fold(None, |ends, here| {
        let [least, most] = ends.unwrap_or([here, here]);
        Some([if here.0 < least.0 { here } else { least }, if here.0 > most.0 { here } else { most }])
    })
}
