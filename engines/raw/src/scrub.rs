//! Reads all blocks of mindful's files and proves that each has the right content.

use std::os::fd::OwnedFd;

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Error, Result};

use crate::access_pattern::Layout;
use crate::buffer::Buffer;
use crate::content;
use crate::guard::{Access, Source};
use crate::space::Space;

/// For each schema, the number of keys with a separate block of the right content.
pub(crate) fn good_blocks(
    sources: &[Source],
    space: &Space,
    layout: &Layout,
    access: Access,
    stop: &StopFlag,
) -> Result<Vec<u64>> {
    let mut buffer = Buffer::new(space.unit() as usize)
        .map_err(|e| Error::target(format!("no memory for a block: {e}"), "pass a smaller --block-size"))?;
    let files = sources.iter().map(|source| source.reader(access)).collect::<Result<Vec<OwnedFd>>>()?;
    let mut good = Vec::with_capacity(layout.schemas() as usize);
    for schema in 1..=layout.schemas() {
        let mut count = 0;
        let first = u64::from(schema - 1) * layout.blocks_per_schema();
        for block in first..first + layout.blocks_per_schema() {
            stop.refuse("the proof was stopped")?;
            let place = space.place(block);
            let (source, file) = (&sources[place.file as usize], &files[place.file as usize]);
            let read = rustix::io::pread(file, buffer.bytes_mut(), place.offset).map_err(|e| {
                Error::run(
                    format!("cannot read {} at {}: {e}", source.path.display(), place.offset),
                    "see the kernel log",
                )
            })?;
            let bytes = &buffer.bytes()[..read];
            let whole = read == buffer.len();
            // A foreign file has no pattern: only the readability of its blocks is checked.
            let right = source
                .mark
                .is_none_or(|mark| content::first_mismatch(bytes, mark.content_key(), place.offset).is_none());
            count += u64::from(whole && right);
        }
        good.push(count);
    }
    Ok(good)
}

/// Largest rank correlation, in size, of the orders of two neighbouring schemas; `None` for a single one.
pub(crate) fn cross_correlation(layout: &Layout) -> Option<f64> {
    (1..layout.schemas())
        .map(|schema| layout.schema(schema).correlation_with(layout.schema(schema + 1)))
        .max_by(|a, b| a.abs().total_cmp(&b.abs()))
}
