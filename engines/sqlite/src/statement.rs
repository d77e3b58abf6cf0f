//! The statements of a schema, and how SQLite will carry them out.

use mindful_core::contract::description::AccessPath;
use mindful_core::workload::{OpKind, Redo, Workload};
use rusqlite::types::Null;
use rusqlite::{Connection, params_from_iter};

pub(crate) fn text(template: &str, schema: u32) -> String {
    template.replace("{schema}", &schema.to_string())
}

pub(crate) fn select(schema: u32) -> String {
    text(include_str!("../sql/select.sql"), schema)
}

pub(crate) fn update(schema: u32, redo: Redo) -> String {
    let template = match redo {
        Redo::Light => include_str!("../sql/update_light.sql"),
        Redo::Heavy => include_str!("../sql/update_heavy.sql"),
    };
    text(template, schema)
}

pub(crate) fn scan(schema: u32) -> String {
    text(include_str!("../sql/scan.sql"), schema)
}

/// How the operations of `workload` will be carried out, by `EXPLAIN QUERY PLAN`.
pub(crate) fn shapes(connection: &Connection, workload: &Workload) -> rusqlite::Result<Vec<AccessPath>> {
    let mut shapes = vec![shape(connection, OpKind::Select, &select(1))?];
    if !workload.update_pct.is_none() {
        shapes.push(shape(connection, OpKind::Update, &update(1, workload.redo))?);
    }
    if !workload.scan_pct.is_none() {
        shapes.push(shape(connection, OpKind::Scan, &scan(1))?);
    }
    Ok(shapes)
}

fn shape(connection: &Connection, kind: OpKind, sql: &str) -> rusqlite::Result<AccessPath> {
    let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    let blanks = params_from_iter(std::iter::repeat_n(Null, explain.parameter_count()));
    let details: Vec<String> = explain.query_map(blanks, |row| row.get("detail"))?.collect::<Result<_, _>>()?;
    let pure = match (kind, details.as_slice()) {
        // A search of the index, then one visit of the table for each row; a covering index would spare the visits.
        (OpKind::Select | OpKind::Update, [only]) => only.starts_with("SEARCH blocks_1 USING INDEX blocks_1_k "),
        (OpKind::Scan, [only]) => only == "SCAN scan_1",
        _ => false,
    };
    let detail = details.join("; ");
    Ok(AccessPath::new(kind.name(), &*detail, pure, &*detail))
}
