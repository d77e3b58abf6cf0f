//! What stored blocks are to a storage array that compresses and deduplicates: measured on blocks read back.

use std::collections::HashSet;
use std::fmt;

use mindful_core::Result;
use mindful_core::dataset::Dataset;

use crate::error::lacks_right;
use crate::link::Link;
use crate::names::{Kind, Namespace};
use crate::space::BLOCK_BYTES;

/// Blocks looked at, evenly spread over the first segment (1 GiB) of the first schema.
const SAMPLE: u64 = 256;

/// Blocks in a segment.
const SEGMENT: u64 = 131_072;

/// Ratios of the blocks looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stored {
    /// Bytes by bytes after LZ4, each block by itself.
    pub compress_ratio: f64,
    /// Blocks by distinct blocks.
    pub dedupe_ratio: f64,
    /// Blocks looked at.
    pub blocks: u64,
}

impl fmt::Display for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compress_ratio, dedupe_ratio, blocks } = self;
        write!(f, "compress ratio {compress_ratio:.2}, dedupe ratio {dedupe_ratio:.2} (LZ4, {blocks} blocks read back)")
    }
}

/// Reads blocks of `dataset` back from the server's file; `None` where the role may not read files of the server.
pub fn measure(link: &Link, namespace: &Namespace, dataset: &Dataset) -> Result<Option<Stored>> {
    let control = link.control()?;
    let (table, within) = (namespace.table(Kind::Blocks, 1), dataset.blocks_per_schema.min(SEGMENT));
    let step = (within / SAMPLE).max(1);
    let sql = include_str!("../sql/stored_blocks.sql");
    let read = link.run("reading stored blocks", async {
        match control.query(sql, &[&table, &(step as i64), &(within as i64), &(BLOCK_BYTES as i64)]).await {
            Ok(rows) => Ok(Some(rows)),
            Err(error) if lacks_right(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    })?;
    Ok(read.and_then(|rows| ratios(rows.iter().map(|row| row.get::<_, Option<&[u8]>>("block")))))
}

/// `None` when there is no block among them.
fn ratios<'a>(blocks: impl Iterator<Item = Option<&'a [u8]>>) -> Option<Stored> {
    let (mut bytes, mut compressed, mut distinct, mut count) = (0, 0, HashSet::new(), 0);
    for block in blocks.flatten().filter(|block| block.len() as u64 == BLOCK_BYTES) {
        bytes += block.len();
        // What does not get shorter is stored as it is.
        compressed += lz4_flex::block::compress(block).len().min(block.len());
        distinct.insert(block);
        count += 1;
    }
    (count > 0).then(|| Stored {
        compress_ratio: bytes as f64 / compressed as f64,
        dedupe_ratio: count as f64 / distinct.len() as f64,
        blocks: count,
    })
}
