//! Compression and deduplication ratios of stored blocks, measured on blocks read back.

use mindful_core::Result;
use mindful_core::dataset::Dataset;
use mindful_host::compressibility::{Ratios, Sample};

use crate::connect::link::Link;
use crate::dataset::space::BLOCK_BYTES;
use crate::error::lacks_right;
use crate::names::{Namespace, TableKind};

/// Blocks that are read, evenly spread over the first segment (1 GiB) of the first schema.
const BLOCKS: u64 = 256;

const SEGMENT: u64 = 131_072;

/// Reads blocks of `dataset` back from the server's file; `None` if the role may not read files of the server.
pub(crate) fn measure(link: &Link, namespace: &Namespace, dataset: &Dataset) -> Result<Option<Ratios>> {
    let control = link.control()?;
    let (table, within) = (namespace.table(TableKind::Blocks, 1), dataset.blocks_per_schema.min(SEGMENT));
    let step = (within / BLOCKS).max(1);
    let sql = include_str!("../../sql/stored_blocks.sql");
    let read = link.run_on_tables("reading stored blocks", async {
        match control.query(sql, &[&table, &(step as i64), &(within as i64), &(BLOCK_BYTES as i64)]).await {
            Ok(rows) => Ok(Some(rows)),
            Err(error) if lacks_right(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    })?;
    Ok(read.and_then(|rows| ratios(rows.iter().map(|row| row.get::<_, Option<&[u8]>>("block")))))
}

/// `None` without any block.
fn ratios<'a>(blocks: impl Iterator<Item = Option<&'a [u8]>>) -> Option<Ratios> {
    let mut sample = Sample::default();
    for block in blocks.flatten().filter(|block| block.len() as u64 == BLOCK_BYTES) {
        sample.add(block.to_vec());
    }
    sample.ratios()
}
