//! What stored pages are to a storage array that compresses and deduplicates: measured on pages of the file itself.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Pages looked at, evenly spread over the file.
const SAMPLE: u64 = 256;

/// First byte of a leaf of a table.
const TABLE_LEAF: u8 = 13;

/// The ratios of pages of `page_bytes` that hold one row each, in words; `None` when none could be read.
///
/// Bytes by bytes after LZ4, each page by itself; pages by distinct pages.
pub fn measure(file: &File, page_bytes: u64) -> Option<String> {
    let pages = file.metadata().ok()?.len() / page_bytes;
    let step = (pages / SAMPLE).max(1);
    let (mut compressed, mut distinct, mut count) = (0, HashSet::new(), 0_usize);
    for number in (0..pages).step_by(step as usize) {
        let mut page = vec![0; page_bytes as usize];
        file.read_exact_at(&mut page, number * page_bytes).ok()?;
        if page[0] == TABLE_LEAF && page[3..5] == [0, 1] {
            // What does not get shorter is stored as it is.
            compressed += lz4_flex::block::compress(&page).len().min(page.len());
            distinct.insert(page);
            count += 1;
        }
    }
    (count > 0).then(|| {
        let compress = (count as u64 * page_bytes) as f64 / compressed as f64;
        let dedupe = count as f64 / distinct.len() as f64;
        format!("compress ratio {compress:.2}, dedupe ratio {dedupe:.2} (LZ4, {count} pages read back)")
    })
}
