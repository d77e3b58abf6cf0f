//! Log that an updated block should cost, from the format of SQLite's write-ahead log (sqlite.org/fileformat2.html#walformat).
//!
//! A commit writes each page that its transaction changed, as one frame: the page and a header of 24 bytes. Rows fill a
//! page each and keep their length, and no changing column is indexed, so an update changes the page of its row and no
//! other: light and heavy redo cost one frame alike. Nothing else is logged, not even the first page of the file.
//!
//! A page that is updated twice in a transaction is written once, so only transactions of one operation have a band.
//! Pages that had to leave the cache before their commit may be written again; `cache_spill` tells how many there were.

use crate::counters::FRAME_HEADER;

/// What is expected of pages of `page_bytes`, as facts for the record. The width is for operations that a window cuts.
pub fn facts(page_bytes: u64) -> [(&'static str, String); 4] {
    let frame = page_bytes + FRAME_HEADER;
    let band = format!("{}..{}", frame * 4 / 5, frame * 5 / 4);
    [
        ("log_band_light", band.clone()),
        ("log_band_heavy", band),
        ("log_band_commit", "each".to_owned()),
        ("log_image", format!("cache_spill {frame}")),
    ]
}
