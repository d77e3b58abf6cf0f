//! The database's cache: in which order the blocks of a working set lie in it, as a run describes it, and the CPU of a
//! logical read, from an earlier cached run. The rest of a physical read's CPU is its own cost.

use mindful_analyze::figures::cpu::CACHED_FACT;
use mindful_core::Result;
use mindful_core::contract::description::CacheFill;
use mindful_core::contract::fact::Fact;
use mindful_core::record::run::{Facts, Run};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_record::Listed;

use crate::context::Context;

/// The fact that a comparison holds fixed.
pub(crate) const ORDER: &str = "cache_order";
/// The share of the working set that was brought in in this order.
pub(crate) const FILLED: &str = "cache_filled_in_order";

/// The order, and the share of the blocks that are known to be in it.
pub(crate) fn order_in_words(fill: Option<CacheFill>) -> (&'static str, String) {
    let share = fill.map_or_else(|| "unknown".to_owned(), |fill| format!("{:.1} %", 100.0 * fill.share()));
    (if fill.is_some_and(|fill| fill.is_whole()) { "by block" } else { "unknown" }, share)
}

pub(crate) fn order_finding(fill: Option<CacheFill>, share: &str) -> Option<Finding> {
    match fill {
        Some(fill) if fill.is_whole() => None,
        Some(_) => Some(codes::CACHE_ORDER.finding(
            "The database's cache held a part of the working set before mindful could fill it in block order. Figures of \
             cached runs depend on this order, up to a factor of two. Restart the server and run again.",
            format!("{share} of the blocks filled in block order"),
        )),
        None => Some(codes::CACHE_ORDER.finding(
            "mindful cannot fill this database's cache in block order. Figures of cached runs depend on this order, up \
             to a factor of two. Compare runs only if their caches were filled in the same way.",
            "filled by the operations, a load or others",
        )),
    }
}

/// Lowest hit ratio of a run from the database's cache.
const CACHED: f64 = 0.999;

/// The fact, from the newest stored run from the cache of the engine of `context` in this `version`, with the same work
/// unit and on such CPUs as `host`; empty without one.
pub(crate) fn cached_facts(context: &Context, version: &str, host: &Facts) -> Result<Facts> {
    let store = &context.store;
    let cost = |run: &Listed| {
        let summary = run.summary.as_ref().filter(|summary| summary.engine == context.engine.name())?;
        let [step] = summary.steps.as_slice() else { return None };
        let same = summary.engine_version.as_deref() == Some(version) && step.work_unit == Some(context.plan.work_unit);
        let cached = step.hit_ratio.is_some_and(|hit| hit >= CACHED) && step.update_pct == Some(0.0);
        step.cpu.db_us_per_logical_read.filter(|_| same && cached)
    };
    // Newest first.
    for run in store.list()?.into_iter().filter(|run| !run.imported) {
        let Some(us) = cost(&run) else { continue };
        let same_cpu = |run: Run| Fact::CpuModel.find(&run.environment) == Fact::CpuModel.find(host);
        if store.read(&run.id).is_ok_and(same_cpu) {
            return Ok(Facts::from([(CACHED_FACT.to_owned(), us.to_string()), ("cached.run".to_owned(), run.id)]));
        }
    }
    Ok(Facts::new())
}
