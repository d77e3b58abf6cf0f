//! mindful's own objects in the server: the database of the namespace, marked by the registry in it.

mod judge;

use mindful_core::Result;
use mindful_core::contract::OwnedObject;
use mindful_core::dataset::{Dataset, DatasetPlan, LayoutProof};
use mindful_sql::dataset::table_registry::{self, Fault, HOLDS_OTHERS, NOT_REGISTERED, RegisteredTable, Table};

use judge::Judged;
use mysql_common::row::Row;

use crate::connect::Conn;
use crate::connect::link::Link;
use crate::dataset::layout::PAGE_BYTES;
use crate::dataset::storage::Storage;
use crate::error::Failure;
use crate::names::{MARK, MARK_OF_GUEST, MEETING, NUMBERS, Namespace, REGISTRY, SHAPE, TableKind, quote_ident};

/// `ER_TABLE_EXISTS_ERROR`.
const TABLE_EXISTS: u16 = 1050;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub table: RegisteredTable,
    pub fault: Option<Fault>,
}

pub(crate) fn data(entries: &[Entry]) -> impl Iterator<Item = &RegisteredTable> {
    entries.iter().map(|entry| &entry.table)
}

/// The entries of the namespace's registry, if there is one. Refuses a foreign database, and one with a changed table
/// of ours.
pub(crate) fn find(link: &Link, namespace: &Namespace) -> Result<Option<Vec<Entry>>> {
    let found = link.run("looking for the dataset", |conn| read_namespace(conn, namespace))?;
    match found.iter().flatten().find_map(|entry| Some((entry, entry.fault.as_ref()?))) {
        None => Ok(found),
        Some((entry, fault)) => Err(fault.refusal(&namespace.qualified(&entry.table.name))),
    }
}

/// Whether the table in which ranks meet is there; refuses one that is not as it was made.
pub(crate) fn has_meeting(link: &Link, namespace: &Namespace) -> Result<bool> {
    let judged = link.run("looking for the place to meet", |conn| judge::read(conn, namespace))?;
    if let Some(why) = judged.refusal(namespace).filter(|_| !judged.is_empty()) {
        return Err(why);
    }
    match judged.fault_of_marked(MEETING, judge::MEETING_COLUMNS) {
        Some(fault) => Err(fault.refusal(&namespace.qualified(MEETING))),
        None => Ok(judged.table(MEETING).is_some()),
    }
}

/// Refuses a table of numbers that is not as it was made.
pub(crate) fn refuse_other_numbers(conn: &mut Conn, namespace: &Namespace) -> Result<(), Failure> {
    let fault = judge::read(conn, namespace)?.fault_of_marked(NUMBERS, judge::NUMBERS_COLUMNS);
    fault.map_or(Ok(()), |fault| Err(fault.refusal(&namespace.qualified(NUMBERS)).into()))
}

/// Like [`find`], but accepts changed tables. Before the registry is read, the catalogue must show that reading it runs
/// no foreign code.
fn read_namespace(conn: &mut Conn, namespace: &Namespace) -> Result<Option<Vec<Entry>>, Failure> {
    let judged = judge::read(conn, namespace)?;
    if judged.is_empty() {
        return Ok(None);
    }
    if let Some(why) = judged.refusal(namespace) {
        return Err(why.into());
    }
    let columns = "name, kind, schema_number, `blocks`, seed, content, shape, proof, proven_table";
    let rows: Vec<Row> = conn.query(format!("SELECT {columns} FROM {}", namespace.qualified(REGISTRY)))?;
    let mut entries: Vec<Entry> = rows.into_iter().map(|row| entry(row, &judged)).collect();
    entries.sort_by_key(|entry| (entry.table.kind, entry.table.schema));
    Ok(Some(entries))
}

fn entry(mut row: Row, judged: &Judged) -> Entry {
    let mut text = |column: &str| row.take::<Option<String>, _>(column).flatten();
    let [name, kind, seed, content] = ["name", "kind", "seed", "content"].map(|name| text(name).unwrap_or_default());
    let (proof, proven_table) = (text("proof"), text("proven_table"));
    let table = judged.table(&name);
    let proof = proof.filter(|_| proven_table.is_some() && proven_table == judged.state_of(&name));
    let fault = judged.fault_of(&name);
    let table = RegisteredTable {
        kind: TableKind::from_word(&kind),
        schema: row.take("schema_number").unwrap_or(0),
        blocks: row.take("blocks").unwrap_or(0),
        seed: seed.parse().unwrap_or(0),
        content: serde_json::from_str(&content).ok(),
        shape: row.take("shape").unwrap_or(0),
        proof: proof.and_then(|text| serde_json::from_str(&text).ok()),
        stands: table.is_some(),
        table_bytes: table.map_or(0, |table| table.row_bytes),
        index_bytes: table.map_or(0, |table| table.index_bytes),
        name,
    };
    Entry { table, fault }
}

pub(crate) fn ensure(link: &Link, namespace: &Namespace) -> Result<Vec<Entry>> {
    if let Some(entries) = find(link, namespace)? {
        return Ok(entries);
    }
    link.run("making the namespace", |conn| {
        let is_guest = judge::exists(conn, namespace)?;
        if !is_guest {
            conn.query_drop(format!("CREATE DATABASE {} CHARACTER SET utf8mb4", namespace.quoted()))?;
        }
        let sql = include_str!("../../sql/registry.sql").replace("{{registry}}", &namespace.qualified(REGISTRY));
        let storage = Storage::read(conn)?.clause("");
        let mark = if is_guest { MARK_OF_GUEST } else { MARK };
        match conn.query_drop(sql.replace("{{mark}}", mark).replace("{{storage}}", &storage)) {
            // Another rank took the new database for one of others, and made the registry first.
            Err(failure) if !is_guest && failure.code() == Some(TABLE_EXISTS) => {
                conn.query_drop(format!("ALTER TABLE {} COMMENT = '{MARK}'", namespace.qualified(REGISTRY)))?;
            }
            made => made?,
        }
        Ok(Vec::new())
    })
}

pub(crate) fn register(
    conn: &mut Conn,
    namespace: &Namespace,
    table: Table,
    plan: &DatasetPlan,
) -> Result<(), Failure> {
    let columns = "name, kind, schema_number, `blocks`, seed, content, shape, made_at";
    let registry = namespace.qualified(REGISTRY);
    let sql = format!("INSERT INTO {registry} ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, CAST(NOW(6) AS CHAR))");
    let content = serde_json::to_string(&plan.content).unwrap_or_default();
    let Table { kind, schema, blocks } = table;
    let (name, seed) = (Namespace::table_name(kind, schema), plan.seed.to_string());
    conn.exec_drop(&sql, (name, kind.word(), schema, blocks, seed, content, SHAPE))
}

pub(crate) fn dataset(entries: &[Entry]) -> Option<Dataset> {
    table_registry::assemble_dataset(data(entries), &[SHAPE], PAGE_BYTES)
}

pub(crate) fn proof(entries: &[Entry]) -> Option<LayoutProof> {
    table_registry::join_proof(data(entries), dataset(entries)?.schemas)
}

/// Stores `proof` with its tables: each has the part of its schema, and its build time.
pub(crate) fn store_proof(link: &Link, namespace: &Namespace, proof: &LayoutProof) -> Result<()> {
    link.run("storing the proof", |conn| {
        let judged = judge::read(conn, namespace)?;
        let registry = namespace.qualified(REGISTRY);
        let keep = format!("UPDATE {registry} SET proof = ?, proven_table = ? WHERE name = ?");
        conn.query_drop("START TRANSACTION")?;
        for (schema, part) in table_registry::split_proof(proof) {
            let name = Namespace::table_name(TableKind::Blocks, schema);
            conn.exec_drop(&keep, (part, judged.state_of(&name), name))?;
        }
        conn.query_drop("COMMIT")
    })
}

/// Objects that a cleanup removes, and those that it keeps, with the reason.
pub(crate) fn inventory(link: &Link, namespace: &Namespace) -> Result<Vec<OwnedObject>> {
    link.run("listing mindful's objects", |conn| list(conn, namespace))
}

/// Drops our objects in [`inventory`], the registry and the database last: so an interrupted cleanup can continue.
pub(crate) fn cleanup(link: &Link, namespace: &Namespace) -> Result<Vec<OwnedObject>> {
    link.run_on_tables("cleaning up", |conn| {
        let objects = list(conn, namespace)?;
        for object in objects.iter().filter(|object| object.kept_because.is_none()) {
            let drop = if object.name == namespace.quoted() {
                format!("DROP DATABASE {}", object.name)
            } else if object.name.contains("`.`visit_") {
                format!("DROP FUNCTION {}", object.name)
            } else {
                format!("DROP TABLE {}", object.name)
            };
            conn.query_drop(drop)?;
        }
        Ok(objects)
    })
}

fn list(conn: &mut Conn, namespace: &Namespace) -> Result<Vec<OwnedObject>, Failure> {
    let Some(entries) = read_namespace(conn, namespace)? else { return Ok(Vec::new()) };
    let judged = judge::read(conn, namespace)?;
    let of_entry = |entry: &Entry| {
        table_registry::owned_object(namespace.qualified(&entry.table.name), &entry.table, entry.fault.as_ref())
    };
    let beside = |name: &str, ours: bool, bytes: u64| {
        let bytes = Some(bytes).filter(|bytes| *bytes > 0);
        OwnedObject::new(namespace.qualified(name), bytes, (!ours).then_some(NOT_REGISTERED))
    };
    let mut objects: Vec<OwnedObject> = entries.iter().filter(|entry| entry.table.stands).map(of_entry).collect();
    for table in judged.tables.values().filter(|table| !entries.iter().any(|entry| entry.table.name == table.name)) {
        if table.name != REGISTRY {
            objects.push(beside(&table.name, table.is_own_beside(), table.row_bytes + table.index_bytes));
        }
    }
    objects.extend(judged.code.iter().map(|(name, kind)| beside(name, Judged::is_own_code(name, kind), 0)));
    let holds_others = objects.iter().any(|object| object.kept_because.is_some()).then_some(HOLDS_OTHERS);
    let kept_because =
        holds_others.or(judged.is_guest().then_some("existed before the dataset; DROP DATABASE removes it"));
    objects.push(OwnedObject::new(namespace.qualified(REGISTRY), None, None));
    objects.push(OwnedObject::new(namespace.quoted(), None, kept_because));
    Ok(objects)
}

/// Databases of a private server that belong neither to the server nor to mindful.
pub(crate) fn foreign_databases(link: &Link, namespace: &Namespace) -> Result<Vec<String>> {
    link.run("looking for foreign objects", |conn| {
        let names: Vec<String> = conn.query("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY 1")?;
        let own = ["mysql", "information_schema", "performance_schema", "sys", namespace.name.as_str()];
        Ok(names.iter().filter(|name| !own.contains(&name.as_str())).map(|name| quote_ident(name)).collect())
    })
}
