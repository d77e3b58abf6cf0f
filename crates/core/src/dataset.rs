//! The dataset: one row a block, in random physical order, one table a schema.

pub mod proof_sample;

use serde::{Deserialize, Serialize};

use crate::contract::error::{Error, Result};
use crate::plan::units;

/// A size in blocks or in bytes; only the target has the length of its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    Blocks(u64),
    /// So many bytes, rounded down to whole blocks.
    Bytes(u64),
}

impl Extent {
    pub(crate) const MOST_BLOCKS: u64 = 1 << 40;

    /// A plain number is blocks, a number with a unit is bytes.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match units::parse_count(text) {
            Ok(blocks) if blocks > Self::MOST_BLOCKS => Err(Error::plan(
                format!("`{text}` is out of range"),
                format!("give {} blocks or less, or a size such as 64MiB", Self::MOST_BLOCKS),
            )),
            Ok(blocks) => Ok(Self::Blocks(blocks)),
            Err(_) => units::parse_bytes(text)
                .map(Self::Bytes)
                .map_err(|error| Error { next: format!("{}, or a plain number of blocks", error.next), ..error }),
        }
    }

    /// Whole blocks of `block_bytes` each.
    pub fn blocks(self, block_bytes: u64) -> u64 {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Bytes(bytes) => bytes / block_bytes.max(1),
        }
    }
}

/// Contents of a row, as seen by a compressor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Random bytes, as many as the ratios require: `compress_ratio` 1 is incompressible.
    Mixed {
        /// Stored bytes by compressed bytes, 1 or more.
        compress_ratio: f64,
        /// Blocks by distinct blocks, 1 or more.
        dedupe_ratio: f64,
    },
    /// The same byte over and over, as old kits have it: compresses absurdly.
    Repeated,
}

impl Content {
    /// Nothing to be gained by a compressor or by deduplication.
    pub const INCOMPRESSIBLE: Self = Self::Mixed { compress_ratio: 1.0, dedupe_ratio: 1.0 };

    /// Refuses repeated blocks for a database that stores no block twice. `blocks` is its name for them, and `why` the
    /// part that makes each unique.
    pub fn refuse_repeated(self, blocks: &str, why: &str) -> Result<()> {
        match self {
            Self::Mixed { dedupe_ratio, .. } if dedupe_ratio > 1.0 => Err(Error::plan(
                format!("stored {blocks} cannot have a dedupe ratio of {dedupe_ratio}"),
                format!("omit --dedupe-ratio: every {why}"),
            )),
            _ => Ok(()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetPlan {
    /// Number of schemas, each a table with its index.
    pub schemas: u32,
    pub blocks_per_schema: u64,
    /// Blocks of the unindexed table for full scans in each schema; 0 without one.
    pub scan_blocks: u64,
    pub content: Content,
    pub seed: u64,
    pub load_streams: u32,
}

/// Upper limit of a dataset, 1 EiB: sixteen times that still fits 64 bits, so sums cannot overflow.
pub const MOST_BYTES: u64 = 1 << 60;

/// Upper limit of its tables or indexes, with their contents other than the blocks.
const MOST_STORED: u64 = 2 * MOST_BYTES;

impl DatasetPlan {
    /// Blocks of all its tables.
    pub fn blocks(&self) -> u64 {
        u64::from(self.schemas) * (self.blocks_per_schema + self.scan_blocks)
    }

    /// Bytes of all its tables with blocks of `block_bytes`; `None` beyond [`MOST_BYTES`].
    pub fn bytes(&self, block_bytes: u64) -> Option<u64> {
        fits(self.schemas, self.blocks_per_schema, self.scan_blocks, block_bytes)
    }

    /// The dataset that its load makes of blocks of `block_bytes`.
    pub fn expected(&self, block_bytes: u64) -> Dataset {
        Dataset {
            schemas: self.schemas,
            blocks_per_schema: self.blocks_per_schema,
            scan_blocks: self.scan_blocks,
            block_bytes,
            bytes: self.bytes(block_bytes).unwrap_or(MOST_BYTES),
            index_bytes: None,
            seed: self.seed,
            content: self.content,
        }
    }
}

/// Bytes of all blocks; `None` beyond [`MOST_BYTES`].
fn fits(schemas: u32, blocks_per_schema: u64, scan_blocks: u64, block_bytes: u64) -> Option<u64> {
    let blocks = blocks_per_schema.checked_add(scan_blocks)?;
    let bytes = blocks.checked_mul(block_bytes)?.checked_mul(schemas.into())?;
    (bytes <= MOST_BYTES).then_some(bytes)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// Number of complete schemas.
    pub schemas: u32,
    pub blocks_per_schema: u64,
    /// Blocks of the scan table in each schema.
    pub scan_blocks: u64,
    pub block_bytes: u64,
    /// Bytes of all tables.
    pub bytes: u64,
    /// Bytes of all indexes; `None` without indexes.
    pub index_bytes: Option<u64>,
    pub seed: u64,
    pub content: Content,
}

/// Share of a cache that a working set may take: the system keeps some of it for itself.
const MOST_OF_CACHE: f64 = 0.95;

impl Dataset {
    /// Whether a cache of `cache_bytes` holds `scale` blocks of each of `schemas` schemas, and their indexes.
    pub fn fits_cache(&self, schemas: u32, scale: u64, cache_bytes: u64) -> bool {
        let blocks = f64::from(schemas) * scale as f64;
        let all = f64::from(self.schemas.max(1)) * self.blocks_per_schema.max(1) as f64;
        let index_bytes = self.index_bytes.unwrap_or(0) as f64 * (blocks / all).min(1.0);
        blocks * self.block_bytes as f64 + index_bytes <= cache_bytes as f64 * MOST_OF_CACHE
    }

    /// Whether any storage could hold it. Figures of an impossible dataset from a foreign record would overflow.
    pub fn is_possible(&self) -> bool {
        fits(self.schemas, self.blocks_per_schema, self.scan_blocks, self.block_bytes).is_some()
            && self.bytes <= MOST_STORED
            && self.index_bytes.is_none_or(|bytes| bytes <= MOST_STORED)
    }
}

pub fn nothing_loaded_error() -> Error {
    Error::plan("nothing is loaded", "`mindful load` first")
}

/// The proof that a layout is as the method requires.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayoutProof {
    /// One entry a schema; empty if the target makes no claim about its layout.
    pub schemas: Vec<SchemaProof>,
    /// Largest rank correlation, in size, between the physical orders of two neighbouring schemas.
    pub cross_correlation: Option<f64>,
    /// When it was proven, us since the epoch.
    pub proven_at_us: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SchemaProof {
    /// Schema number, from 1.
    pub schema: u32,
    pub rows: u64,
    pub distinct_blocks: u64,
    /// Spearman's rank correlation of key and block number, -1 to 1. With a sample it is the correlation of the layout
    /// as written, which the sample confirms to within [`proof_sample::correlation_error`].
    pub rank_correlation: f64,
    /// Number of randomly drawn blocks that were checked: each contains only the one row that was written to it.
    /// `None`: every row was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
}

impl SchemaProof {
    /// Largest distance between the true correlation and this one.
    fn error(&self) -> f64 {
        self.sample.map_or(0.0, |drawn| proof_sample::correlation_error(self.rows, drawn))
    }
}

impl LayoutProof {
    /// Largest rank correlation the method allows, in size.
    pub const MAX_CORRELATION: f64 = 0.02;

    /// Fewest rows for a meaningful rank correlation.
    pub(crate) const FEWEST_ROWS: u64 = 100;

    /// Why the layout fails, or `None` if it holds.
    pub fn failure(&self) -> Option<String> {
        for s in &self.schemas {
            if s.distinct_blocks != s.rows {
                return Some(format!("schema {} has {} rows in {} blocks", s.schema, s.rows, s.distinct_blocks));
            }
            if s.rows >= Self::FEWEST_ROWS && s.rank_correlation.abs() + s.error() >= Self::MAX_CORRELATION {
                return Some(format!(
                    "schema {}: key and block number correlate by {:.3}",
                    s.schema, s.rank_correlation
                ));
            }
        }
        let rows = self.schemas.iter().map(|s| s.rows).min().unwrap_or(0);
        match self.cross_correlation {
            Some(rho) if rows >= Self::FEWEST_ROWS && rho.abs() + self.cross_error() >= Self::cross_limit(rows) => {
                Some(format!("two schemas share their physical order by {rho:.3}"))
            }
            _ => None,
        }
    }

    /// Each of two schemas may have rows that are in another place.
    fn cross_error(&self) -> f64 {
        2.0 * self.schemas.iter().map(SchemaProof::error).fold(0.0, f64::max)
    }

    pub fn is_sample(&self) -> bool {
        self.schemas.iter().any(|schema| schema.sample.is_some())
    }

    /// The largest accepted correlation between two schemas of `rows` rows: 0.02, or the correlation that chance
    /// reaches in small tables (five standard errors, `5 / sqrt(rows - 1)`).
    pub fn cross_limit(rows: u64) -> f64 {
        Self::MAX_CORRELATION.max(5.0 / (rows.max(2) as f64 - 1.0).sqrt())
    }
}
