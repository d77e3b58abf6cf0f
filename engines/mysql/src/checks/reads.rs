//! Checks of the layers between an operation and the storage, and of the clock that times it.

use mindful_core::plan::units::format_bytes;
use mindful_core::result::finding::Finding;

use super::state::State;
use crate::codes;

pub(super) fn clock(state: &State) -> Option<Finding> {
    state.clock_stands.then(|| {
        let text = "SYSDATE() does not advance within a statement, so each latency would be zero and a slice would \
                    not end. A run with the loop in the server is refused. Start the server without \
                    --sysdate-is-now, or run with --loop client";
        codes::MYSQL_SYSDATE_STANDS.finding(text, "SYSDATE(6) does not move within a statement (--sysdate-is-now)")
    })
}

/// Share of the active set that the buffer pool holds, if every page is visited equally often.
fn hit_ratio(state: &State) -> Option<f64> {
    let active = state.planned.active_bytes as f64;
    state.number("innodb_buffer_pool_size").filter(|_| active > 0.0).map(|pool| (pool / active).min(1.0))
}

pub(super) fn predicted_hits(state: &State) -> Option<Finding> {
    let ratio = hit_ratio(state)?;
    let held = if state.planned.uniform { "" } else { " or more, for some pages are visited more often" };
    let text = if ratio >= 1.0 {
        "The buffer pool can hold all pages that the operations visit, so the run measures the cache and not \
         storage. For storage, use a larger --scale, or SET GLOBAL innodb_buffer_pool_size = …"
    } else {
        "The buffer pool will serve this share of visits; only the others are physical reads. A larger --scale or a \
         smaller innodb_buffer_pool_size lowers it"
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
    // From 11.0 on MariaDB has this setting instead of the method, and only it counts.
    let (name, value) = named("innodb_data_file_buffering").or_else(|| named("innodb_flush_method"))?;
    let direct = if name == "innodb_flush_method" {
        value.to_ascii_uppercase().starts_with("O_DIRECT")
    } else {
        state.is_off("innodb_data_file_buffering")
    };
    let cached = hit_ratio(state).is_some_and(|ratio| ratio >= 1.0);
    (!direct && !cached).then(|| {
        let text = "Reads pass the page cache, so a physical read of the database may come from memory. The ledger \
                    shows how much did. To bypass it, set innodb_flush_method = O_DIRECT in the option file and \
                    restart, or use `mindful squeeze`";
        codes::PAGE_CACHE_AHEAD.finding(text, format!("{name} = {value}"))
    })
}

pub(super) fn adaptive_hash(state: &State) -> Option<Finding> {
    state.is_on("innodb_adaptive_hash_index").then(|| {
        let text = "The adaptive hash index saves reads of index pages, so logical reads and latencies drift while \
                    it grows. It also hides the layout if the tablespaces cannot be read. To turn it off: SET GLOBAL \
                    innodb_adaptive_hash_index = OFF";
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
        let text = "The server may read pages ahead of their use, so some physical reads are not single random \
                    pages. To turn it off: SET GLOBAL innodb_read_ahead_threshold = 0; SET GLOBAL \
                    innodb_random_read_ahead = OFF";
        codes::SERVER_SETTING.finding(text, shown.into_iter().flatten().collect::<Vec<_>>().join(", "))
    })
}

pub(super) fn change_buffering(state: &State) -> Option<Finding> {
    let value = state.text("innodb_change_buffering").filter(|value| !value.eq_ignore_ascii_case("none"))?;
    let text = "InnoDB keeps changes of uncached index pages in the change buffer and merges them later. So \
                changes of a load are merged during the run. To turn it off: SET GLOBAL innodb_change_buffering = \
                none";
    Some(codes::SERVER_SETTING.finding(text, format!("innodb_change_buffering = {value}")))
}

pub(super) fn pool_dump(state: &State) -> Option<Finding> {
    state.is_on("innodb_buffer_pool_load_at_startup").then(|| {
        let text = "After a restart the server reads back the pages that were cached before. A run soon after it \
                    shares the device with these reads and does not start cold. Set both off: SET GLOBAL \
                    innodb_buffer_pool_dump_at_shutdown = OFF, and innodb_buffer_pool_load_at_startup = OFF in the \
                    option file";
        codes::SERVER_SETTING.finding(text, "innodb_buffer_pool_load_at_startup = ON")
    })
}

pub(super) fn query_cache(state: &State) -> Option<Finding> {
    let on = !state.is_off("query_cache_type") && state.number("query_cache_size").is_some_and(|size| size > 0.0);
    on.then(|| {
        let text = "The query cache answers statements without visiting a page, and all statements wait for its \
                    single lock. To turn it off: SET GLOBAL query_cache_type = OFF; SET GLOBAL query_cache_size = 0";
        let value = state.text("query_cache_type").unwrap_or("?");
        codes::ANSWERS_CACHED.finding(text, format!("query_cache_type = {value}"))
    })
}

/// Only the performance schema has read times.
pub(super) fn timing(state: &State) -> Option<Finding> {
    state.is_off("performance_schema").then(|| {
        let text = "The server does not time its reads, so their latency inside the database is unknown. Set \
                    performance_schema = ON in the option file and restart; it takes about 12 % of the CPU of short \
                    operations";
        codes::IO_TIMING_OFF.finding(text, "performance_schema = OFF")
    })
}
