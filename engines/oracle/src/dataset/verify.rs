//! The proof of the layout, from the real places of the rows.

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Dataset, LayoutProof, SchemaProof};
use mindful_core::{Error, Result};
use mindful_sql::dataset::proof::{collect, unfit};

use crate::connect::link::{HEAVY, Link, number, text};
use crate::names::{Namespace, TableKind};
use crate::work::statement;

/// Checks every row of every schema, and every pair of neighbouring schemas.
pub(crate) fn of_all(link: &Link, namespace: &Namespace, dataset: &Dataset, stop: &StopFlag) -> Result<LayoutProof> {
    let whole = dataset.blocks_per_schema;
    let unreadable =
        |table: &str| Error::run(format!("verifying {table}: the answer cannot be read"), "run `mindful doctor`");
    let ask = |table: &str, sql: &str| {
        let rows = link.query_within(&format!("verifying {table}"), sql, &[], HEAVY)?;
        rows.into_iter().next().ok_or_else(|| unreadable(table))
    };
    let schema = |schema| {
        let table = namespace.table(TableKind::Blocks, schema);
        let row = ask(&table, &statement::prove_schema(&table))?;
        if [number(&row, 0), number(&row, 2), number(&row, 3)] != [Some(whole), Some(1), Some(whole)] {
            return Err(unfit(&table, &format!("does not hold the keys 1 to {whole}")));
        }
        let proof = SchemaProof {
            schema,
            rows: whole,
            distinct_blocks: number(&row, 1).ok_or_else(|| unreadable(&table))?,
            rank_correlation: text(&row, 4).and_then(|rho| rho.parse().ok()).ok_or_else(|| unreadable(&table))?,
            sample: None,
        };
        Ok((proof, table))
    };
    collect(dataset.schemas, stop, schema, |one, other| {
        let row = ask(other, &statement::prove_pair(one, other))?;
        text(&row, 0).and_then(|rho| rho.parse().ok()).ok_or_else(|| unreadable(other)).map(Some)
    })
}
