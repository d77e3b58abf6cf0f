//! The use of a block in memory: from none to the work of a database on a page.

use std::hint::black_box;

use mindful_core::contract::file_read::BlockTouch;

#[derive(Debug)]
pub(crate) struct Toucher {
    look: BlockTouch,
    page: Vec<u8>,
    rows: u64,
}

impl Toucher {
    pub(crate) fn new(look: BlockTouch, block_bytes: u64) -> Self {
        let page = if look == BlockTouch::Parse { vec![0; block_bytes as usize] } else { Vec::new() };
        Self { look, page, rows: 0 }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.look == BlockTouch::None
    }

    pub(crate) fn take_rows(&mut self) -> u64 {
        std::mem::take(&mut self.rows)
    }

    #[inline]
    pub(crate) fn touch(&mut self, block: &[u8]) {
        match self.look {
            BlockTouch::None => {}
            BlockTouch::Byte => {
                black_box(block[block.len() / 2]);
            }
            BlockTouch::Checksum => {
                black_box(checksum(block));
            }
            BlockTouch::Parse => self.rows += self.parse(block),
        }
    }

    fn parse(&mut self, block: &[u8]) -> u64 {
        let page = &mut self.page[..block.len()];
        page.copy_from_slice(block);
        let (rows, sum) = heap_rows(page).unwrap_or_else(|| sector_rows(page));
        black_box(sum);
        rows
    }
}

/// Lanes of [`checksum`], as many as a database's page checksum has.
const LANES: usize = 32;

/// FNV-1a over 32 interleaved lanes of 32-bit words, folded by exclusive or: the shape of PostgreSQL's page checksum.
pub(crate) fn checksum(block: &[u8]) -> u32 {
    let mut lanes: [u32; LANES] = std::array::from_fn(|lane| 0x811c_9dc5 ^ lane as u32);
    let mut rows = block.chunks_exact(LANES * 4);
    for row in &mut rows {
        for (lane, bytes) in lanes.iter_mut().zip(row.chunks_exact(4)) {
            let word = bytes.first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
            *lane = (*lane ^ word).wrapping_mul(0x0100_0193);
        }
    }
    rows.remainder()
        .iter()
        .fold(lanes.into_iter().fold(0, |a, b| a ^ b), |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn u16_at(page: &[u8], at: usize) -> usize {
    page.get(at..at + 2).map_or(0, |b| usize::from(u16::from_le_bytes([b[0], b[1]])))
}

/// Walks a PostgreSQL heap page: line pointers from byte 24 to `pd_lower`, each to a tuple with a header that contains
/// the begin of its columns. `None` for other contents.
fn heap_rows(page: &[u8]) -> Option<(u64, u64)> {
    const HEADER: usize = 24;
    let (lower, upper, special, size) = (u16_at(page, 12), u16_at(page, 14), u16_at(page, 16), u16_at(page, 18));
    let whole = size & 0xff00 == page.len() && (1..=8).contains(&(size & 0xff));
    if !whole || lower < HEADER || lower > upper || upper > special || special > page.len() {
        return None;
    }
    let (mut rows, mut sum) = (0, 0_u64);
    for pointer in page[HEADER..lower].chunks_exact(4) {
        let item = u32::from_le_bytes([pointer[0], pointer[1], pointer[2], pointer[3]]) as usize;
        let (offset, state, length) = (item & 0x7fff, item >> 15 & 3, item >> 17);
        let Some(tuple) = page.get(offset..offset + length).filter(|tuple| state == 1 && tuple.len() > 23) else {
            continue;
        };
        let columns = tuple.get(usize::from(tuple[22])..).unwrap_or_default();
        sum = sum.wrapping_add(columns.first_chunk().map_or(0, |b| u64::from_le_bytes(*b)));
        sum = sum.wrapping_add(u16_at(tuple, 18) as u64 & 0x7ff);
        rows += 1;
    }
    Some((rows, sum))
}

/// Walks the sectors of a made file as rows of 512 bytes.
fn sector_rows(page: &[u8]) -> (u64, u64) {
    let rows = page.chunks_exact(crate::content::SECTOR as usize);
    let count = rows.len() as u64;
    let sum = rows.fold(0_u64, |sum, row| {
        let word = |i: usize| row[i * 8..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        sum.wrapping_add(word(0) ^ word(1)).wrapping_add(word(2))
    });
    (count, sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A heap page with a row for each of `lengths`.
    fn page(lengths: &[usize]) -> Vec<u8> {
        let mut page = vec![0_u8; 8_192];
        let (mut lower, mut upper) = (24, 8_192);
        for length in lengths {
            upper -= length;
            page[upper + 22] = 24;
            let pointer = upper as u32 | 1 << 15 | (*length as u32) << 17;
            page[lower..lower + 4].copy_from_slice(&pointer.to_le_bytes());
            lower += 4;
        }
        for (at, value) in [(12, lower), (14, upper), (16, 8_192), (18, 8_192 | 4)] {
            page[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes());
        }
        page
    }

    #[test]
    fn the_rows_of_a_heap_page_are_found() {
        let mut toucher = Toucher::new(BlockTouch::Parse, 8_192);
        toucher.touch(&page(&[1_024, 512, 64]));
        assert_eq!(toucher.take_rows(), 3);
    }

    #[test]
    fn bytes_that_are_no_page_never_make_it_panic() {
        let mut toucher = Toucher::new(BlockTouch::Parse, 8_192);
        for seed in 0..2_000_u64 {
            let mut bytes = page(&[100, 200, 300]);
            let at = mindful_core::workload::draw::mix64(seed) as usize % 40;
            bytes[at] = mindful_core::workload::draw::mix64(!seed) as u8;
            toucher.touch(&bytes);
        }
        toucher.touch(&[0xff; 8_192]);
        toucher.touch(&[0xff; 512]);
    }

    #[test]
    fn a_checksum_sees_every_bit() {
        let block = page(&[1_024]);
        let sum = checksum(&block);
        for at in [0, 1, 4_095, 8_191] {
            let mut changed = block.clone();
            changed[at] ^= 1;
            assert_ne!(checksum(&changed), sum, "byte {at}");
        }
    }
}
