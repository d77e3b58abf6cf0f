//! Description of the server: version, sizes, settings that affect results, and its place on this host.

use crate::dataset::layout::{NARROW, Shape};
use crate::dataset::registry;
use crate::names::Namespace;
use mindful_core::contract::description::{ExpectedLog, LogImages};
use mindful_core::result::finding::{Code, codes};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mindful_core::Result;
use mindful_core::contract::description::HeldFixed;
use mindful_core::contract::description::{Description, HostView};
use mindful_core::contract::metric::Counter;
use mindful_host::{Kernel, process};
use tokio_postgres::Client;

use crate::connect::link::Link;

/// Settings that a comparison must hold fixed.
const HELD_FIXED: [(&str, &str); 4] = [
    ("fsync", HeldFixed::Durability.name()),
    ("synchronous_commit", HeldFixed::Durability.name()),
    ("full_page_writes", HeldFixed::Durability.name()),
    ("debug_io_direct", HeldFixed::DirectIo.name()),
];

/// Settings that must be on, or a crash loses or tears committed data.
const SAFE_WHEN_ON: [&str; 3] = ["fsync", "full_page_writes", "synchronous_commit"];

pub(crate) fn describe(link: &Link) -> Result<Description> {
    let control = link.control()?;
    link.run("describing the server", async {
        let row = control.query_one(include_str!("../../sql/describe.sql"), &[]).await?;
        let settings = control.query(include_str!("../../sql/settings.sql"), &[]).await?;
        let bytes = |column: &str| row.get::<_, i64>(column).unsigned_abs();
        let facts: BTreeMap<String, String> =
            settings.iter().map(|setting| (setting.get("name"), setting.get("value"))).collect();
        let is_off = |name: &&str| facts.get(*name).is_some_and(|value| value == "off");
        let unsafe_settings = SAFE_WHEN_ON.iter().filter(|name| is_off(name)).map(|name| format!("{name} = off"));
        Ok(Description {
            unsafe_settings: unsafe_settings.collect(),
            engine_version: row.get("version"),
            block_bytes: bytes("block_bytes"),
            cache_bytes: Some(bytes("cache_bytes")),
            instance: Some(row.get("instance")),
            endpoints: link.server().endpoints(),
            facts,
            advice: advice(),
            held_fixed: HELD_FIXED.map(|(name, decides)| (name.to_owned(), decides.to_owned())).into(),
            ..Description::default()
        })
    })
}

pub(crate) async fn major(client: &Client) -> Result<u32, tokio_postgres::Error> {
    let row = client.query_one("SELECT current_setting('server_version_num')::integer / 10000", &[]).await?;
    Ok(row.get::<_, i32>(0).unsigned_abs())
}

/// The server's processes and files, if they are on this host and visible.
pub(crate) fn host(link: &Link) -> HostView {
    let unseen = HostView::default();
    if !link.server().host_is_local(0) {
        return unseen;
    }
    let Ok(control) = link.control() else { return unseen };
    let found = link.run("looking for the server", async {
        let row = control.query_one(include_str!("../../sql/whereabouts.sql"), &[]).await?;
        let (tablespaces, data): (Vec<String>, Option<String>) = (row.get("tablespaces"), row.get("data_directory"));
        Ok((row.get::<_, i32>("pid").unsigned_abs(), tablespaces, data.map(PathBuf::from)))
    });
    let Ok((backend, tablespaces, data)) = found else { return unseen };
    let postmaster = parent(backend);
    let data_paths = tablespaces.into_iter().map(PathBuf::from).chain(data.clone()).filter(|path| path.exists());
    HostView {
        local: postmaster.is_some(),
        server_pid: postmaster,
        data_paths: data_paths.collect(),
        log_paths: data.iter().map(|data| log_folder(data)).collect(),
        ..HostView::default()
    }
}

/// Where the log of the server with this data directory lies; it may be a link.
pub(crate) fn log_folder(data: &Path) -> PathBuf {
    data.join("pg_wal")
}

/// The parent of our own backend, if that process is a PostgreSQL process of this host and not of a container.
fn parent(backend: u32) -> Option<u32> {
    let stat = process::Stat::read(&Kernel::default(), backend).ok()?;
    stat.name.starts_with("postgres").then_some(stat.parent)
}

const ADVICE: &[(Code, &str)] = &[
    (
        codes::AUTOVACUUM,
        "On PostgreSQL it is autovacuum. Vacuum before the run, or during the run ALTER SYSTEM SET autovacuum = off; \
         SELECT pg_reload_conf().",
    ),
    (
        codes::FORCED_CHECKPOINTS,
        "ALTER SYSTEM SET max_wal_size = …; SELECT pg_reload_conf(), or find the session that calls CHECKPOINT.",
    ),
    (codes::LOG_BAND, "Look at the share of HOT updates in pg_stat_user_tables: n_tup_hot_upd and n_tup_upd."),
    (
        codes::PREFETCHED,
        "Find the scanning sessions in pg_stat_activity, or set io_combine_limit = 8kB and effective_io_concurrency \
         = 0.",
    ),
];

fn advice() -> BTreeMap<String, String> {
    ADVICE.iter().map(|(code, text)| (code.name.to_owned(), (*text).to_owned())).collect()
}

/// All segments of all tables, in order, without those that are invisible from here.
pub(crate) fn data_files(link: &Link, namespace: &Namespace) -> Result<Vec<PathBuf>> {
    let control = link.control()?;
    let rows = link.run("finding the data files", async {
        let tables = registry::tables(&control, namespace).await?;
        Ok(control.query(include_str!("../../sql/data_files.sql"), &[&tables]).await?)
    })?;
    let first: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    Ok(first.iter().flat_map(|path| segments(path)).collect())
}

fn segments(first: &str) -> Vec<PathBuf> {
    let numbered = (1..).map(|number| PathBuf::from(format!("{first}.{number}")));
    std::iter::once(PathBuf::from(first)).chain(numbered).take_while(|path| path.exists()).collect()
}

/// Bytes of WAL for an updated block without image: `[low, high]`.
const LIGHT: [f64; 2] = [70.0, 200.0];
const HEAVY: [f64; 2] = [1_000.0, 1_300.0];
/// An image with its header.
const IMAGE: f64 = 8_240.0;

/// WAL that an updated block should cost, from the formats of PostgreSQL's records (`access/xlogrecord.h`,
/// `access/heapam_xlog.h`, `access/xact.h`).
///
/// A HOT update is one record of 69 bytes: header 24, block reference 20, main data 2 + 14, header of the new row 5,
/// lengths of the parts shared with the old one 4. The bytes from the first to the last changed one are added. These
/// are 1 to 16 for light redo (two counters at the row's end), and 1,000 to 1,016 for heavy (the eight filler columns
/// and the counters). The commit adds 40 bytes for one or more blocks. Pruning adds about 90 bytes for every sixth
/// version. Page headers and the server's own log records come in addition. `wal_level=logical` logs the whole row,
/// 1,032 bytes, in both cases.
///
/// With `full_page_writes` the first change of a block after a checkpoint contains the block's image without its hole:
/// one version of the row or seven, at most 8,192 bytes and its header. `wal_fpi` counts them.
///
/// Returns the band under `settings`; `None` for rows shaped for a ratio, because their length differs.
pub(crate) fn expected_log(settings: &BTreeMap<String, String>, shape: Option<Shape>) -> Option<ExpectedLog> {
    if shape.is_some_and(|shape| shape.number != NARROW) {
        return None;
    }
    let is = |name: &str, value: &str| settings.get(name).is_some_and(|found| found == value);
    let images = is("full_page_writes", "on").then(|| LogImages { counter: Counter::LogImages.into(), bytes: IMAGE });
    let light = if is("wal_level", "logical") { HEAVY } else { LIGHT };
    Some(ExpectedLog { light, heavy: HEAVY, images, once_a_transaction: false })
}
