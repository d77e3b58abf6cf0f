//! Fills the buffer pool with the working set, in page order.
//!
//! Pages that are read one after the other get adjacent frames. A scan of the clustered index reads them in the order
//! of the primary key, which is random by the key that operations use. InnoDB puts pages of a scan at the midpoint of
//! its list, not at the head. While the pool has free frames, nothing is evicted from there.

use mindful_core::Result;
use mindful_core::contract::description::CacheFill;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::Dataset;
use mindful_core::workload::Workload;

use crate::connect::link::Link;
use crate::dataset::layout;
use crate::names::{Namespace, TableKind};
use crate::observe::status;

const PAGES_READ: &str = "Innodb_pages_read";
const ROWS_AT_ONCE: u64 = 16_384;

/// Visits all pages of the working set; those that were not in the pool are in page order from then on.
pub(crate) fn fill(
    link: &Link,
    namespace: &Namespace,
    dataset: &Dataset,
    workload: &Workload,
    stop: &StopFlag,
) -> Result<CacheFill> {
    let pages_read = || {
        let read = link.run("filling the buffer pool", |conn| status::read(conn, &[PAGES_READ]))?;
        Ok(read.get(PAGES_READ).copied().unwrap_or(0.0))
    };
    let before = pages_read()?;
    let mut blocks = 0;
    for schema in 1..=workload.schemas {
        let scale = workload.scale.min(dataset.blocks_per_schema);
        blocks += scale;
        for sql in statements(namespace, dataset, schema, scale) {
            stop.refuse("the fill of the cache was stopped")?;
            link.run_on_tables("filling the buffer pool", |conn| conn.query_drop(sql))?;
        }
    }
    // Pages above the leaves are read as well.
    let in_order = (pages_read()? - before).max(0.0) as u64;
    Ok(CacheFill { in_order: in_order.min(blocks), blocks })
}

/// Statements that visit the rows of the first `scale` keys of a schema, in page order.
fn statements(namespace: &Namespace, dataset: &Dataset, schema: u32, scale: u64) -> Vec<String> {
    let table = namespace.table(TableKind::Blocks, schema);
    let blocks = dataset.blocks_per_schema;
    let visit = |which: String| format!("SELECT COUNT(tail) FROM {table} FORCE INDEX (PRIMARY) WHERE {which}");
    if scale >= blocks {
        let range = |from: u64| visit(format!("id >= {} AND id < {}", 2 * from, 2 * (from + ROWS_AT_ONCE)));
        return (0..blocks).step_by(ROWS_AT_ONCE as usize).map(range).collect();
    }
    let order = layout::order(blocks, dataset.seed, schema);
    let visited: Vec<u64> = (0..blocks).filter(|place| order.get(*place) < scale).collect();
    let some = |part: &[u64]| {
        let ids: Vec<String> = part.iter().map(|place| (2 * place).to_string()).collect();
        visit(format!("id IN ({})", ids.join(",")))
    };
    visited.chunks(ROWS_AT_ONCE as usize).map(some).collect()
}
