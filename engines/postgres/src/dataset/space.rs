//! Whether a load fits, before its first byte.

use std::path::Path;

use mindful_core::Result;
use mindful_core::contract::event::{Events, emit_note};
use mindful_core::dataset::DatasetPlan;
use mindful_core::plan::units::format_bytes;
use mindful_host::space;

use crate::connect::link::Link;

/// Bytes of a block, as nearly every server is built; verified when a target is opened.
pub(crate) const BLOCK_BYTES: u64 = 8192;

/// Bytes of index, maps and rounding that a block brings along.
const EXTRA_BYTES_PER_BLOCK: u64 = 24;

/// Bytes of WAL for a row, besides the row itself, where the server keeps WAL of loads.
const WAL_BYTES_PER_ROW: u64 = 200;

/// Free space that the server needs.
const RESERVE_BYTES: u64 = 64 << 20;

/// Bytes that a load of `blocks` with rows of `row_bytes` needs.
fn needed(blocks: u64, row_bytes: u64, keeps_wal: bool) -> u64 {
    let wal = if keeps_wal { row_bytes + WAL_BYTES_PER_ROW } else { 0 };
    blocks * (BLOCK_BYTES + EXTRA_BYTES_PER_BLOCK + wal) + RESERVE_BYTES
}

/// Refuses a load that does not fit, with both figures; reports if that is unknown.
pub(crate) fn check(
    link: &Link,
    tablespace: Option<&str>,
    blocks: u64,
    row_bytes: u64,
    events: &dyn Events,
) -> Result<()> {
    let control = link.control()?;
    let (wal_level, folder): (String, Option<String>) = link.run("looking for free space", async {
        let sql = include_str!("../../sql/data_folder.sql");
        let row = control.query_one(sql, &[&tablespace]).await?;
        Ok((row.get("wal_level"), row.get("folder")))
    })?;
    let needed = needed(blocks, row_bytes, wal_level != "minimal");
    let here = link.server().host_is_local(0);
    let Some(folder) = folder.filter(|_| here) else {
        let needed = format_bytes(needed);
        emit_note(events, format!("the load needs {needed}; free space of the server is not known here"));
        return Ok(());
    };
    space::require("the load", Path::new(&folder), needed, WITH_LESS)
}

/// Refuses a load of `plan` into a private server below `folder`, which keeps no WAL of loads.
pub(crate) fn check_unlogged(folder: &Path, plan: &DatasetPlan) -> Result<()> {
    space::require("the load", folder, needed(plan.blocks(), 0, false), WITH_LESS)
}

/// The remedy for a load that does not fit.
const WITH_LESS: &str = "pass a smaller --scale or fewer --schemas, or another --data-dir";
