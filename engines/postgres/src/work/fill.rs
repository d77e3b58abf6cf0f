//! Fills shared buffers with the working set, in block order.
//!
//! Blocks that are read one after the other get adjacent buffers. In block order the blocks of an operation are as far
//! apart in memory as in the table, because the layout scatters keys. If the operations themselves read them, the
//! blocks of each operation are adjacent, and the processor's caches help the next one. Only the first order is the
//! same in each run.

use std::time::Duration;

use mindful_core::Result;
use mindful_core::contract::description::CacheFill;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::Dataset;
use mindful_core::workload::Workload;
use serde_json::Value;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::connect::link::Link;
use crate::dataset::row;
use crate::error::Failure;
use crate::names::{Namespace, TableKind};
use crate::template::render;

const BLOCKS_AT_ONCE: u64 = 65_536;
/// Delay after which the server publishes the number of buffers that it took.
const TOLD_LATE: Duration = Duration::from_millis(600);

/// Only such scans, and no parallel ones.
const SETTINGS: &str = "SET enable_seqscan = off; SET enable_tidscan = on; SET max_parallel_workers_per_gather = 0";
const USUAL: &str = "RESET enable_seqscan; RESET enable_tidscan; RESET max_parallel_workers_per_gather";

/// Visits all blocks of the working set; blocks that were not in the cache are in block order from then on.
pub(crate) fn fill(
    link: &Link,
    namespace: &Namespace,
    dataset: &Dataset,
    workload: &Workload,
    stop: &StopFlag,
) -> Result<CacheFill> {
    let control = link.control()?;
    link.run("filling the cache", async { Ok(control.batch_execute(SETTINGS).await?) })?;
    let mut all = CacheFill { in_order: 0, blocks: 0 };
    for schema in 1..=workload.schemas {
        for sql in statements(namespace, dataset, schema, workload.scale) {
            stop.refuse("the fill of the cache was stopped")?;
            let (read, hit) = link.run_on_tables("filling the cache", visit(&control, &sql))?;
            all = CacheFill { in_order: all.in_order + read, blocks: all.blocks + read + hit };
        }
    }
    link.run("filling the cache", async { Ok(control.batch_execute(USUAL).await?) })?;
    Ok(all)
}

/// Statements that visit the blocks of the first `scale` keys of a schema, in block order.
fn statements(namespace: &Namespace, dataset: &Dataset, schema: u32, scale: u64) -> Vec<String> {
    let table = namespace.table(TableKind::Blocks, schema);
    let blocks = dataset.blocks_per_schema;
    if scale >= blocks {
        let range = |from: u64| {
            let to = (from + BLOCKS_AT_ONCE).min(blocks);
            let values = [("table", table.as_str()), ("from", &from.to_string()), ("to", &to.to_string())];
            render(include_str!("../../sql/fill.sql"), &values)
        };
        return (0..blocks).step_by(BLOCKS_AT_ONCE as usize).map(range).collect();
    }
    let layout = row::layout(blocks, dataset.seed, schema);
    let visited: Vec<u64> = (0..blocks).filter(|block| layout.get(*block) < scale).collect();
    let some = |part: &[u64]| {
        let numbers: Vec<String> = part.iter().map(u64::to_string).collect();
        let list = format!("{{{}}}", numbers.join(","));
        render(include_str!("../../sql/fill_some.sql"), &[("table", &table), ("blocks", &list)])
    };
    visited.chunks(BLOCKS_AT_ONCE as usize).map(some).collect()
}

/// Blocks that the statement `sql` had to read, and those that were in the cache.
async fn visit(client: &Client, sql: &str) -> Result<(u64, u64), Failure> {
    let plan = client.simple_query(sql).await?.into_iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => serde_json::from_str::<Value>(row.get(0)?).ok(),
        _ => None,
    });
    let counted = |name: &str| plan.as_ref().and_then(|plan| plan[0]["Plan"][name].as_u64()).unwrap_or(0);
    Ok((counted("Shared Read Blocks"), counted("Shared Hit Blocks")))
}

/// The identity of a working set in the cache of the running server.
async fn named(client: &Client, workload: &Workload) -> Result<String, Failure> {
    let row = client.query_one("SELECT pg_postmaster_start_time()::text", &[]).await?;
    Ok(format!("{} {}", row.get::<_, String>(0), workload.scale))
}

/// Whether an earlier run filled the cache in block order, and nothing has taken its place since.
pub(crate) fn holds(link: &Link, namespace: &Namespace, workload: &Workload) -> Result<bool> {
    let control = link.control()?;
    link.run("looking for a filled cache", async {
        let sql = render(include_str!("../../sql/filled.sql"), &[("namespace", &namespace.quoted())]);
        let filled_by = named(&control, workload).await?;
        let row = control.query_one(&sql, &[&(workload.schemas as i32), &filled_by]).await?;
        Ok(row.get::<_, Option<bool>>("holds") == Some(true))
    })
}

/// Remembers for later runs that the cache is filled in block order.
pub(crate) fn remember(link: &Link, namespace: &Namespace, workload: &Workload) -> Result<()> {
    let control = link.control()?;
    link.run("remembering a filled cache", async {
        tokio::time::sleep(TOLD_LATE).await;
        let sql = render(include_str!("../../sql/store_filled.sql"), &[("namespace", &namespace.quoted())]);
        let filled_by = named(&control, workload).await?;
        control.execute(&sql, &[&(workload.schemas as i32), &filled_by]).await?;
        Ok(())
    })
}
