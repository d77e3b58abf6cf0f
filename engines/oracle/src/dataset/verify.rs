//! The proof of the layout, from where the rows really stand.

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Dataset, LayoutProof, SchemaProof};
use mindful_core::{Error, Result, contract::clock};

use crate::connect::link::{Link, number, text};
use crate::names::{Namespace, TableKind};
use crate::work::statement;

/// Looks at every row of every schema, and at every pair of neighbouring schemas.
pub fn of_all(link: &Link, namespace: &Namespace, dataset: &Dataset, stop: &StopFlag) -> Result<LayoutProof> {
    let table = |schema| namespace.table(TableKind::Blocks, schema);
    let mut proof = LayoutProof { schemas: Vec::new(), cross_correlation: None, proven_at_us: clock::now_us() };
    for schema in 1..=dataset.schemas {
        if stop.is_requested() {
            return Err(Error::interrupted("the verification was stopped"));
        }
        let place = format!("verifying {}", table(schema));
        let unreadable = || Error::run(format!("{place}: the answer cannot be read"), "run `mindful doctor`");
        let rows = link.query(&place, &statement::prove_schema(&table(schema)), &[])?;
        let row = rows.first().ok_or_else(unreadable)?;
        let whole = dataset.blocks_per_schema;
        if number(row, 0) != Some(whole) || number(row, 2) != Some(1) || number(row, 3) != Some(whole) {
            return Err(Error::run(
                format!("{} does not hold the keys 1 to {whole}", table(schema)),
                "remove it with `mindful cleanup` and load again",
            ));
        }
        proof.schemas.push(SchemaProof {
            schema,
            rows: whole,
            distinct_blocks: number(row, 1).ok_or_else(unreadable)?,
            rank_correlation: text(row, 4).and_then(|rho| rho.parse().ok()).ok_or_else(unreadable)?,
            sample: None,
        });
        if schema > 1 {
            let rows = link.query(&place, &statement::prove_pair(&table(schema - 1), &table(schema)), &[])?;
            let rho = rows.first().and_then(|row| text(row, 0)?.parse::<f64>().ok()).ok_or_else(unreadable)?;
            let worst = proof.cross_correlation.map_or(rho.abs(), |before: f64| before.max(rho.abs()));
            proof.cross_correlation = Some(worst);
        }
    }
    Ok(proof)
}
