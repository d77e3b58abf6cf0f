//! Checks before sessions start: an unsupported workload is refused with the next step.

use mindful_core::contract::description::AccessPath;
use mindful_core::workload::draws::Draws;
use mindful_core::workload::{Access, LoopSite, OpKind, Workload};
use mindful_core::{Error, Result};

use crate::connect::link::{Link, text};
use crate::names::{Namespace, TableKind};
use crate::work::session::MOST_SCHEMAS;
use crate::work::{ops, statement};

/// Refuses workloads that this engine does not support, or that would hang.
pub(crate) fn refuse_contradictions(workload: &Workload, sessions: u32) -> Result<()> {
    if workload.access != Access::Index {
        return Err(Error::plan(
            format!("the engine for Oracle has no access path {}", workload.access),
            "omit --access: rows are read by the index",
        ));
    }
    let server = workload.loop_site == LoopSite::Server;
    if i32::try_from(workload.scale).is_err()
        || workload.think_time.is_some_and(|think| i32::try_from(think.max.as_micros() * 40).is_err())
    {
        return Err(ops::too_large());
    }
    let visited = (0..sessions.max(1))
        .map(|session| Draws::new(workload, session, session % workload.schemas.max(1) + 1).schemas().len());
    let most = visited.max().unwrap_or(1);
    if server && most > MOST_SCHEMAS {
        return Err(Error::plan(
            format!("a session would visit {most} schemas, its block names at most {MOST_SCHEMAS}"),
            "pass more --sessions, fewer --schemas, or --loop client",
        ));
    }
    workload.refuse_contradictions(sessions)
}

/// The server's access path for each kind of operation; refuses one that differs from the method's.
pub(crate) fn paths(link: &Link, workload: &Workload, namespace: &Namespace) -> Result<Vec<AccessPath>> {
    let table = |kind| namespace.table(kind, 1);
    let mut wanted = vec![(OpKind::Select, statement::client_select(&table(TableKind::Blocks)))];
    if !workload.update_pct.is_none() {
        wanted.push((OpKind::Update, statement::client_update(&table(TableKind::Blocks), workload.redo)));
    }
    if !workload.scan_pct.is_none() {
        wanted.push((OpKind::Scan, statement::client_scan(&table(TableKind::Scan))));
    }
    let mut paths = Vec::new();
    for (kind, sql) in wanted {
        let path = path(link, kind, &sql)?;
        if !path.pure {
            return Err(Error::target(
                format!("{}: the server's plan is `{}`", path.kind, path.shape),
                "check that the index on k exists and is valid, or load again after `mindful cleanup`",
            ));
        }
        paths.push(path);
    }
    Ok(paths)
}

fn path(link: &Link, kind: OpKind, sql: &str) -> Result<AccessPath> {
    let place = "checking the plans";
    let forget = include_str!("../../sql/client/forget_plan.sql").trim_end();
    link.execute(place, forget, &[])?;
    link.execute(place, &statement::explain(sql), &[])?;
    let rows = link.query(place, include_str!("../../sql/client/plan.sql").trim_end(), &[])?;
    link.execute(place, forget, &[])?;
    let lines: Vec<&str> = rows.iter().filter_map(|row| text(row, 0)).map(str::trim_end).collect();
    let detail = lines.join("\n");
    let has = |words: &str| detail.contains(words);
    let pure = match kind {
        OpKind::Scan => has("TABLE ACCESS FULL"),
        OpKind::Update => has("INDEX RANGE SCAN"),
        // BATCHED rows are sorted by block and prefetched: no single random reads.
        OpKind::Select => has("INDEX RANGE SCAN") && has("TABLE ACCESS BY INDEX ROWID") && !has("BATCHED"),
    };
    let reading = |line: &&&str| ["INDEX", "TABLE ACCESS"].iter().any(|word| line.trim_start().starts_with(word));
    let shape = lines.iter().filter(reading).map(|line| line.trim()).collect::<Vec<_>>().join(", ");
    Ok(AccessPath::new(kind.name(), shape, pure, detail))
}
