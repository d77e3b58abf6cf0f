//! The mark of mindful's own files: a header in the first 4 KiB that names the file itself.
//!
//! A filled block device has one too. There it identifies the expected data, and does not permit writes.
//!
//! A file counts as mindful's own only if it is a regular file, its header is complete, and the header contains the
//! file's own inode number. So a copied header, with `cp` in another file or with `dd` on a device, gives no right to
//! write there.

use mindful_core::dataset::MOST_BYTES;
use mindful_core::plan::MOST_SCHEMAS;
use mindful_core::workload::draw::mix64;

pub(crate) const HEADER_BYTES: usize = 4_096;

/// Where the data begins: an offset that suits any I/O.
pub(crate) const DATA_START: u64 = 1 << 20;

const MAGIC: [u8; 16] = *b"mindful raw file";
const VERSION: u64 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileHeader {
    /// Drawn once for all files made together.
    pub set: u64,
    /// Number of this file among them, from 0.
    pub part: u64,
    pub parts: u64,
    pub seed: u64,
    pub schemas: u64,
    pub blocks_per_schema: u64,
    pub block_bytes: u64,
    pub data_bytes: u64,
    /// Bytes of data written so far; the file is complete when they are all.
    pub filled_bytes: u64,
    /// Inode number of the file; of a device, its number.
    pub inode: u64,
}

impl FileHeader {
    pub(crate) fn file_bytes(&self) -> u64 {
        DATA_START + self.data_bytes
    }

    pub(crate) fn complete(&self) -> bool {
        self.filled_bytes == self.data_bytes
    }

    pub(crate) fn content_key(&self) -> u64 {
        mix64(self.set ^ mix64(self.part))
    }

    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..16].copy_from_slice(&MAGIC);
        let words = self.words();
        for (bytes, word) in header[16..].chunks_exact_mut(8).zip(words.into_iter().chain([checksum(&words)])) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        header
    }

    /// The mark in `header`; `None` without one, or for an incomplete one.
    pub(crate) fn decode(header: &[u8]) -> Option<Self> {
        if header.len() < HEADER_BYTES || header[..16] != MAGIC {
            return None;
        }
        let word = |i: usize| header[16 + i * 8..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        let words: [u64; 11] = std::array::from_fn(word);
        let [version, set, part, parts, seed, schemas, blocks_per_schema, block_bytes, data_bytes, filled_bytes, inode] =
            words;
        let mark =
            Self { set, part, parts, seed, schemas, blocks_per_schema, block_bytes, data_bytes, filled_bytes, inode };
        let sane = version == VERSION && word(words.len()) == checksum(&words);
        (sane && mark.is_possible()).then_some(mark)
    }

    /// Whether a header's content is possible; its writer need not be mindful.
    fn is_possible(&self) -> bool {
        let bytes = self.schemas.checked_mul(self.blocks_per_schema).and_then(|b| b.checked_mul(self.block_bytes));
        self.part < self.parts
            && self.filled_bytes <= self.data_bytes
            && self.data_bytes <= MOST_BYTES
            && (1..=u64::from(MOST_SCHEMAS)).contains(&self.schemas)
            && self.block_bytes > 0
            && bytes.is_some_and(|bytes| bytes <= MOST_BYTES)
    }

    fn words(&self) -> [u64; 11] {
        [
            VERSION,
            self.set,
            self.part,
            self.parts,
            self.seed,
            self.schemas,
            self.blocks_per_schema,
            self.block_bytes,
            self.data_bytes,
            self.filled_bytes,
            self.inode,
        ]
    }
}

fn checksum(words: &[u64]) -> u64 {
    words.iter().fold(0x6d61_726b, |sum, word| mix64(sum ^ word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: FileHeader = FileHeader {
        set: 1,
        part: 0,
        parts: 2,
        seed: 3,
        schemas: 4,
        blocks_per_schema: 5,
        block_bytes: 8_192,
        data_bytes: 163_840,
        filled_bytes: 0,
        inode: 77,
    };

    #[test]
    fn a_mark_survives_the_round_trip() {
        assert_eq!(FileHeader::decode(&MARK.encode()), Some(MARK));
    }

    #[test]
    fn a_header_that_no_file_can_have_is_no_mark() {
        let most = u64::MAX;
        for impossible in [
            FileHeader { schemas: 0, ..MARK },
            FileHeader { schemas: (1 << 32) + 1, ..MARK },
            FileHeader { schemas: most, ..MARK },
            FileHeader { blocks_per_schema: most, ..MARK },
            FileHeader { block_bytes: 0, ..MARK },
            FileHeader { block_bytes: most, ..MARK },
            FileHeader { data_bytes: most, filled_bytes: most, ..MARK },
            FileHeader { filled_bytes: MARK.data_bytes + 1, ..MARK },
            FileHeader { part: 2, ..MARK },
        ] {
            assert_eq!(FileHeader::decode(&impossible.encode()), None, "{impossible:?}");
        }
    }

    #[test]
    fn a_header_with_a_changed_word_is_not_a_mark() {
        for at in (0..112).step_by(4) {
            let mut header = MARK.encode();
            header[at] ^= 1;
            assert_eq!(FileHeader::decode(&header), None, "byte {at}");
        }
        assert_eq!(FileHeader::decode(&[0; HEADER_BYTES]), None);
        assert_eq!(FileHeader::decode(b"mindful raw file"), None);
    }
}
