//! The content of mindful's files: incompressible, and every sector identifies its own place.
//!
//! A sector of 512 bytes is a pure function of its file, its number and the generation of its last write. The first
//! word names file and sector, the second the generation, both scrambled; the rest is a stream drawn from the two.
//! Devices write sectors atomically, so a block can be checked even if it is read during a write.

use mindful_core::workload::draw::mix64;

/// Length of a sector in bytes.
pub(crate) const SECTOR: u64 = 512;

const WORDS: usize = SECTOR as usize / 8;

/// Neighbouring draws in the stream of a sector, so that they can be computed at once.
const LANES: usize = 4;

/// Fills `block`, which begins at byte `offset` of the file `key`, with content of `generation`.
pub(crate) fn fill(block: &mut [u8], key: u64, offset: u64, generation: u64) {
    let first = offset / SECTOR;
    for (sector, number) in block.chunks_exact_mut(SECTOR as usize).zip(first..) {
        for (bytes, word) in sector.chunks_exact_mut(8).zip(sector_words(key, number, generation)) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }
}

/// Byte offset of the first sector of `block` with wrong content; `None` if all are correct.
pub(crate) fn first_mismatch(block: &[u8], key: u64, offset: u64) -> Option<u64> {
    let first = offset / SECTOR;
    block.chunks_exact(SECTOR as usize).zip(first..).find_map(|(sector, number)| {
        let word = |i: usize| sector[i * 8..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let generation = word(1) ^ mix64(word(0));
        let expected = sector_words(key, number, generation);
        (0..WORDS).any(|i| word(i) != expected[i]).then_some(number * SECTOR)
    })
}

fn sector_words(key: u64, number: u64, generation: u64) -> [u64; WORDS] {
    let name = mix64(key ^ mix64(number));
    let stamp = generation ^ mix64(name);
    let mut lanes: [u64; LANES] = std::array::from_fn(|lane| mix64(name ^ mix64(generation ^ (lane as u64) << 60)) | 1);
    let mut words = [0; WORDS];
    for step in words.chunks_exact_mut(LANES) {
        for (word, lane) in step.iter_mut().zip(&mut lanes) {
            // Marsaglia's xorshift64 (2003), triple 13, 7, 17.
            *lane ^= *lane << 13;
            *lane ^= *lane >> 7;
            *lane ^= *lane << 17;
            *word = *lane;
        }
    }
    words[0] = name;
    words[1] = stamp;
    words
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_block_checks_only_where_it_belongs() {
        let mut block = vec![0; 8_192];
        fill(&mut block, 7, 16_384, 3);
        assert_eq!(first_mismatch(&block, 7, 16_384), None);
        assert_eq!(first_mismatch(&block, 7, 8_192), Some(8_192), "misdirected");
        assert_eq!(first_mismatch(&block, 8, 16_384), Some(16_384), "of another file");
        assert_eq!(first_mismatch(&[0; 512], 7, 0), Some(0), "never written");
        block[5_000] ^= 1;
        assert_eq!(first_mismatch(&block, 7, 16_384), Some(16_384 + 4_608), "one bit");
    }

    #[test]
    fn sectors_of_different_generations_check_side_by_side() {
        let mut block = vec![0; 1_024];
        fill(&mut block[..512], 7, 0, 1);
        fill(&mut block[512..], 7, 512, 2);
        assert_eq!(first_mismatch(&block, 7, 0), None);
    }

    #[test]
    fn bytes_are_spread_evenly_and_no_word_repeats() {
        let mut data = vec![0; 1 << 20];
        fill(&mut data, 1, 0, 0);
        let mut counts = [0_u32; 256];
        for byte in &data {
            counts[usize::from(*byte)] += 1;
        }
        let expected = data.len() as f64 / 256.0;
        let chi_square: f64 = counts.iter().map(|c| (f64::from(*c) - expected).powi(2) / expected).sum();
        assert!(chi_square < 400.0, "chi square {chi_square} with 255 degrees of freedom");
        let words: HashSet<_> = data.chunks_exact(8).collect();
        assert_eq!(words.len(), data.len() / 8, "nothing for a compressor or deduplication to find");
    }
}
