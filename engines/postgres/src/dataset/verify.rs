//! The proof of the layout, from where the rows really stand.

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Dataset, LayoutProof, SchemaProof};
use mindful_core::{Error, Result, contract::clock};

use crate::connect::link::Link;
use crate::dataset::sample::{self, Sampled};
use crate::names::{Namespace, TableKind};
use crate::template::render;

/// Looks at a sample of every schema that is not `known` to hold one as large; where one is not as it was written,
/// or says too little, the whole decides.
pub fn by_sample(
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
        refuse_stopped(stop)?;
        let looked = sample::holds(&control, namespace, schema, blocks, count, seed);
        if !link.run(&format!("verifying {}", namespace.table(TableKind::Blocks, schema)), looked)? {
            return of_all(link, namespace, dataset, stop);
        }
    }
    let proof = sample::proof(dataset, count);
    if proof.failure().is_none() { Ok(proof) } else { of_all(link, namespace, dataset, stop) }
}

fn refuse_stopped(stop: &StopFlag) -> Result<()> {
    if stop.is_requested() { Err(Error::interrupted("the verification was stopped")) } else { Ok(()) }
}

/// Looks at every row of every schema, and at every pair of neighbouring schemas.
pub fn of_all(link: &Link, namespace: &Namespace, dataset: &Dataset, stop: &StopFlag) -> Result<LayoutProof> {
    let control = link.control()?;
    let table = |schema| namespace.table(TableKind::Blocks, schema);
    let mut proof = LayoutProof { schemas: Vec::new(), cross_correlation: None, proven_at_us: clock::now_us() };
    for schema in 1..=dataset.schemas {
        refuse_stopped(stop)?;
        let place = format!("verifying {}", table(schema));
        let sql = render(include_str!("../../sql/verify_schema.sql"), &[("table", &table(schema))]);
        let row = link.run(&place, async { Ok(control.query_one(&sql, &[]).await?) })?;
        let count = |column: &str| row.get::<_, i64>(column).unsigned_abs();
        if count("keys") != dataset.blocks_per_schema
            || count("most") != dataset.blocks_per_schema
            || count("least") != 1
        {
            return Err(Error::run(
                format!("{} does not hold the keys 1 to {}", table(schema), dataset.blocks_per_schema),
                "remove it with `mindful cleanup` and load again",
            ));
        }
        proof.schemas.push(SchemaProof {
            schema,
            rows: count("rows"),
            distinct_blocks: count("blocks"),
            rank_correlation: row.get("correlation"),
            sample: None,
        });
        if schema > 1 {
            let values = [("one", &*table(schema - 1)), ("other", &*table(schema))];
            let sql = render(include_str!("../../sql/verify_pair.sql"), &values);
            let row = link.run(&place, async { Ok(control.query_one(&sql, &[]).await?) })?;
            let here: f64 = row.get("correlation");
            let worst = proof.cross_correlation.map_or(here.abs(), |before| before.max(here.abs()));
            proof.cross_correlation = Some(worst);
        }
    }
    Ok(proof)
}
