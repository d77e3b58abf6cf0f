//! WAL that an updated block should cost, from the formats of PostgreSQL's records (`access/xlogrecord.h`,
//! `access/heapam_xlog.h`, `access/xact.h`).
//!
//! A HOT update is one record: header 24, block reference 20, main data 2 + 14, header of the new row 5, lengths of what
//! it shares with the old one 4, so 69 bytes, and the bytes from the first to the last one that changed: 1 to 16 for
//! light redo (two counters at the row's end), the eight filler columns and the counters (1,000 to 1,016) for heavy.
//! To that come the commit, 40 bytes for one or more blocks; pruning, about 90 bytes for every sixth version; page
//! headers and what the server logs about itself. `wal_level=logical` logs the whole row, 1,032 bytes, either way.
//!
//! With `full_page_writes` the first change of a block after a checkpoint carries the block's image without its hole:
//! one version of the row or seven, 8,192 bytes and its header at most. `wal_fpi` tells how many there were.

use std::collections::BTreeMap;

use mindful_core::description::{ExpectedLog, LogImages};

use crate::shape::{NARROW, Shape};

/// Bytes of WAL for an updated block without image: `[low, high]`.
const LIGHT: [f64; 2] = [70.0, 200.0];
const HEAVY: [f64; 2] = [1_000.0, 1_300.0];
/// An image with its header.
const IMAGE: f64 = 8_240.0;

/// What is expected under `settings`; nothing for rows shaped for a ratio, whose length differs.
pub fn expected(settings: &BTreeMap<String, String>, shape: Option<Shape>) -> Option<ExpectedLog> {
    if shape.is_some_and(|shape| shape.number != NARROW) {
        return None;
    }
    let is = |name: &str, value: &str| settings.get(name).is_some_and(|found| found == value);
    let images = is("full_page_writes", "on").then(|| LogImages { counter: "wal_fpi".to_owned(), bytes: IMAGE });
    let light = if is("wal_level", "logical") { HEAVY } else { LIGHT };
    Some(ExpectedLog { light, heavy: HEAVY, images, once_a_transaction: false })
}
