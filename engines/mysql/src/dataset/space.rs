//! Space that a dataset takes.

use std::path::Path;

use mindful_core::Result;
use mindful_host::space;

use crate::dataset::layout::PAGE_BYTES;

/// Bytes that a page's two entries take in an index with pages that are two thirds full after inserts in random order.
pub(super) const INDEXED_BYTES: u64 = 80;
/// Bytes of index, of the server's own files and of its free space, in addition to the pages of the tables.
const RESERVE_BYTES: u64 = 64 << 20;

/// Refuses a load of `blocks` pages that does not fit into `folder`.
pub(crate) fn check_room(folder: &Path, blocks: u64) -> Result<()> {
    let needed = blocks.saturating_mul(PAGE_BYTES + INDEXED_BYTES).saturating_add(RESERVE_BYTES);
    space::require("the load", folder, needed, "pass a smaller --scale or fewer --schemas, or another --data-dir")
}
