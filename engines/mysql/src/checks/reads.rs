//! Checks of what stands between an operation and the storage, and of what its time is read by.

use mindful_core::plan::units::format_bytes;
use mindful_core::result::finding::Finding;

use super::state::State;
use crate::codes;

pub(super) fn clock(state: &State) -> Option<Finding> {
    state.clock_stands.then(|| {
        let text = "The server tells one time for all of a statement, so every latency would be zero and no slice would \
                    end: a run with the loop in the server is refused. Start the server without --sysdate-is-now, or run \
                    with --loop client";
        codes::MYSQL_SYSDATE_STANDS.finding(text, "SYSDATE(6) stands still (--sysdate-is-now)")
    })
}

/// By how much the buffer pool holds the active set, if every page is visited equally often.
fn hit_ratio(state: &State) -> Option<f64> {
    let active = state.planned.active_bytes as f64;
    state.number("innodb_buffer_pool_size").filter(|_| active > 0.0).map(|pool| (pool / active).min(1.0))
}

pub(super) fn predicted_hits(state: &State) -> Option<Finding> {
    let ratio = hit_ratio(state)?;
    let held = if state.planned.uniform { "" } else { " or more, for some pages are visited more often" };
    let text = if ratio >= 1.0 {
        "The buffer pool holds all pages the operations visit: the run measures the database's cache, no storage. For \
         storage: a larger --scale, or SET GLOBAL innodb_buffer_pool_size = …"
    } else {
        "A share of visits will be served by the buffer pool; only the others are physical reads. A larger --scale or a \
         smaller innodb_buffer_pool_size lower it"
    };
    let evidence = format!(
        "predicted hit ratio {:.1} %{held}: a buffer pool of {} for an active set of {}",
        ratio * 100.0,
        format_bytes(state.number("innodb_buffer_pool_size")? as u64),
        format_bytes(state.planned.active_bytes)
    );
    Some(codes::PREDICTED_HITS.finding(text, evidence))
}

pub(super) fn page_cache(state: &State) -> Option<Finding> {
    let named = |name: &str| state.text(name).map(|value| (name.to_owned(), value.to_owned()));
    // What MariaDB has in place of the method from 11.0 on, and then alone counts.
    let (name, value) = named("innodb_data_file_buffering").or_else(|| named("innodb_flush_method"))?;
    let direct = if name == "innodb_flush_method" {
        value.to_ascii_uppercase().starts_with("O_DIRECT")
    } else {
        state.is_off("innodb_data_file_buffering")
    };
    let cached = hit_ratio(state).is_some_and(|ratio| ratio >= 1.0);
    (!direct && !cached).then(|| {
        let text = "The page cache stands before the storage: what the database calls a physical read may come from \
                    memory, and the ledger tells how much did. innodb_flush_method = O_DIRECT in the option file and a \
                    restart, or `mindful squeeze`, take it out of the way";
        codes::PAGE_CACHE_AHEAD.finding(text, format!("{name} = {value}"))
    })
}

pub(super) fn adaptive_hash(state: &State) -> Option<Finding> {
    state.is_on("innodb_adaptive_hash_index").then(|| {
        let text = "The adaptive hash index spares reads of index pages once it has grown, so logical reads and latencies \
                    drift while it does; and where the tablespaces cannot be read, the size of a table alone tells of its \
                    layout. SET GLOBAL innodb_adaptive_hash_index = OFF";
        codes::SERVER_SETTING.finding(text, "innodb_adaptive_hash_index = ON")
    })
}

pub(super) fn read_ahead(state: &State) -> Option<Finding> {
    let threshold = state.number("innodb_read_ahead_threshold").filter(|threshold| *threshold > 0.0);
    let random = state.is_on("innodb_random_read_ahead");
    (random || threshold.is_some()).then(|| {
        let shown = [
            threshold.map(|threshold| format!("innodb_read_ahead_threshold = {threshold}")),
            random.then(|| "innodb_random_read_ahead = ON".to_owned()),
        ];
        let text = "The server may read pages that nobody visited, by the order of those that were: a share of physical \
                    reads is not one random page. SET GLOBAL innodb_read_ahead_threshold = 0; SET GLOBAL \
                    innodb_random_read_ahead = OFF";
        codes::SERVER_SETTING.finding(text, shown.into_iter().flatten().collect::<Vec<_>>().join(", "))
    })
}

pub(super) fn change_buffering(state: &State) -> Option<Finding> {
    let value = state.text("innodb_change_buffering").filter(|value| !value.eq_ignore_ascii_case("none"))?;
    let text = "Changes of index pages that are not cached wait in the change buffer, and are merged by reads and writes \
                later: those of a load fall into the run. SET GLOBAL innodb_change_buffering = none";
    Some(codes::SERVER_SETTING.finding(text, format!("innodb_change_buffering = {value}")))
}

pub(super) fn pool_dump(state: &State) -> Option<Finding> {
    state.is_on("innodb_buffer_pool_load_at_startup").then(|| {
        let text = "After a restart the server reads back what was cached before: a run soon after it is not alone at the \
                    device and does not begin cold. SET GLOBAL innodb_buffer_pool_dump_at_shutdown = OFF, and \
                    innodb_buffer_pool_load_at_startup = OFF in the option file";
        codes::SERVER_SETTING.finding(text, "innodb_buffer_pool_load_at_startup = ON")
    })
}

pub(super) fn query_cache(state: &State) -> Option<Finding> {
    let on = !state.is_off("query_cache_type") && state.number("query_cache_size").is_some_and(|size| size > 0.0);
    on.then(|| {
        let text = "Statements are answered from the query cache where they can, without a visit to any page, and all wait \
                    for its one lock. SET GLOBAL query_cache_type = OFF; SET GLOBAL query_cache_size = 0";
        let value = state.text("query_cache_type").unwrap_or("?");
        codes::ANSWERS_CACHED.finding(text, format!("query_cache_type = {value}"))
    })
}

/// Read times come from the performance schema alone.
pub(super) fn timing(state: &State) -> Option<Finding> {
    state.is_off("performance_schema").then(|| {
        let text = "The server times no reads, so their latency as the database saw it is not known. performance_schema = \
                    ON in the option file and a restart; it costs about 12 % of the CPU of short operations";
        codes::IO_TIMING_OFF.finding(text, "performance_schema = OFF")
    })
}
