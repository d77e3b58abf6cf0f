//! Rows in PostgreSQL's binary COPY format.

use mindful_core::dataset::Content;
use mindful_core::dataset::LayoutProof;
use mindful_core::draw::{self, Permutation, Purpose};

/// Columns of filler in a row.
pub const FILLERS: usize = 8;

/// Bytes in each of them.
pub const FILLER_BYTES: usize = 124;

/// First bytes of a binary COPY: signature, flags, no extension.
pub const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// What ends it.
pub const TRAILER: &[u8] = &[0xff, 0xff];

const COLUMNS: i16 = 4 + FILLERS as i16;

/// Bytes of one row in the stream.
pub const ROW_BYTES: usize = 2 + 4 * 12 + FILLERS * (4 + FILLER_BYTES);

/// Writes the rows of one table, block after block.
pub struct Rows {
    layout: Permutation,
    content: Content,
    filler: u64,
    blocks: u64,
    next: u64,
}

impl Rows {
    /// The rows of `schema` (from 1) with `blocks` rows.
    pub fn new(blocks: u64, seed: u64, schema: u32, content: Content) -> Self {
        Self {
            layout: Permutation::layout(blocks, seed, schema, LayoutProof::MAX_CORRELATION),
            content,
            filler: draw::stream_seed(seed, schema, Purpose::Filler) as u64,
            blocks,
            next: 0,
        }
    }

    /// Appends whole rows to `out` until it holds `bytes` or there are no more; returns how many.
    pub fn fill(&mut self, out: &mut Vec<u8>, bytes: usize) -> u64 {
        let before = self.next;
        while self.next < self.blocks && out.len() + ROW_BYTES <= bytes {
            self.row(out);
            self.next += 1;
        }
        self.next - before
    }

    fn row(&self, out: &mut Vec<u8>) {
        let key = self.layout.get(self.next) + 1;
        out.extend_from_slice(&COLUMNS.to_be_bytes());
        bigint(out, key);
        bigint(out, self.next);
        let mut state = self.filler ^ key.wrapping_mul(0xd134_2543_de82_ef95);
        for column in 0..FILLERS {
            out.extend_from_slice(&(FILLER_BYTES as u32).to_be_bytes());
            self.filler(out, &mut state, column);
        }
        bigint(out, 0);
        bigint(out, key);
    }

    /// One column of filler. Each differs from its neighbours, so that turning them round changes every one.
    fn filler(&self, out: &mut Vec<u8>, state: &mut u64, column: usize) {
        let end = out.len() + FILLER_BYTES;
        match self.content {
            Content::Repeated => out.resize(end, b'A' + column as u8),
            Content::Mixed { compress_ratio, .. } => {
                let random = (FILLER_BYTES as f64 / compress_ratio.max(1.0)).ceil() as usize;
                let random_end = out.len() + random.clamp(8, FILLER_BYTES);
                while out.len() < random_end {
                    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                    out.extend_from_slice(&draw::mix64(*state).to_le_bytes());
                }
                out.truncate(random_end);
                out.resize(end, b'A' + column as u8);
            }
        }
    }
}

fn bigint(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&8_u32.to_be_bytes());
    out.extend_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_the_length_it_says() {
        let mut rows = Rows::new(5, 1, 1, Content::INCOMPRESSIBLE);
        let mut out = Vec::new();
        assert_eq!(rows.fill(&mut out, 3 * ROW_BYTES + 1), 3);
        assert_eq!(out.len(), 3 * ROW_BYTES);
        assert_eq!(rows.fill(&mut out, usize::MAX), 2);
    }
}
