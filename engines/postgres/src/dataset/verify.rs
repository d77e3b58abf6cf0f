//! The proof of the layout, from the real places of the rows.

use std::collections::BTreeSet;

use mindful_core::Result;
use mindful_core::contract::clock;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Dataset, LayoutProof, SchemaProof, proof_sample};
use mindful_core::workload::draw::{self, Permutation};
use mindful_sql::dataset::proof::{collect, unfit};
use tokio_postgres::Client;

use crate::connect::link::Link;
use crate::dataset::row;
use crate::error::Failure;
use crate::names::{Namespace, TableKind};
use crate::template::render;

/// Checks a sample of every schema, except those with a `known` sample of that size. If a sample differs from the
/// written layout, or is too small to decide, all rows are checked.
pub(crate) fn by_sample(
    link: &Link,
    namespace: &Namespace,
    dataset: &Dataset,
    known: &Sampled,
    stop: &StopFlag,
) -> Result<LayoutProof> {
    let control = link.control()?;
    let (blocks, seed) = (dataset.blocks_per_schema, dataset.seed);
    let count = sample_size_for(dataset.schemas, blocks, seed);
    let is_known = |schema: &u32| known.drawn >= count && known.hold.contains(schema);
    for schema in (1..=dataset.schemas).filter(|schema| !is_known(schema)) {
        stop.refuse("the proof was stopped")?;
        let looked = sample_holds(&control, namespace, schema, blocks, count, seed);
        if !link.run_on_tables(&format!("verifying {}", namespace.table(TableKind::Blocks, schema)), looked)? {
            return of_all(link, namespace, dataset, stop);
        }
    }
    let proof = sample_proof(dataset, count);
    if proof.failure().is_none() { Ok(proof) } else { of_all(link, namespace, dataset, stop) }
}

/// Checks every row of every schema, and every pair of neighbouring schemas.
pub(crate) fn of_all(link: &Link, namespace: &Namespace, dataset: &Dataset, stop: &StopFlag) -> Result<LayoutProof> {
    let control = link.control()?;
    let whole = dataset.blocks_per_schema;
    let ask = |table: &str, sql: &str| {
        link.run_on_tables(&format!("verifying {table}"), async { Ok(control.query_one(sql, &[]).await?) })
    };
    let schema = |schema| {
        let table = namespace.table(TableKind::Blocks, schema);
        let row = ask(&table, &render(include_str!("../../sql/verify_schema.sql"), &[("table", &table)]))?;
        let count = |column: &str| row.get::<_, i64>(column).unsigned_abs();
        if [count("keys"), count("most"), count("least")] != [whole, whole, 1] {
            return Err(unfit(&table, &format!("does not hold the keys 1 to {whole}")));
        }
        let proof = SchemaProof {
            schema,
            rows: count("rows"),
            distinct_blocks: count("blocks"),
            rank_correlation: row.get("correlation"),
            sample: None,
        };
        Ok((proof, table))
    };
    collect(dataset.schemas, stop, schema, |one, other| {
        let sql = render(include_str!("../../sql/verify_pair.sql"), &[("one", one), ("other", other)]);
        Ok(Some(ask(other, &sql)?.get("correlation")))
    })
}

/// The samples that a load took while the blocks were in memory.
#[derive(Debug, Default)]
pub(crate) struct Sampled {
    pub drawn: u64,
    /// Schemas with all drawn blocks as they were written.
    pub hold: BTreeSet<u32>,
}

/// Whether each of `count` blocks drawn of `schema` (from 1) holds the one row that was written to it. Draws each time,
/// without an order that a layout could have.
pub(crate) async fn sample_holds(
    client: &Client,
    namespace: &Namespace,
    schema: u32,
    blocks: u64,
    count: u64,
    seed: u64,
) -> Result<bool, Failure> {
    let draws = Permutation::new(blocks, draw::mix64(clock::now_us().unsigned_abs() ^ u64::from(schema) << 48));
    let mut numbers: Vec<i64> = (0..count).map(|draw| draws.get(draw) as i64).collect();
    numbers.sort_unstable();
    let sql = render(include_str!("../../sql/sample.sql"), &[("table", &namespace.table(TableKind::Blocks, schema))]);
    let found = client.query(&sql, &[&numbers]).await?;
    let layout = row::layout(blocks, seed, schema);
    let as_written = |row: &tokio_postgres::Row| {
        let (block, key): (i64, Option<i64>) = (row.get("block"), row.get("k"));
        key == Some(layout.get(block.unsigned_abs()) as i64 + 1)
    };
    Ok(found.len() as u64 == count && found.iter().all(as_written))
}

/// The proof of a dataset in which all samples of `count` blocks hold.
fn sample_proof(dataset: &Dataset, count: u64) -> LayoutProof {
    let rows = dataset.blocks_per_schema;
    let written = Written::compute(dataset.schemas, rows, dataset.seed);
    let schema = |(rank_correlation, schema): (&f64, u32)| SchemaProof {
        schema,
        rows,
        distinct_blocks: rows,
        rank_correlation: *rank_correlation,
        sample: (count < rows).then_some(count),
    };
    LayoutProof {
        schemas: written.ranks.iter().zip(1..).map(schema).collect(),
        cross_correlation: written.cross,
        proven_at_us: clock::now_us(),
    }
}

/// Number of blocks to draw from each schema: the closer the written layout is to a limit, the more.
pub(crate) fn sample_size_for(schemas: u32, blocks: u64, seed: u64) -> u64 {
    if blocks > NEVER_CLOSE {
        return proof_sample::sample_size(blocks, proof_sample::MAX_WRONG_SHARE);
    }
    let written = Written::compute(schemas, blocks, seed);
    let rank = written.ranks.iter().map(|rank| rank.abs()).fold(0.0, f64::max);
    // Each of two schemas may have rows that are in another place.
    let across = (LayoutProof::cross_limit(blocks) - written.cross.unwrap_or(0.0)) / 2.0;
    let margin = across.min(LayoutProof::MAX_CORRELATION - rank);
    // The value compared with the limit excludes the share that the sample can miss, so equality is not enough.
    proof_sample::sample_size(blocks, proof_sample::max_wrong_share(0.99 * margin))
}

/// Blocks of a schema from which on chance leaves room for the largest share.
const NEVER_CLOSE: u64 = 1 << 20;

/// The correlations of the written layout: those of each schema, and the largest between neighbours.
struct Written {
    ranks: Vec<f64>,
    cross: Option<f64>,
}

impl Written {
    fn compute(schemas: u32, rows: u64, seed: u64) -> Self {
        let layouts: Vec<_> = (1..=schemas).map(|schema| row::layout(rows, seed, schema)).collect();
        let pairs = layouts.windows(2).map(|pair| pair[0].correlation_with(&pair[1]).abs());
        Self { cross: pairs.max_by(f64::total_cmp), ranks: layouts.iter().map(Permutation::rank_correlation).collect() }
    }
}

#[cfg(test)]
mod tests {
    use mindful_core::dataset::Content;

    use super::*;

    #[test]
    fn a_layout_close_to_a_limit_takes_a_larger_sample_not_all() {
        let mut larger = 0;
        for (schemas, blocks, seed) in (1..16).flat_map(|seed| [(4, 65_536, seed), (2, 131_072, seed)]) {
            let (content, bytes) = (Content::INCOMPRESSIBLE, blocks * 8192);
            let dataset = Dataset {
                schemas,
                blocks_per_schema: blocks,
                scan_blocks: 0,
                block_bytes: 8192,
                bytes,
                index_bytes: None,
                seed,
                content,
            };
            let count = sample_size_for(schemas, blocks, seed);
            assert_eq!(sample_proof(&dataset, count).failure(), None, "{schemas} schemas of {blocks}, seed {seed}");
            assert!(count < blocks / 2, "{count} of {blocks}, seed {seed}");
            larger += u32::from(count > proof_sample::sample_size(blocks, proof_sample::MAX_WRONG_SHARE));
        }
        assert!(larger > 1, "no layout is close to a limit");
    }
}
