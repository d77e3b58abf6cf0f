//! The bytes of a row.

use mindful_core::dataset::Content;
use mindful_core::workload::draw::mix64;

/// Length of each of the narrow columns `c1` and `c2`.
pub(crate) const NARROW: usize = 16;

/// Contents of a page besides the filler: its own header, the row's, its numbers, the narrow columns. With the rest
/// filled nothing overflows, and no second row fits.
const BESIDE: u64 = 128;

#[derive(Debug, Clone)]
pub(crate) struct Filler {
    content: Content,
    seed: u64,
    distinct: u64,
    bytes: Vec<u8>,
}

impl Filler {
    /// The filler for tables of `rows` rows in pages of `page_bytes`.
    pub(crate) fn new(content: Content, seed: u64, rows: u64, page_bytes: u64) -> Self {
        let distinct = match content {
            Content::Mixed { dedupe_ratio, .. } => (rows as f64 / dedupe_ratio).ceil() as u64,
            Content::Repeated => rows,
        };
        Self { content, seed, distinct: distinct.max(1), bytes: vec![0; (page_bytes - BESIDE) as usize] }
    }

    /// The filler of row `key` in its `version`: as it was loaded (0) or as an update writes it.
    ///
    /// Random up to `1 / compress_ratio` of its length; rows that deduplicate share their bytes.
    pub(crate) fn row(&mut self, key: u64, version: u64) -> &[u8] {
        match self.content {
            Content::Repeated => self.bytes.fill(b'X' ^ (version as u8 & 1)),
            Content::Mixed { compress_ratio, .. } => {
                let random = (self.bytes.len() as f64 / compress_ratio.max(1.0)).ceil() as usize;
                let stream = mix64(self.seed ^ mix64(key % self.distinct) ^ version.rotate_left(32));
                scatter(&mut self.bytes[..random], stream);
            }
        }
        &self.bytes
    }
}

/// The narrow columns of `key` in `version`: random for all contents, so that they always change.
pub(crate) fn narrow(seed: u64, key: u64, version: u64) -> [[u8; NARROW]; 2] {
    let mut both = [[0; NARROW]; 2];
    scatter(both.as_flattened_mut(), mix64(seed ^ mix64(key)) ^ version.rotate_left(17));
    both
}

fn scatter(bytes: &mut [u8], stream: u64) {
    for (index, word) in bytes.chunks_mut(8).enumerate() {
        let random = mix64(stream.wrapping_add(index as u64)).to_le_bytes();
        word.copy_from_slice(&random[..word.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_differ_as_often_as_the_dedupe_ratio_says() {
        let content = Content::Mixed { compress_ratio: 1.0, dedupe_ratio: 4.0 };
        let mut filler = Filler::new(content, 1, 400, 8192);
        let rows: std::collections::HashSet<Vec<u8>> = (1..=400).map(|key| filler.row(key, 0).to_vec()).collect();
        assert_eq!(rows.len(), 100);
    }

    #[test]
    fn an_update_changes_every_byte_group_but_not_the_length() {
        let mut filler = Filler::new(Content::INCOMPRESSIBLE, 1, 400, 8192);
        let (before, after) = (filler.row(7, 0).to_vec(), filler.row(7, 1).to_vec());
        assert_eq!(before.len(), after.len());
        assert!(before.chunks(8).zip(after.chunks(8)).all(|(a, b)| a != b));
        assert_ne!(narrow(1, 7, 0), narrow(1, 7, 1));
    }
}
