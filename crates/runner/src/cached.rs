//! The CPU of a logical read, from an earlier cached run. The rest of a physical read's CPU is its own cost.

use mindful_analyze::figures::cpu::CACHED_FACT;
use mindful_core::Result;
use mindful_core::contract::fact::Fact;
use mindful_core::record::run::{Facts, Run};
use mindful_record::Listed;

use crate::context::Context;

/// Lowest hit ratio of a run from the database's cache.
const CACHED: f64 = 0.999;

/// The fact, from the newest stored run from the cache of the engine of `context` in this `version`, with the same work
/// unit and on such CPUs as `host`; empty without one.
pub(crate) fn facts(context: &Context, version: &str, host: &Facts) -> Result<Facts> {
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
