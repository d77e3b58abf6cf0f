//! mindful's own objects in the account's schema: the marked registry and its tables.

use mindful_core::contract::OwnedObject;
use mindful_core::dataset::{Dataset, DatasetPlan, LayoutProof};
use mindful_core::{Error, Result};
use mindful_sql::dataset::table_registry::{self, NOT_REGISTERED, RegisteredTable, Table};

use crate::connect::driver::{Bind, Row};
use crate::connect::link::{HEAVY, Link, number, text};
use crate::names::{MARK, Namespace, TableKind};
use crate::work::statement;

pub(crate) const SHAPE: i32 = 1;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub table: RegisteredTable,
    /// It is a table of an interrupted load: it was registered when no other table of its name existed.
    pub begun: bool,
}

pub(crate) fn data(entries: &[Entry]) -> impl Iterator<Item = &RegisteredTable> {
    entries.iter().map(|entry| &entry.table)
}

/// All registered tables; `None` without a registry. Refuses a table of the registry's name without our mark.
pub(crate) fn entries(link: &Link, namespace: &Namespace) -> Result<Option<Vec<Entry>>> {
    let registry = namespace.registry();
    let look = include_str!("../../sql/load/look.sql").trim_end();
    let found = link.query("looking for the dataset", look, &[("registry", Bind::Text(registry.clone()))])?;
    let Some(row) = found.first() else { return Ok(None) };
    if text(row, 1) != Some(MARK) {
        return Err(Error::target(
            format!("table {registry} of account {} was not made by mindful", link.user()),
            "left untouched; choose another name with --namespace",
        ));
    }
    let sql = statement::of_registry(include_str!("../../sql/load/registry.sql"), namespace);
    Ok(Some(link.query("reading the registry", &sql, &[])?.iter().map(entry).collect()))
}

fn entry(row: &Row) -> Entry {
    let json = |column| text(row, column).unwrap_or_default();
    let table = RegisteredTable {
        name: text(row, 0).unwrap_or_default().to_owned(),
        kind: text(row, 1).and_then(TableKind::from_word),
        schema: number(row, 2).unwrap_or(0) as u32,
        blocks: number(row, 3).unwrap_or(0),
        seed: text(row, 4).and_then(|seed| seed.parse().ok()).unwrap_or(0),
        content: serde_json::from_str(json(5)).ok(),
        shape: number(row, 6).and_then(|shape| i32::try_from(shape).ok()).unwrap_or(0),
        proof: serde_json::from_str(json(7)).ok(),
        stands: text(row, 8) == Some("whole"),
        table_bytes: number(row, 9).unwrap_or(0),
        index_bytes: number(row, 10).unwrap_or(0),
    };
    Entry { table, begun: text(row, 8) == Some("begun") }
}

pub(crate) fn ensure(link: &Link, namespace: &Namespace) -> Result<Vec<Entry>> {
    if let Some(entries) = entries(link, namespace)? {
        return Ok(entries);
    }
    for sql in statement::create_registry(namespace) {
        link.execute("making the registry", &sql, &[])?;
    }
    Ok(Vec::new())
}

pub(crate) fn dataset(entries: &[Entry], block_bytes: u64) -> Option<Dataset> {
    table_registry::assemble_dataset(data(entries), &[SHAPE], block_bytes)
}

/// Stores `proof` with its tables, each its own part.
pub(crate) fn store_proof(link: &Link, namespace: &Namespace, proof: &LayoutProof) -> Result<()> {
    let sql = statement::of_registry(include_str!("../../sql/load/store_proof.sql"), namespace);
    for (schema, json) in table_registry::split_proof(proof) {
        let name = namespace.table(TableKind::Blocks, schema);
        link.execute("storing the proof", &sql, &[("proof", Bind::Text(json)), ("name", Bind::Text(name))])?;
    }
    Ok(())
}

pub(crate) fn register_begun(link: &Link, namespace: &Namespace, table: Table, plan: &DatasetPlan) -> Result<()> {
    let name = namespace.table(table.kind, table.schema);
    let by_name = [("name", Bind::Text(name.clone()))];
    let before = entries(link, namespace)?.unwrap_or_default();
    let ours = before.iter().any(|entry| entry.table.name == name && entry.begun);
    if ours {
        drop_table(link, &name)?;
    } else if tables(link, namespace)?.contains(&name) {
        return Err(Error::target(
            format!("table {name} of account {} was not made by mindful", link.user()),
            "left untouched; choose another name with --namespace",
        ));
    }
    let forget = statement::of_registry(include_str!("../../sql/load/forget_table.sql"), namespace);
    link.execute("registering a table", &forget, &by_name)?;
    let sql = statement::of_registry(include_str!("../../sql/load/begin_table.sql"), namespace);
    let content = serde_json::to_string(&plan.content).unwrap_or_default();
    let binds = [
        ("name", Bind::Text(name)),
        ("kind", Bind::Text(table.kind.word().to_owned())),
        ("schema_no", Bind::Integer(table.schema.into())),
        ("blocks", Bind::Integer(table.blocks as i64)),
        ("seed", Bind::Text(plan.seed.to_string())),
        ("content", Bind::Text(content)),
        ("shape", Bind::Integer(SHAPE.into())),
    ];
    link.execute("registering a table", &sql, &binds).map(drop)
}

pub(crate) fn register_whole(link: &Link, namespace: &Namespace, table: Table) -> Result<()> {
    let sql = statement::of_registry(include_str!("../../sql/load/end_table.sql"), namespace);
    let name = Bind::Text(namespace.table(table.kind, table.schema));
    link.execute("registering a table", &sql, &[("name", name)]).map(drop)
}

/// All tables with names that begin like ours.
fn tables(link: &Link, namespace: &Namespace) -> Result<Vec<String>> {
    let standing = include_str!("../../sql/load/standing.sql").trim_end();
    let found = link.query("listing tables", standing, &[("names", Bind::Text(namespace.pattern()))])?;
    Ok(found.iter().filter_map(|row| Some(text(row, 0)?.to_owned())).collect())
}

/// Objects that a cleanup removes, and similarly named ones that it keeps.
pub(crate) fn inventory(link: &Link, namespace: &Namespace) -> Result<Vec<OwnedObject>> {
    let Some(entries) = entries(link, namespace)? else { return Ok(Vec::new()) };
    let registry = namespace.registry();
    let object = |name: String| {
        let ours = entries.iter().find(|entry| entry.table.name == name && (entry.table.stands || entry.begun));
        let kept = ours.is_none() && name != registry;
        OwnedObject::new(name, ours.map(|entry| entry.table.bytes()), kept.then_some(NOT_REGISTERED))
    };
    Ok(tables(link, namespace)?.into_iter().map(object).collect())
}

/// Drops our objects in [`inventory`], the registry last.
pub(crate) fn cleanup(link: &Link, namespace: &Namespace) -> Result<Vec<OwnedObject>> {
    let objects = inventory(link, namespace)?;
    let registry = namespace.registry();
    let ours = || objects.iter().filter(|object| object.kept_because.is_none());
    for object in ours().filter(|object| object.name != registry).chain(ours().filter(|object| object.name == registry))
    {
        drop_table(link, &object.name)?;
    }
    Ok(objects)
}

pub(crate) fn drop_table(link: &Link, name: &str) -> Result<()> {
    let sql = statement::of_table(include_str!("../../sql/load/drop.sql"), name);
    link.execute_within(&format!("dropping {name}"), &sql, &[], HEAVY).map(drop)
}
