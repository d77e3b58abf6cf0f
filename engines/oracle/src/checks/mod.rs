//! Checks of the server, before anything runs, for conditions that would affect a result. `self_proof` verifies the
//! engine's own claims on a server at first contact.

pub(crate) mod self_proof;

use mindful_core::contract::description::Description;
use mindful_core::dataset::Dataset;
use mindful_core::plan::Plan;
use mindful_core::plan::units::format_bytes;
use mindful_core::result::Finding;
use mindful_core::workload::Compatibility;

use crate::codes;
use crate::connect::link::{Link, text};
use crate::dataset::load::FreeSpace;
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
        "This engine has not been tried on a real server. Run `mindful doctor` on yours, and read its lines before \
         you use a figure",
        "experimental",
    )];
    if plan.compatibility == Compatibility::Slob && !plan.update_pct.is_none() {
        found.push(codes::COMMITS_DO_NOT_WAIT.finding(
            "Updates commit as in SLOB: a bare COMMIT in PL/SQL does not wait for redo, so latencies of updates \
             exclude log file sync. Without --like, each commit waits",
            "--like slob",
        ));
    } else if !plan.commit_wait && !plan.update_pct.is_none() {
        found.push(codes::COMMITS_DO_NOT_WAIT.finding(
            "Commits do not wait for redo, so a crash loses the last ones. Without --commit-wait off, each commit \
             waits",
            "--commit-wait off",
        ));
    }
    let parameters = describe::parameters(link);
    if parameters.is_none() {
        found.push(codes::COUNTERS_DENIED.finding(
            "The account cannot read v$parameter, so the server's settings are unknown: GRANT SELECT ON V_$PARAMETER \
             TO the account",
            "v$parameter",
        ));
    }
    for row in parameters.unwrap_or_default() {
        found.extend(of_parameter(text(&row, 0).unwrap_or_default(), text(&row, 1).unwrap_or_default()));
    }
    if options.shared {
        found.push(codes::DATASET_SHARED.finding(
            "Another run may use the same tables at the same time, and its reads would warm the cache",
            "--shared on",
        ));
    }
    if options.storage.nologging && !FreeSpace::read(link, options).is_ok_and(|room| room.force_logging) {
        found.push(codes::SERVER_SETTING.finding(
            "A load without redo is lost in recovery and missing on a standby. Back up after the load, or omit \
             --nologging",
            "--nologging on",
        ));
    }
    let fact = |name| server.facts.get(name).map_or("", String::as_str);
    if fact("log_mode") == "ARCHIVELOG" || fact("database_role") == "PHYSICAL STANDBY" {
        found.push(codes::REPLICATION.finding(
            "Redo is archived and may be sent to a standby, which is part of the cost of updates. Watch the space of \
             the archives",
            format!("log_mode {}, role {}", fact("log_mode"), fact("database_role")),
        ));
    }
    found.extend(cached(plan, dataset, server.cache_bytes));
    found
}

fn of_parameter(name: &str, value: &str) -> Option<Finding> {
    match (name, value) {
        ("inmemory_size", size) if size != "0" && !size.is_empty() => Some(codes::ANSWERS_CACHED.finding(
            "The in-memory column store is on. A scan of a table in it does not read blocks; keep mindful's tables \
             out of it",
            format!("inmemory_size = {size}"),
        )),
        ("result_cache_mode", "FORCE") => Some(codes::ANSWERS_CACHED.finding(
            "The server caches results of all queries. mindful's statements use NO_RESULT_CACHE, and the ledger \
             shows whether blocks were visited",
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
            "The buffer cache can hold all blocks of the run, so it measures CPU and memory, not storage. Use a \
             larger --scale or a smaller cache",
            format!("{} of blocks, {} of cache", format_bytes(bytes), format_bytes(cache)),
        )
    })
}
