//! Description of the server, for the record.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mindful_core::Result;
use mindful_core::contract::description::{CacheRequests, ExpectedLog, HeldFixed};
use mindful_core::contract::description::{Description, HostView};
use mindful_host::Kernel;
use mindful_host::mounts::folders_of;

use crate::connect::link::Link;
use crate::connect::thread;
use crate::dataset::layout::PAGE_BYTES;
use crate::dataset::storage::Other;
use crate::flavor::Flavor;

/// Variables that affect the meaning of a figure, of either server.
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
    "innodb_log_file_write_through",
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

/// Settings that decide whether a commit survives, and whether reads bypass the page cache.
const HELD_FIXED: &[(&str, &str)] = &[
    ("innodb_flush_log_at_trx_commit", HeldFixed::Durability.name()),
    ("innodb_doublewrite", HeldFixed::Durability.name()),
    ("log_bin", HeldFixed::Durability.name()),
    ("sync_binlog", HeldFixed::Durability.name()),
    ("innodb_flush_method", HeldFixed::DirectIo.name()),
    ("innodb_data_file_buffering", HeldFixed::DirectIo.name()),
    (LAYOUT, LAYOUT),
];

/// A fact that only this engine has, because only its rows have this layout.
const LAYOUT: &str = "row layout";

/// Redo that an updated page should cost, bytes: a change of the row, its undo record, its share of the commit.
/// Measured light and heavy values for operations of one page are 234 and 2,292 on MariaDB 11.4, and 372 and 2,473 on
/// MySQL 8.0. For 64 pages they are 94 and 2,129 on MariaDB.
const LIGHT_REDO: [f64; 2] = [60.0, 700.0];
const HEAVY_REDO: [f64; 2] = [1_900.0, 3_200.0];

/// Pages below one page of the clustered index above its leaves, at least: a pointer is 17 bytes of 15 KiB.
const CLUSTERED_FAN: u64 = 800;
/// Visited rows that a leaf of the index k refers to, at least, and their ballast; and leaves below one page of it. Its
/// entries come in random order, so pages are two thirds full.
const ROWS_A_LEAF: u64 = 220;
const INDEX_FAN: u64 = 380;

fn levels(leaves: u64, fan: u64) -> f64 {
    let mut pages = leaves.max(1);
    let mut levels = 1.0;
    while pages > 1 {
        pages = pages.div_ceil(fan);
        levels += 1.0;
    }
    levels
}

/// Requests to the buffer pool of reads of tables of `blocks` pages. A visit descends the clustered index from its
/// root, on MySQL once more through the leaf of k. A range of k is descended to when it is planned and again when it is
/// read, on MySQL from both ends when it is planned; and it may continue in the next leaf. MySQL requests a page again
/// after reading it from storage.
fn cache_requests(flavor: Flavor, blocks: u64) -> CacheRequests {
    let clustered = levels(blocks, CLUSTERED_FAN);
    let index = levels(blocks.div_ceil(ROWS_A_LEAF), INDEX_FAN);
    let (visited, operation, missed) = match flavor {
        Flavor::MariaDb => (clustered, 2.0 * index + 1.0, 0.0),
        Flavor::MySql => (clustered + 1.0, 3.0 * index + 2.0, 1.0),
    };
    // Purge visits an updated page once more, and its undo is written as well: 2.1 reads and 2.8 writes were measured.
    CacheRequests { visited, operation, missed, updated: 24.0, cleaned: 1.0, written: 4.0 }
}

/// Methods that leave out syncs of data files: a checkpoint then frees log that a crash still needs.
const UNSYNCED: [&str; 3] = ["O_DIRECT_NO_FSYNC", "littlesync", "nosync"];

/// Settings with which a crash loses or tears committed data. A binary log decides at recovery which transactions were
/// committed.
fn unsafe_settings(facts: &BTreeMap<String, String>) -> Vec<String> {
    let value = |name: &str| facts.get(name).map(String::as_str);
    let binlog = value("log_bin") == Some("ON");
    let wrong = |name: &str| match name {
        "innodb_flush_log_at_trx_commit" => value(name).is_some_and(|value| value != "1"),
        "innodb_doublewrite" => matches!(value(name), Some("OFF" | "DETECT_ONLY")),
        "innodb_flush_method" => value(name).is_some_and(|value| UNSYNCED.contains(&value)),
        _ => binlog && value(name).is_some_and(|value| value != "1"),
    };
    let settings = ["innodb_flush_log_at_trx_commit", "innodb_doublewrite", "innodb_flush_method", "sync_binlog"];
    let named = |name: &str| format!("{name} = {}", value(name).unwrap_or_default());
    settings.into_iter().filter(|name| wrong(name)).map(named).collect()
}

pub(crate) fn describe(link: &Link, blocks: Option<u64>) -> Result<Description> {
    let listed: Vec<String> = FACTS.iter().map(|name| format!("'{name}'")).collect();
    let mut facts: BTreeMap<String, String> = link.run("reading the server's settings", |conn| {
        let rows: Vec<(String, String)> =
            conn.query(format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", listed.join(", ")))?;
        Ok(rows.into_iter().collect())
    })?;
    if let Some(other) = link.storage()?.other() {
        return of_other(link, other, facts);
    }
    facts.insert(LAYOUT.to_owned(), "a row that is visited and one of ballast in each page".to_owned());
    let held = HELD_FIXED.iter().filter(|(name, _)| facts.contains_key(*name));
    let version = link.version()?;
    Ok(Description {
        engine_version: version.to_string(),
        cache_requests: blocks.map(|blocks| cache_requests(version.flavor, blocks)),
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
        unsafe_settings: unsafe_settings(&facts),
        log_by_forced_writes: [("innodb_flush_method", "O_DSYNC"), ("innodb_log_file_write_through", "ON")]
            .into_iter()
            .any(|(name, forced)| facts.get(name).is_some_and(|value| value == forced)),
        facts,
        ..Description::default()
    })
}

/// A server with known costs of its operations, and nothing else.
fn of_other(link: &Link, other: &Other, facts: BTreeMap<String, String>) -> Result<Description> {
    let version: Option<String> = link.run("asking for the version", |conn| conn.query_first("SELECT VERSION()"))?;
    Ok(Description {
        engine_version: version.unwrap_or_default(),
        block_bytes: PAGE_BYTES,
        endpoints: 1,
        facts,
        no_layout: Some(other.what.clone()),
        ..Description::default()
    })
}

/// Its processes and files on this host, found by the thread that answers.
pub(crate) fn host(link: &Link) -> HostView {
    let local = link.server().is_local();
    let found = || {
        let flavor = link.version().ok()?.flavor;
        let thread = link.run("looking for the server", |conn| Ok(thread::of_connection(conn, flavor))).ok()??;
        thread::server_of(&Kernel::default(), thread)
    };
    HostView { local, server_pid: local.then(found).flatten(), ..HostView::default() }
}

/// The folders of the redo log and the binary log of the server with this data folder, if the server reports them.
pub(crate) fn log_folders(link: &Link, data: &Path) -> Vec<PathBuf> {
    let ask = |what: &str| -> Option<PathBuf> {
        let sql = format!("SELECT {what}");
        let asked = link.run("asking for the folders of the logs", |conn| conn.query_first::<Option<String>>(sql));
        asked.ok().flatten().flatten().map(|path| data.join(path))
    };
    let redo = ask("@@GLOBAL.innodb_log_group_home_dir").into_iter().flat_map(|folder| {
        let (of_mysql, file) = (folder.join("#innodb_redo"), folder.join("ib_logfile0"));
        match (of_mysql.exists(), file.exists()) {
            (true, _) => vec![of_mysql],
            (_, true) => folders_of(&[file]),
            _ => vec![folder],
        }
    });
    let binlog = ask("IF(@@GLOBAL.log_bin, @@GLOBAL.log_bin_basename, NULL)");
    redo.chain(binlog.and_then(|path| path.parent().map(Path::to_owned))).collect()
}
