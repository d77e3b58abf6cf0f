//! The proof of the layout, from the real places of the rows.

use mindful_core::Result;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Dataset, LayoutProof, SchemaProof};
use mindful_sql::dataset::proof::{collect, unfit};

use crate::connect::link::Link;
use crate::dataset::sample::{self, Sampled};
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
    let count = sample::size(dataset.schemas, blocks, seed);
    let is_known = |schema: &u32| known.drawn >= count && known.hold.contains(schema);
    for schema in (1..=dataset.schemas).filter(|schema| !is_known(schema)) {
        stop.refuse("the proof was stopped")?;
        let looked = sample::holds(&control, namespace, schema, blocks, count, seed);
        if !link.run_on_tables(&format!("verifying {}", namespace.table(TableKind::Blocks, schema)), looked)? {
            return of_all(link, namespace, dataset, stop);
        }
    }
    let proof = sample::proof(dataset, count);
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
