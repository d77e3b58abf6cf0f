//! What the server is, for the record.

use std::collections::BTreeMap;

use mindful_core::Result;
use mindful_core::description::{CacheRequests, ExpectedLog, decides};
use mindful_core::engine::{Description, HostView};
use mysql::prelude::Queryable;

use crate::flavor::Flavor;
use crate::layout::PAGE_BYTES;
use crate::link::Link;

/// Variables that decide what a figure means, of either server.
const FACTS: &[&str] = &[
    "binlog_format",
    "innodb_adaptive_hash_index",
    "innodb_buffer_pool_size",
    "innodb_change_buffering",
    "innodb_checksum_algorithm",
    "innodb_data_file_buffering",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "innodb_page_size",
    "innodb_random_read_ahead",
    "innodb_read_ahead_threshold",
    "innodb_read_io_threads",
    "innodb_use_native_aio",
    "innodb_write_io_threads",
    "log_bin",
    "max_connections",
    "performance_schema",
    "sync_binlog",
    "version",
    "version_comment",
];

/// What decides whether a commit survives, and whether reads go past the page cache.
const HELD_FIXED: &[(&str, &str)] = &[
    ("innodb_flush_log_at_trx_commit", decides::DURABILITY),
    ("innodb_doublewrite", decides::DURABILITY),
    ("log_bin", decides::DURABILITY),
    ("sync_binlog", decides::DURABILITY),
    ("innodb_flush_method", decides::DIRECT_IO),
    ("innodb_data_file_buffering", decides::DIRECT_IO),
    (LAYOUT, LAYOUT),
];

/// What no other engine's rows are like.
const LAYOUT: &str = "row layout";

/// Redo that an updated page should cost, bytes: a change of the row, what undoes it, its share of the commit. Measured,
/// light and heavy, by operations of one page: 234 and 2,292 on MariaDB 11.4, 372 and 2,473 on MySQL 8.0; of 64 pages:
/// 94 and 2,129 on MariaDB.
const LIGHT_REDO: [f64; 2] = [60.0, 700.0];
const HEAVY_REDO: [f64; 2] = [1_900.0, 3_200.0];

/// Requests to the buffer pool that a page costs: its tree has three levels up to 19 GiB, and four beyond. MySQL asks for
/// some of them twice when the row was changed or read, and once more on a miss.
const fn cache_requests(flavor: Flavor) -> CacheRequests {
    let visited = match flavor {
        Flavor::MariaDb => 5.0,
        Flavor::MySql => 7.0,
    };
    CacheRequests { visited, updated: 24.0 }
}

/// The server's version and settings.
pub fn describe(link: &Link) -> Result<Description> {
    let listed: Vec<String> = FACTS.iter().map(|name| format!("'{name}'")).collect();
    let mut facts: BTreeMap<String, String> = link.run("reading the server's settings", |conn| {
        let rows: Vec<(String, String)> =
            conn.query(format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", listed.join(", ")))?;
        Ok(rows.into_iter().collect())
    })?;
    facts.insert(LAYOUT.to_owned(), "a row that is visited and one of ballast in each page".to_owned());
    let held = HELD_FIXED.iter().filter(|(name, _)| facts.contains_key(*name));
    let version = link.version()?;
    Ok(Description {
        engine_version: version.to_string(),
        cache_requests: Some(cache_requests(version.flavor)),
        block_bytes: PAGE_BYTES,
        cache_bytes: facts.get("innodb_buffer_pool_size").and_then(|size| size.parse().ok()),
        endpoints: 1,
        held_fixed: held.map(|(name, decides)| ((*name).to_owned(), (*decides).to_owned())).collect(),
        expected_log: Some(ExpectedLog {
            light: LIGHT_REDO,
            heavy: HEAVY_REDO,
            images: None,
            once_a_transaction: false,
        }),
        facts,
        ..Description::default()
    })
}

/// Where it can be seen on this host.
pub fn host(link: &Link) -> HostView {
    HostView { local: link.server().is_local(), ..HostView::default() }
}
