//! Compression and deduplication ratios of data on a storage array, from a sample of its blocks.

use std::collections::HashSet;
use std::fmt;

#[derive(Debug, Clone, Default)]
pub struct Sample {
    bytes: usize,
    compressed: usize,
    distinct: HashSet<Vec<u8>>,
    blocks: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratios {
    /// Bytes by bytes after LZ4, one block at a time.
    pub compress_ratio: f64,
    /// Blocks by distinct blocks.
    pub dedupe_ratio: f64,
    pub blocks: u64,
}

impl fmt::Display for Ratios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compress_ratio, dedupe_ratio, blocks } = self;
        write!(f, "compress ratio {compress_ratio:.2}, dedupe ratio {dedupe_ratio:.2} (LZ4, {blocks} blocks read back)")
    }
}

impl Sample {
    /// Examines one more block, which is not empty.
    pub fn add(&mut self, block: Vec<u8>) {
        self.bytes += block.len();
        // Blocks that do not become shorter are stored uncompressed.
        self.compressed += lz4_flex::block::compress(&block).len().min(block.len());
        self.distinct.insert(block);
        self.blocks += 1;
    }

    /// The ratios; `None` without blocks.
    pub fn ratios(&self) -> Option<Ratios> {
        (self.compressed > 0).then(|| Ratios {
            compress_ratio: self.bytes as f64 / self.compressed as f64,
            dedupe_ratio: self.blocks as f64 / self.distinct.len() as f64,
            blocks: self.blocks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_blocks_count_once_and_only_zeros_compress() {
        let mut sample = Sample::default();
        assert_eq!(sample.ratios(), None);
        for _ in 0..4 {
            sample.add(vec![0; 8192]);
        }
        let ratios = sample.ratios().unwrap();
        assert_eq!((ratios.dedupe_ratio, ratios.blocks), (4.0, 4));
        assert!(ratios.compress_ratio > 100.0, "{ratios:?}");
        let mut sample = Sample::default();
        sample.add((0..=255).collect());
        assert_eq!(sample.ratios().unwrap().compress_ratio.to_bits(), 1.0_f64.to_bits());
    }
}
