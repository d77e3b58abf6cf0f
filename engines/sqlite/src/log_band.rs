//! Log that an updated block should cost, from the format of SQLite's write-ahead log (sqlite.org/fileformat2.html#walformat).
//!
//! A commit writes each page that its transaction changed, as one frame: the page and a header of 24 bytes. Rows fill a
//! page each and keep their length, and no changing column is indexed, so an update changes the page of its row and no
//! other: light and heavy redo cost one frame alike. Nothing else is logged, not even the first page of the file.
//!
//! A page that is updated twice in a transaction is written once, so only transactions of one operation have a band.
//! Pages that had to leave the cache before their commit may be written again; `cache_spill` tells how many there were.

use mindful_core::description::{ExpectedLog, LogImages};

use crate::counters::FRAME_HEADER;

/// What is expected of pages of `page_bytes`. The width is for operations that a window cuts.
pub fn expected(page_bytes: u64) -> ExpectedLog {
    let frame = (page_bytes + FRAME_HEADER) as f64;
    let band = [frame * 0.8, frame * 1.25];
    let images = Some(LogImages { counter: "cache_spill".to_owned(), bytes: frame });
    ExpectedLog { light: band, heavy: band, images, once_a_transaction: true }
}
