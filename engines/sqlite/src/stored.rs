//! Compression and deduplication ratios of stored pages, measured on pages of the file itself.

use std::fs::File;
use std::os::unix::fs::FileExt;

use mindful_host::compressibility::Sample;

/// Pages that are read, evenly spread over the file.
const PAGES: u64 = 256;

/// First byte of a leaf of a table.
const TABLE_LEAF: u8 = 13;

/// The ratios of pages of `page_bytes` with one row each, in words; `None` if none could be read.
///
/// Bytes by bytes after LZ4, one page at a time; pages by distinct pages.
pub(crate) fn measure(file: &File, page_bytes: u64) -> Option<String> {
    let pages = file.metadata().ok()?.len() / page_bytes;
    let step = (pages / PAGES).max(1);
    let mut sample = Sample::default();
    for number in (0..pages).step_by(step as usize) {
        let mut page = vec![0; page_bytes as usize];
        file.read_exact_at(&mut page, number * page_bytes).ok()?;
        if page[0] == TABLE_LEAF && page[3..5] == [0, 1] {
            sample.add(page);
        }
    }
    sample.ratios().map(|ratios| ratios.to_string())
}
