//! Description of the server: version, sizes, parameters that affect results.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mindful_core::contract::description::HostView;
use mindful_core::contract::description::{Description, HeldFixed};
use mindful_core::contract::event::Events;
use mindful_core::{Error, Result};
use mindful_instance::files;
use mindful_oracle_terms as oracle;

use crate::codes::denied;
use crate::connect::driver::{Bind, Row};
use crate::connect::link::{Link, number, text};
use crate::names::Namespace;
use crate::work::statement;

/// The notice for each run and each export.
pub(crate) const NOTICE: &str = "Measured on Oracle Database. Your agreement with Oracle may forbid disclosing benchmark results \
                          without its consent. This engine of mindful is experimental: it has not been tried on a real server.";

/// Parameters that affect results.
pub(crate) const PARAMETERS: &str = "commit_logging commit_wait cpu_count db_block_checking db_block_checksum \
                                     db_block_size db_cache_size db_file_multiblock_read_count db_keep_cache_size \
                                     db_writer_processes disk_asynch_io filesystemio_options inmemory_size log_buffer \
                                     memory_target pga_aggregate_target processes resource_manager_plan \
                                     result_cache_mode sessions sga_max_size sga_target statistics_level \
                                     undo_retention use_large_pages";

const HELD_FIXED: [(&str, &str); 3] = [
    ("commit_logging", HeldFixed::Durability.name()),
    ("commit_wait", HeldFixed::Durability.name()),
    ("filesystemio_options", HeldFixed::DirectIo.name()),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    pub major: u32,
    pub banner: String,
}

impl Version {
    /// Queries it; refuses all but Oracle Database of release 12 or later.
    pub(crate) fn read(link: &Link) -> Result<Self> {
        let sql = include_str!("../../sql/describe/banner.sql").trim_end();
        let rows = link.query("asking for the version", sql, &[])?;
        let banner = rows.first().and_then(|row| text(row, 0)).unwrap_or_default().to_owned();
        match release(&banner) {
            Some(major) if major >= 12 => Ok(Self { major, banner }),
            Some(major) => Err(Error::target(
                format!("the server is Oracle Database {major}"),
                "mindful needs release 12 or later",
            )),
            None => Err(Error::target(
                format!("the server calls itself `{banner}`"),
                "check that it is an Oracle Database of release 12 or later",
            )),
        }
    }
}

/// `19` of `Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production`.
fn release(banner: &str) -> Option<u32> {
    let (_, release) = banner.split_once("Release ")?;
    release.split('.').next()?.parse().ok()
}

/// The server's own description, without invisible parts.
pub(crate) fn describe(link: &Link, version: &Version, block_bytes: u64) -> Description {
    let mut facts = BTreeMap::new();
    facts.insert("engine".to_owned(), "experimental".to_owned());
    for row in parameters(link).unwrap_or_default() {
        if let Some(name) = text(&row, 0) {
            facts.insert(name.to_owned(), text(&row, 1).unwrap_or_default().to_owned());
        }
    }
    let sizes = |sql| -> Vec<(String, u64)> {
        let rows = seen(link, sql);
        rows.iter().filter_map(|row| Some((text(row, 0)?.to_owned(), number(row, 1)?))).collect()
    };
    let sga = sizes(include_str!("../../sql/describe/sga.sql"));
    let cache_bytes = sga.iter().find(|(name, _)| name == "Buffer Cache Size").map(|(_, bytes)| *bytes);
    facts.extend(sga.into_iter().map(|(name, bytes)| (format!("sga {}", name.to_lowercase()), bytes.to_string())));
    let pools = sizes(include_str!("../../sql/describe/pools.sql")).into_iter();
    facts.extend(pools.map(|(name, bytes)| (format!("buffer pool {name}"), bytes.to_string())));
    for row in seen(link, include_str!("../../sql/describe/database.sql")) {
        for (at, name) in ["log_mode", "force_logging", "open_mode", "cdb", "database_role"].into_iter().enumerate() {
            facts.insert(name.to_owned(), text(&row, at).unwrap_or_default().to_owned());
        }
    }
    let there = HELD_FIXED.into_iter().filter(|(name, _)| facts.contains_key(*name));
    let not_waiting = facts.get("commit_wait").filter(|wait| *wait == "NOWAIT");
    Description {
        unsafe_settings: not_waiting.map(|wait| format!("commit_wait = {wait}")).into_iter().collect(),
        engine_version: version.banner.clone(),
        block_bytes,
        cache_bytes,
        endpoints: link.endpoints(),
        held_fixed: there.map(|(name, decides)| (name.to_owned(), decides.to_owned())).collect(),
        facts,
        words: oracle::words(),
        notice: Some(NOTICE.to_owned()),
        ..Description::default()
    }
}

const CALLS: f64 = 100_000.0;

pub(crate) fn clock_cost_us(link: &Link) -> Result<f64> {
    let sql = include_str!("../../sql/client/clock_cost.sql").trim_end();
    let done = link.execute("timing the clock", sql, &[("answer", Bind::Room(40))])?;
    let us = done.out.first().and_then(|text| text.as_ref()?.trim().parse::<f64>().ok());
    us.map(|us| us / CALLS).ok_or_else(|| Error::run("the answer is not a number", "send the bundle"))
}

/// The database as a self-proof is kept for it: by its numbers, or by its address where they may not be read. Release and
/// account are part of it, for texts and rights may differ.
pub(crate) fn identity(link: &Link, version: &Version) -> String {
    let row = seen(link, include_str!("../../sql/describe/identity.sql")).into_iter().next().unwrap_or_default();
    let numbers = (text(&row, 0), text(&row, 1));
    let database = match numbers {
        (Some(database), container) => format!("{database} {}", container.unwrap_or_default()),
        (None, _) => link.address().to_owned(),
    };
    format!("oracle {database} {} {}", version.banner, link.user().to_uppercase())
}

/// The rows of a view, empty if it may not be read.
fn seen(link: &Link, sql: &str) -> Vec<Row> {
    link.ask(sql.trim_end(), &[]).ok().and_then(std::result::Result::ok).unwrap_or_default()
}

/// Names and values of [`PARAMETERS`]; `None` if they may not be read.
pub(crate) fn parameters(link: &Link) -> Option<Vec<Row>> {
    let sql = statement::of_names(include_str!("../../sql/describe/parameters.sql"), PARAMETERS.split(' '));
    link.ask(&sql, &[]).ok()?.ok()
}

/// The readable files with mindful's tables; they may also contain foreign tables. Empty for a remote server, in ASM or
/// in a container.
pub(crate) fn data_files(link: &Link, namespace: &Namespace, events: &dyn Events) -> Result<Vec<PathBuf>> {
    if !link.is_local() {
        return Ok(Vec::new());
    }
    match link.ask(&statement::of_registry(include_str!("../../sql/describe/data_files.sql"), namespace), &[])? {
        Ok(rows) => {
            let names = rows.iter().filter_map(|row| text(row, 0)).map(PathBuf::from);
            Ok(names.filter(|path| can_be_read(path)).collect())
        }
        Err(failure) => {
            events.emit(denied(&failure, "v$datafile", &["V_$DATAFILE", "V_$TABLESPACE"])?);
            Ok(Vec::new())
        }
    }
}

/// Whether a file of data is there for this user; it may be a link, and anything but a file is not waited for.
fn can_be_read(path: &Path) -> bool {
    path.canonicalize().and_then(|path| files::open_file(&path)).is_ok()
}

/// Whether the server is on this host; its processes and files are not searched for.
pub(crate) fn host(link: &Link) -> HostView {
    HostView { local: link.is_local(), ..HostView::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_in_place_of_a_data_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, link, file] = ["pipe.dbf", "link.dbf", "file.dbf"].map(|name| folder.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::fs::write(&file, "data").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!([&pipe, &link, &file].map(|path| can_be_read(path)), [false, true, true]);
    }

    #[test]
    fn the_release_is_read_from_any_banner() {
        for (banner, major) in [
            ("Oracle Database 12c Enterprise Edition Release 12.2.0.1.0 - 64bit Production", Some(12)),
            ("Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production", Some(19)),
            ("Oracle Database 23ai Free Release 23.0.0.0.0 - Develop, Learn, and Run for Free", Some(23)),
            ("PostgreSQL 18", None),
        ] {
            assert_eq!(release(banner), major, "{banner}");
        }
    }
}
