//! Rows in PostgreSQL's binary COPY format.

use mindful_core::dataset::LayoutProof;
use mindful_core::workload::draw::{self, Permutation, Purpose};

use crate::dataset::layout::{FILLERS, Shape};

/// First bytes of a binary COPY: signature, flags, no extension.
pub(crate) const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

pub(crate) const TRAILER: &[u8] = &[0xff, 0xff];

const COLUMNS: i16 = 4 + FILLERS as i16;

pub(crate) struct Rows {
    layout: Permutation,
    shape: Shape,
    filler: u64,
    blocks: u64,
    next: u64,
}

/// The key, from 0, by block of `schema` with `blocks` rows.
pub(crate) fn layout(blocks: u64, seed: u64, schema: u32) -> Permutation {
    Permutation::layout(blocks, seed, schema, LayoutProof::MAX_CORRELATION)
}

impl Rows {
    pub(crate) fn new(blocks: u64, seed: u64, schema: u32, shape: Shape) -> Self {
        Self {
            layout: layout(blocks, seed, schema),
            shape,
            filler: draw::stream_seed(seed, schema, Purpose::Filler) as u64,
            blocks,
            next: 0,
        }
    }

    pub(crate) const fn row_bytes(&self) -> usize {
        2 + 4 * 12 + FILLERS * (4 + self.shape.filler)
    }

    /// Appends whole rows to `out` until it has `bytes` or there are no more; returns their number.
    pub(crate) fn fill(&mut self, out: &mut Vec<u8>, bytes: usize) -> u64 {
        let before = self.next;
        while self.next < self.blocks && out.len() + self.row_bytes() <= bytes {
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
            out.extend_from_slice(&(self.shape.filler as u32).to_be_bytes());
            self.filler(out, &mut state, column);
        }
        bigint(out, 0);
        bigint(out, key);
    }

    /// One column of filler. Each differs from its neighbours, so that turning them round changes every one.
    fn filler(&self, out: &mut Vec<u8>, state: &mut u64, column: usize) {
        let (end, random_end) = (out.len() + self.shape.filler, out.len() + self.shape.random);
        while out.len() < random_end {
            *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            out.extend_from_slice(&draw::mix64(*state).to_le_bytes());
        }
        out.truncate(random_end);
        out.resize(end, b'A' + column as u8);
    }
}

fn bigint(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&8_u32.to_be_bytes());
    out.extend_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use mindful_core::dataset::Content;

    use super::*;
    use crate::dataset::layout::{NARROW, SHAPED};

    #[test]
    fn every_row_has_the_length_it_says() {
        for number in [NARROW, SHAPED] {
            let mut rows = Rows::new(5, 1, 1, Shape::new(number, Content::INCOMPRESSIBLE).expect("it can be had"));
            let (mut out, row) = (Vec::new(), rows.row_bytes());
            assert_eq!(rows.fill(&mut out, 3 * row + 1), 3);
            assert_eq!(out.len(), 3 * row);
            assert_eq!(rows.fill(&mut out, usize::MAX), 2);
        }
    }
}
