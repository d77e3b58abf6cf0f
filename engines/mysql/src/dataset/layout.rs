//! The rows of a table: a visited row and a ballast row in each page.
//!
//! InnoDB fits two equal rows of any length into a page. A visited row has about 7.7 KB and its ballast about 1 KB. The
//! next visited row does not fit into the same page, so it begins a new page.

use std::path::Path;

use mindful_core::Result;
use mindful_core::dataset::{Content, LayoutProof};
use mindful_core::workload::draw::{self, Permutation, Purpose};
use mindful_host::space;

pub(crate) const PAGE_BYTES: u64 = 16_384;

/// Columns of filler that an update may change.
pub(crate) const FILLERS: usize = 8;

pub(crate) const FILLER_BYTES: usize = 124;

/// Bytes that make a visited row so long that no other row fits into its page with it and its ballast.
pub(crate) const PAD_BYTES: usize = 6_700;

/// Bytes that a page's two entries take in an index with pages that are two thirds full after inserts in random order.
pub(super) const INDEXED_BYTES: u64 = 80;
/// Bytes of index, of the server's own files and of its free space, in addition to the pages of the tables.
const RESERVE_BYTES: u64 = 64 << 20;

/// Refuses a load of `blocks` pages that does not fit into `folder`.
pub(crate) fn check_room(folder: &Path, blocks: u64) -> Result<()> {
    let needed = blocks.saturating_mul(PAGE_BYTES + INDEXED_BYTES).saturating_add(RESERVE_BYTES);
    space::require("the load", folder, needed, "pass a smaller --scale or fewer --schemas, or another --data-dir")
}

/// Scan tables have separate layouts, numbered beyond those of all schemas.
const SCANNED: u32 = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredRow<'a> {
    /// The primary key: even for visited rows, odd for ballast.
    pub id: u64,
    /// The key it is visited by, from 1, and its place among the visited ones, from 0; `None` for ballast.
    pub visited: Option<(u64, u64)>,
    pub fillers: &'a [u8],
    /// Contents that make a visited row long; empty in ballast.
    pub pad: &'a [u8],
    /// A number that never changes.
    pub tail: u64,
}

/// The key, from 0, by place of `schema` with `blocks` visited rows.
pub(crate) fn order(blocks: u64, seed: u64, schema: u32) -> Permutation {
    Permutation::layout(blocks, seed, schema, LayoutProof::MAX_CORRELATION)
}

#[derive(Debug)]
pub(crate) struct Rows {
    order: Permutation,
    filler: u64,
    content: Content,
    blocks: u64,
    next: u64,
    bytes: Vec<u8>,
}

impl Rows {
    /// The rows of `schema` (from 1) with `blocks` visited ones; of its scan table where `scanned`.
    pub(crate) fn new(blocks: u64, seed: u64, schema: u32, scanned: bool, content: Content) -> Self {
        let layout = if scanned { schema + SCANNED } else { schema };
        Self {
            order: order(blocks, seed, layout),
            filler: draw::stream_seed(seed, layout, Purpose::Filler) as u64,
            content,
            blocks,
            next: 0,
            bytes: vec![0; FILLERS * FILLER_BYTES + PAD_BYTES],
        }
    }

    /// Hands the next page's rows to `take`, the visited one first; returns whether there was a page left.
    pub(crate) fn page(&mut self, mut take: impl FnMut(&StoredRow<'_>)) -> bool {
        if self.next == self.blocks {
            return false;
        }
        let (place, key) = (self.next, self.order.get(self.next) + 1);
        self.next += 1;
        self.fill(FILLERS * FILLER_BYTES + PAD_BYTES, 2 * key);
        let (fillers, pad) = self.bytes.split_at(FILLERS * FILLER_BYTES);
        take(&StoredRow { id: 2 * place, visited: Some((key, place)), fillers, pad, tail: key });
        self.fill(FILLERS * FILLER_BYTES, 2 * key + 1);
        take(&StoredRow {
            id: 2 * place + 1,
            visited: None,
            fillers: &self.bytes[..FILLERS * FILLER_BYTES],
            pad: &[],
            tail: key,
        });
        true
    }

    /// Random bytes, as many as the compress ratio requires, spread over all columns; the rest repeats. Adjacent
    /// columns differ, so that rotating them changes every one.
    fn fill(&mut self, length: usize, stream: u64) {
        let share = match self.content {
            Content::Mixed { compress_ratio, .. } => 1.0 / compress_ratio.max(1.0),
            Content::Repeated => 0.0,
        };
        let mut state = self.filler ^ stream.wrapping_mul(0xd134_2543_de82_ef95);
        for (column, part) in self.bytes[..length].chunks_mut(FILLER_BYTES).enumerate() {
            let random = (part.len() as f64 * share).ceil() as usize;
            let (drawn, rest) = part.split_at_mut(random);
            for word in drawn.chunks_mut(8) {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                word.copy_from_slice(&draw::mix64(state).to_le_bytes()[..word.len()]);
            }
            plain(drawn);
            rest.fill(b'A' + (column % FILLERS) as u8);
        }
    }
}

impl StoredRow<'_> {
    /// Appends the row as `LOAD DATA` reads it by default: columns end with a tab, rows with a line feed. Filler and pad
    /// hold no byte that would have to be escaped.
    pub(crate) fn text(&self, out: &mut Vec<u8>) {
        number(out, self.id);
        match self.visited {
            Some((key, place)) => {
                number(out, key);
                number(out, place);
            }
            None => out.extend_from_slice(b"\\N\t\\N\t"),
        }
        for filler in self.fillers.chunks(FILLER_BYTES) {
            out.extend_from_slice(filler);
            out.push(b'\t');
        }
        out.extend_from_slice(self.pad);
        out.push(b'\t');
        number(out, 0);
        number(out, self.tail);
        if let Some(last) = out.last_mut() {
            *last = b'\n';
        }
    }
}

fn number(out: &mut Vec<u8>, value: u64) {
    use std::io::Write;
    // Writing to memory cannot fail.
    let _ = write!(out, "{value}\t");
}

/// Replaces the four bytes that `LOAD DATA` would have to escape: searching for them took most of a load's CPU.
fn plain(bytes: &mut [u8]) {
    for byte in bytes {
        let means_something = matches!(*byte, 0 | b'\t' | b'\n' | b'\\');
        *byte |= u8::from(means_something) << 7;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The part of a page that rows can fill, without header, trailer, and the 16th that is kept free.
    const ROOM: usize = 15_228;

    fn bytes(row: &StoredRow<'_>) -> usize {
        // Header, primary key, transaction and roll pointer, four numbers.
        7 + 8 + 13 + 4 * 8 + row.fillers.len() + row.pad.len()
    }

    #[test]
    fn a_page_holds_a_visited_row_and_its_ballast_and_no_more() {
        let mut rows = Rows::new(3, 1, 1, false, Content::INCOMPRESSIBLE);
        let (mut lengths, mut ids, mut keys) = (Vec::new(), Vec::new(), BTreeSet::new());
        while rows.page(|row| {
            lengths.push(bytes(row));
            ids.push(row.id);
            keys.extend(row.visited.map(|(key, _)| key));
        }) {}
        assert_eq!(ids, [0, 1, 2, 3, 4, 5]);
        assert_eq!(keys, BTreeSet::from([1, 2, 3]));
        assert!(lengths[0] + lengths[1] <= ROOM, "a row and its ballast do not fit");
        assert!(lengths[0] + lengths[1] + lengths[2] > ROOM, "two visited rows fit one page");
    }

    #[test]
    fn text_has_a_line_a_row_and_a_column_between_tabs() {
        let mut rows = Rows::new(200, 1, 1, false, Content::INCOMPRESSIBLE);
        let mut text = Vec::new();
        while rows.page(|row| row.text(&mut text)) {}
        let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        assert_eq!(lines.len(), 2 * 200 + 1, "a line feed within a row");
        let columns = |line: &&[u8]| line.split(|byte| *byte == b'\t').count();
        assert!(lines[..400].iter().all(|line| columns(line) == FILLERS + 6), "a tab within a column");
        let escapes = text.split(|byte| *byte == b'\\').count() - 1;
        assert_eq!((escapes, text.contains(&0)), (2 * 200, false), "only the NULLs of ballast are escaped");
    }

    #[test]
    fn random_filler_takes_all_other_bytes() {
        let mut rows = Rows::new(50, 1, 1, false, Content::INCOMPRESSIBLE);
        let mut seen = BTreeSet::new();
        while rows.page(|row| seen.extend(row.pad.iter().copied())) {}
        assert_eq!(seen.len(), 252);
    }

    #[test]
    fn repeated_content_differs_between_columns() {
        let mut rows = Rows::new(1, 1, 1, false, Content::Repeated);
        rows.page(|row| assert_ne!(row.fillers[0], row.fillers[FILLER_BYTES]));
    }
}
