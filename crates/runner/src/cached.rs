//! The CPU of a logical read, from an earlier cached run. The rest of a physical read's CPU is its own cost.

use mindful_analyze::figures::cpu::CACHED_FACT;
use mindful_core::Result;
use mindful_core::contract::fact::Fact;
use mindful_core::record::run::Facts;
use mindful_record::{Listed, Store};

/// Lowest hit ratio of a run from the database's cache.
const CACHED: f64 = 0.999;

/// A run that is about to be stored, as far as it decides which cached run is shown with it.
pub(crate) struct BaselineKey<'a> {
    pub engine: &'a str,
    pub version: &'a str,
    /// Blocks that a read visits, which share the cost of an operation.
    pub work_unit: u64,
    pub host: &'a Facts,
}

/// The fact, from the newest comparable stored run from the cache; empty without one.
pub(crate) fn facts(store: &Store, alike: &BaselineKey<'_>) -> Result<Facts> {
    let mut listed: Vec<_> = store
        .list()?
        .into_iter()
        .filter(|run| !run.imported)
        .filter_map(|run| Some((cost(&run, alike)?, run.id)))
        .collect();
    listed.sort_by(|a, b| b.1.cmp(&a.1));
    for (us, id) in listed {
        let same_cpu = |run: mindful_core::record::run::Run| {
            Fact::CpuModel.find(&run.environment) == Fact::CpuModel.find(alike.host)
        };
        if store.read(&id).is_ok_and(same_cpu) {
            return Ok(Facts::from([(CACHED_FACT.to_owned(), us.to_string()), ("cached.run".to_owned(), id)]));
        }
    }
    Ok(Facts::new())
}

/// Server CPU by logical reads, us, of a run of one step that only the database's cache served.
fn cost(run: &Listed, alike: &BaselineKey<'_>) -> Option<f64> {
    let summary = run.summary.as_ref().filter(|summary| summary.engine == alike.engine)?;
    let [step] = summary.steps.as_slice() else { return None };
    let same = summary.engine_version.as_deref() == Some(alike.version) && step.work_unit == Some(alike.work_unit);
    let cached = step.hit_ratio.is_some_and(|hit| hit >= CACHED) && step.update_pct == Some(0.0);
    step.cpu.db_us_per_logical_read.filter(|_| same && cached)
}
