//! What in the server is mindful's own: the database of the namespace, marked by the registry in it.

mod judge;

use mindful_core::contract::OwnedObject;
use mindful_core::dataset::{Dataset, DatasetPlan, LayoutProof};
use mindful_core::{Error, Result};
use mindful_sql::dataset::table_registry::{self, RegisteredTable, Table};
use mysql::prelude::Queryable;
use mysql::{Conn, Row};

pub(crate) use judge::{Fault, Judged};

use crate::connect::link::Link;
use crate::dataset::layout::PAGE_BYTES;
use crate::dataset::storage::Storage;
use crate::error::Failure;
use crate::names::{MARK, MEETING, NUMBERS, Namespace, REGISTRY, SHAPE, TableKind, quote_ident};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub table: RegisteredTable,
    pub fault: Option<Fault>,
}

pub(crate) fn data(entries: &[Entry]) -> impl Iterator<Item = &RegisteredTable> {
    entries.iter().map(|entry| &entry.table)
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// There is no such database, or there is nothing in it.
    Nothing,
    Ours {
        entries: Vec<Entry>,
    },
    Foreign(Error),
}

/// Reads the namespace, and refuses it if a table of ours is no longer as it was made.
pub(crate) fn find(link: &Link, namespace: &Namespace) -> Result<Found> {
    let found = link.run("looking for the dataset", |conn| read_namespace(conn, namespace))?;
    let Found::Ours { entries } = &found else { return Ok(found) };
    match entries.iter().find_map(|entry| Some((entry, entry.fault.as_ref()?))) {
        None => Ok(found),
        Some((entry, fault)) => Err(not_as_made(namespace, &entry.table.name, fault)),
    }
}

fn not_as_made(namespace: &Namespace, name: &str, fault: &Fault) -> Error {
    Error::target(
        format!("{} is not as mindful made it: it {}", namespace.qualified(name), fault.what),
        "remove that, or `mindful cleanup` and load again",
    )
}

/// Whether the table in which ranks meet is there; refuses one that is not as it was made.
pub(crate) fn has_meeting(link: &Link, namespace: &Namespace) -> Result<bool> {
    let judged = link.run("looking for the place to meet", |conn| judge::read(conn, namespace))?;
    if let Some(why) = judged.refusal(namespace).filter(|_| !judged.is_empty()) {
        return Err(why);
    }
    match judged.fault_of_meeting() {
        Some(fault) => Err(not_as_made(namespace, MEETING, &fault)),
        None => Ok(judged.table(MEETING).is_some()),
    }
}

/// Refuses a table of numbers that is not as it was made.
pub(crate) fn refuse_other_numbers(conn: &mut Conn, namespace: &Namespace) -> Result<(), Failure> {
    let fault = judge::read(conn, namespace)?.fault_of_numbers();
    fault.map_or(Ok(()), |fault| Err(not_as_made(namespace, NUMBERS, &fault).into()))
}

/// Reads the namespace. Before the registry is read, the catalogue must show that reading it runs no code of others.
pub(crate) fn read_namespace(conn: &mut Conn, namespace: &Namespace) -> Result<Found, Failure> {
    let judged = judge::read(conn, namespace)?;
    if judged.is_empty() {
        return Ok(Found::Nothing);
    }
    if let Some(why) = judged.refusal(namespace) {
        return Ok(Found::Foreign(why));
    }
    let columns = "name, kind, schema_number, `blocks`, seed, content, shape, proof, proven_table";
    let rows: Vec<Row> = conn.query(format!("SELECT {columns} FROM {}", namespace.qualified(REGISTRY)))?;
    let mut entries: Vec<Entry> = rows.into_iter().map(|row| entry(row, &judged)).collect();
    entries.sort_by_key(|entry| (entry.table.kind, entry.table.schema));
    Ok(Found::Ours { entries })
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
    match find(link, namespace)? {
        Found::Ours { entries } => Ok(entries),
        Found::Foreign(why) => Err(why),
        Found::Nothing => link.run("making the namespace", |conn| {
            if !judge::exists(conn, namespace)? {
                conn.query_drop(format!("CREATE DATABASE {} CHARACTER SET utf8mb4", namespace.quoted()))?;
            }
            let sql = include_str!("../../sql/registry.sql").replace("{{registry}}", &namespace.qualified(REGISTRY));
            let storage = Storage::read(conn)?.clause("");
            conn.query_drop(sql.replace("{{mark}}", MARK).replace("{{storage}}", &storage))?;
            Ok(Vec::new())
        }),
    }
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
    Ok(conn.exec_drop(sql, (name, kind.word(), schema, blocks, seed, content, SHAPE))?)
}

pub(crate) fn dataset(entries: &[Entry]) -> Option<Dataset> {
    table_registry::assemble_dataset(data(entries), &[SHAPE], PAGE_BYTES)
}

pub(crate) fn proof(entries: &[Entry]) -> Option<LayoutProof> {
    table_registry::join_proof(data(entries), dataset(entries)?.schemas)
}

/// Keeps `proof` with the tables it is about: each has its own schema's part, and the time the table was built.
pub(crate) fn store_proof(link: &Link, namespace: &Namespace, proof: &LayoutProof) -> Result<()> {
    link.run("storing the proof", |conn| {
        let judged = judge::read(conn, namespace)?;
        let registry = namespace.qualified(REGISTRY);
        let keep = conn.prep(format!("UPDATE {registry} SET proof = ?, proven_table = ? WHERE name = ?"))?;
        conn.query_drop("START TRANSACTION")?;
        for (schema, part) in table_registry::split_proof(proof) {
            let name = Namespace::table_name(TableKind::Blocks, schema);
            conn.exec_drop(&keep, (part, judged.state_of(&name), name))?;
        }
        Ok(conn.query_drop("COMMIT")?)
    })
}

/// What a cleanup removes and what it leaves, with the reason.
pub(crate) fn inventory(link: &Link, namespace: &Namespace) -> Result<Vec<OwnedObject>> {
    link.run("listing what is mindful's", |conn| list(conn, namespace))
}

/// Drops what [`inventory`] calls ours, the registry last but for the database: an interrupted cleanup continues where
/// it ended.
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
    let entries = match read_namespace(conn, namespace)? {
        Found::Nothing => return Ok(Vec::new()),
        Found::Foreign(why) => return Err(why.into()),
        Found::Ours { entries } => entries,
    };
    let judged = judge::read(conn, namespace)?;
    let mut objects: Vec<OwnedObject> =
        entries.iter().filter(|e| e.table.stands).map(|e| of_entry(e, namespace)).collect();
    for table in judged.tables().filter(|table| !entries.iter().any(|entry| entry.table.name == table.name)) {
        if table.name != REGISTRY {
            objects.push(beside(namespace, &table.name, table.is_own_beside(), table.row_bytes + table.index_bytes));
        }
    }
    for (name, kind) in &judged.code {
        objects.push(beside(namespace, name, Judged::is_own_code(name, kind), 0));
    }
    let kept = objects.iter().any(|object| object.kept_because.is_some());
    objects.push(OwnedObject { name: namespace.qualified(REGISTRY), bytes: None, kept_because: None });
    objects.push(OwnedObject {
        name: namespace.quoted(),
        bytes: None,
        kept_because: kept.then(|| "holds objects that are not mindful's".to_owned()),
    });
    Ok(objects)
}

fn of_entry(entry: &Entry, namespace: &Namespace) -> OwnedObject {
    OwnedObject {
        name: namespace.qualified(&entry.table.name),
        bytes: Some(entry.table.bytes()),
        kept_because: entry.fault.as_ref().filter(|fault| !fault.ours).map(|fault| format!("it {}", fault.what)),
    }
}

fn beside(namespace: &Namespace, name: &str, ours: bool, bytes: u64) -> OwnedObject {
    OwnedObject {
        name: namespace.qualified(name),
        bytes: Some(bytes).filter(|bytes| *bytes > 0),
        kept_because: (!ours).then(|| "not in the registry of mindful: not ours".to_owned()),
    }
}

/// Databases of a private server that are neither the server's own nor mindful's.
pub(crate) fn foreign_databases(link: &Link, namespace: &Namespace) -> Result<Vec<String>> {
    link.run("looking for what is not mindful's", |conn| {
        let names: Vec<String> = conn.query("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY 1")?;
        let own = ["mysql", "information_schema", "performance_schema", "sys", namespace.name.as_str()];
        Ok(names.iter().filter(|name| !own.contains(&name.as_str())).map(|name| quote_ident(name)).collect())
    })
}
