//! What about the server would spoil a result, before anything runs; `self_proof` shows at first contact whether the engine
//! does on a server what it claims.

pub(crate) mod self_proof;

use mindful_core::contract::description::Description;
use mindful_core::dataset::Dataset;
use mindful_core::plan::Plan;
use mindful_core::plan::units::format_bytes;
use mindful_core::result::Finding;
use mindful_core::workload::Compatibility;

use crate::codes;
use crate::connect::link::{Link, text};
use crate::dataset::load::Room;
use crate::observe::describe;
use crate::options::Options;

pub(crate) fn checks(
    link: &Link,
    options: &Options,
    plan: &Plan,
    dataset: Option<&Dataset>,
    server: &Description,
) -> Vec<Finding> {
    let mut found = vec![codes::ORA_EXPERIMENTAL.finding(
        "No real server has passed the self-proof of this engine yet: run `mindful doctor` on yours, and read its lines \
         before you believe a figure",
        "experimental",
    )];
    if plan.compatibility == Compatibility::Slob && !plan.update_pct.is_none() {
        found.push(codes::COMMITS_DO_NOT_WAIT.finding(
            "Commits are SLOB's: in PL/SQL a bare COMMIT does not wait for redo, so log file sync is missing from the \
             latencies of updates; leave --like away to have each commit wait",
            "--like slob",
        ));
    } else if !plan.commit_wait && !plan.update_pct.is_none() {
        found.push(codes::COMMITS_DO_NOT_WAIT.finding(
            "Commits do not wait for redo, and what was committed last is lost in a crash; leave --commit-wait away to have \
             each commit wait",
            "--commit-wait off",
        ));
    }
    let parameters = describe::parameters(link);
    if parameters.is_none() {
        found.push(codes::COUNTERS_DENIED.finding(
            "The account may not read v$parameter, so what the server is set to is not known: GRANT SELECT ON V_$PARAMETER \
             TO the account",
            "v$parameter",
        ));
    }
    for row in parameters.unwrap_or_default() {
        found.extend(of_parameter(text(&row, 0).unwrap_or_default(), text(&row, 1).unwrap_or_default()));
    }
    if options.shared {
        found.push(codes::DATASET_SHARED.finding(
            "Another run may use the same tables at the same time, and its reads warm the cache for this one",
            "--shared on",
        ));
    }
    if options.storage.nologging && !Room::of(link, options).is_ok_and(|room| room.force_logging) {
        found.push(codes::SERVER_SETTING.finding(
            "What is loaded without redo is lost in recovery and missing on a standby: back up after the load, or leave \
             --nologging away",
            "--nologging on",
        ));
    }
    let fact = |name| server.facts.get(name).map_or("", String::as_str);
    if fact("log_mode") == "ARCHIVELOG" || fact("database_role") == "PHYSICAL STANDBY" {
        found.push(codes::REPLICATION.finding(
            "Redo is archived, and may be sent to a standby: that is part of what updates cost here, and archives fill up",
            format!("log_mode {}, role {}", fact("log_mode"), fact("database_role")),
        ));
    }
    found.extend(cached(plan, dataset, server.cache_bytes));
    found
}

fn of_parameter(name: &str, value: &str) -> Option<Finding> {
    match (name, value) {
        ("inmemory_size", size) if size != "0" && !size.is_empty() => Some(codes::ANSWERS_CACHED.finding(
            "The in-memory column store is on: see that no table of mindful's is in it, or its scans read no blocks",
            format!("inmemory_size = {size}"),
        )),
        ("result_cache_mode", "FORCE") => Some(codes::ANSWERS_CACHED.finding(
            "Results of all queries are cached: mindful's statements say NO_RESULT_CACHE, and the ledger tells whether \
             blocks were visited",
            "result_cache_mode = FORCE",
        )),
        _ => None,
    }
}

/// Whether the buffer cache can hold all that the plan visits.
fn cached(plan: &Plan, dataset: Option<&Dataset>, cache: Option<u64>) -> Option<Finding> {
    let (dataset, cache) = (dataset?, cache?);
    let active = plan.workload(dataset).ok()?;
    let bytes = active.scale.saturating_mul(dataset.block_bytes).saturating_mul(active.schemas.into());
    (bytes <= cache).then(|| {
        codes::PREDICTED_HITS.finding(
            "The buffer cache holds all blocks of the run: it measures CPU and memory, not storage; load more, or make the \
             cache smaller",
            format!("{} of blocks, {} of cache", format_bytes(bytes), format_bytes(cache)),
        )
    })
}
