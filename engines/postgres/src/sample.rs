//! The proof of a layout by a sample: blocks drawn at random hold exactly what the load wrote to them.

use mindful_core::dataset::{Dataset, LayoutProof, SchemaProof};
use mindful_core::draw::{self, Permutation};
use mindful_core::{Result, clock};
use tokio_postgres::Client;

use crate::error::Failure;
use crate::names::{Kind, Namespace};
use crate::row;
use crate::template::render;

/// Whether each of the blocks drawn of `schema` (from 1) holds the one row that was written to it. Draws anew each time,
/// without an order that a layout could have.
pub async fn holds(
    client: &Client,
    namespace: &Namespace,
    schema: u32,
    blocks: u64,
    seed: u64,
) -> Result<bool, Failure> {
    let count = drawn(blocks);
    let draws = Permutation::new(blocks, draw::mix64(clock::now_us().unsigned_abs() ^ u64::from(schema) << 48));
    let mut numbers: Vec<i64> = (0..count).map(|draw| draws.get(draw) as i64).collect();
    numbers.sort_unstable();
    let sql = render(include_str!("../sql/sample.sql"), &[("table", &namespace.table(Kind::Blocks, schema))]);
    let found = client.query(&sql, &[&numbers]).await?;
    let layout = row::layout(blocks, seed, schema);
    let as_written = |row: &tokio_postgres::Row| {
        let (block, key): (i64, Option<i64>) = (row.get("block"), row.get("k"));
        key == Some(layout.get(block.unsigned_abs()) as i64 + 1)
    };
    Ok(found.len() as u64 == count && found.iter().all(as_written))
}

/// The proof of a dataset of which all samples hold.
pub fn proof(dataset: &Dataset) -> LayoutProof {
    let (rows, count) = (dataset.blocks_per_schema, drawn(dataset.blocks_per_schema));
    let layouts: Vec<_> = (1..=dataset.schemas).map(|schema| row::layout(rows, dataset.seed, schema)).collect();
    let schema = |(layout, schema): (&Permutation, u32)| SchemaProof {
        schema,
        rows,
        distinct_blocks: rows,
        rank_correlation: layout.rank_correlation(),
        sample: (count < rows).then_some(count),
    };
    let pairs = layouts.windows(2).map(|pair| pair[0].correlation_with(&pair[1]).abs());
    LayoutProof {
        schemas: layouts.iter().zip(1..).map(schema).collect(),
        cross_correlation: pairs.max_by(f64::total_cmp),
        proven_at_us: clock::now_us(),
    }
}

/// Blocks of a schema that are looked at.
fn drawn(blocks: u64) -> u64 {
    blocks.min(LayoutProof::SAMPLE)
}
