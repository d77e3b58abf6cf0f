//! The length of a row and its random part. They decide the compressibility of a stored block, and whether a new
//! version of the row still fits into the block of the old one.

use mindful_core::dataset::Content;
use mindful_core::{Error, Result};

use crate::dataset::space::BLOCK_BYTES;

pub(crate) const FILLERS: usize = 8;

/// Bytes of filler in a column without a requested ratio: rows of about 1 KiB, with room for six new versions.
const NARROW_FILLER: usize = 124;

/// Most bytes of filler in a column: the row fills its block.
const LONGEST_FILLER: usize = 1_008;

/// Compressed bytes of a block without its random part: page and tuple header, four numbers, the length of the rest.
const COMPRESSED_OVERHEAD: f64 = 92.0;

/// Compressed bytes of the repeating rest of a column, if there is one.
const COMPRESSED_REST: f64 = 11.0;

/// Compress ratios of stored blocks that rows can be shaped for.
pub(crate) const RATIOS: std::ops::RangeInclusive<f64> = 1.0..=30.0;

/// Versions of the row's layout, as the registry has them: narrow rows, and rows shaped for a compress ratio.
pub(crate) const NARROW: i32 = 1;
pub(crate) const SHAPED: i32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// [`NARROW`] or [`SHAPED`].
    pub number: i32,
    pub filler: usize,
    /// Random bytes among them; the rest repeats.
    pub random: usize,
}

impl Shape {
    /// The shape of `number` for `content`; refuses ratios that stored blocks cannot have.
    pub(crate) fn new(number: i32, content: Content) -> Result<Self> {
        content.refuse_repeated("blocks", "block of PostgreSQL has a key, log position and checksum of its own")?;
        match content {
            Content::Mixed { compress_ratio, .. } if number == SHAPED => Self::for_ratio(compress_ratio),
            Content::Mixed { compress_ratio, .. } => {
                let random = (NARROW_FILLER as f64 / compress_ratio.max(1.0)).ceil() as usize;
                Ok(Self { number, filler: NARROW_FILLER, random: random.clamp(8, NARROW_FILLER) })
            }
            Content::Repeated => Ok(Self { number, filler: NARROW_FILLER, random: 0 }),
        }
    }

    /// As many random bytes as remain when the whole block has compressed to its length by `ratio`.
    fn for_ratio(ratio: f64) -> Result<Self> {
        if !RATIOS.contains(&ratio) {
            return Err(Error::plan(
                format!("stored blocks cannot have a compress ratio of {ratio}"),
                format!("pass --compress-ratio {} to {}", RATIOS.start(), RATIOS.end()),
            ));
        }
        let all_random = (BLOCK_BYTES as f64 / ratio - COMPRESSED_OVERHEAD) / FILLERS as f64;
        let rest = if all_random < NARROW_FILLER as f64 { COMPRESSED_REST } else { 0.0 };
        let random = (all_random - rest).max(8.0) as usize;
        // Columns of whole words need no padding between them.
        let filler = (random & !3).clamp(NARROW_FILLER, LONGEST_FILLER);
        Ok(Self { number: SHAPED, filler, random: random.min(filler) })
    }

    /// Bytes of a row in its block: header, filler with its lengths (one byte up to 126, else four), four numbers.
    pub(crate) const fn tuple_bytes(self) -> usize {
        let length = if self.filler < 127 { 1 } else { 4 };
        24 + 16 + (FILLERS * (self.filler + length)).next_multiple_of(8) + 16
    }

    /// Versions of the row that a block holds: after the block's header of 24 bytes, each takes four more bytes for its
    /// pointer.
    pub(crate) const fn versions(self) -> usize {
        (BLOCK_BYTES as usize - 24) / (self.tuple_bytes() + 4)
    }

    /// Refuses updates that would have to leave their block.
    pub(crate) fn refuse_updates_without_room(self) -> Result<()> {
        if self.versions() > 1 {
            return Ok(());
        }
        Err(Error::plan(
            format!("rows of {} bytes leave no room for an update in their block", self.tuple_bytes()),
            "run with --update-pct 0, or load again with --compress-ratio 2.1 or more, or without it",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaped(compress_ratio: f64) -> Shape {
        Shape::new(SHAPED, Content::Mixed { compress_ratio, dedupe_ratio: 1.0 }).expect("within the range")
    }

    #[test]
    fn a_row_fits_its_block_and_updates_need_room_for_two() {
        assert_eq!(shaped(1.0).versions(), 1);
        assert!(shaped(1.0).refuse_updates_without_room().is_err());
        assert_eq!(shaped(2.1).versions(), 2);
        assert!(shaped(2.1).refuse_updates_without_room().is_ok());
        assert_eq!(Shape::new(NARROW, Content::INCOMPRESSIBLE).expect("the default").versions(), 7);
    }
}
