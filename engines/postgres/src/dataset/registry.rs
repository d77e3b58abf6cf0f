//! mindful's own objects in the database: the marked namespace and the registry in it.

use mindful_core::contract::OwnedObject;
use mindful_core::dataset::{Dataset, LayoutProof};
use mindful_core::{Error, Result};
use mindful_sql::dataset::table_registry::{self, Fault, HOLDS_OTHERS, NOT_REGISTERED, RegisteredTable};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use crate::connect::link::Link;
use crate::connect::{Connection, Server};
use crate::dataset::layout::{NARROW, SHAPED, Shape};
use crate::dataset::space::BLOCK_BYTES;
use crate::error::Failure;
use crate::names::{MARK, MEETING, Namespace, TableKind};
use crate::private::{DATABASE, Instance, PORT, USER};
use crate::template::{quote_literal, render};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// A table in the registry; it exists while a table with its name and oid exists.
    pub table: RegisteredTable,
    pub object: u32,
    /// Whether ranks of a run meet in it: it does not belong to the dataset.
    pub meets: bool,
    pub fault: Option<Fault>,
}

pub(crate) fn data(entries: &[Entry]) -> impl Iterator<Item = &RegisteredTable> {
    entries.iter().filter(|entry| !entry.meets).map(|entry| &entry.table)
}

/// The oid of a namespace with our mark and its registry, owned by the running role or its trusted one, with the
/// registry's entries.
pub(crate) type Ours = (u32, Vec<Entry>);

/// The databases that initdb makes and that others may have used.
const COMMON: [&str; 2] = ["postgres", "template1"];

/// Columns of our tables by name and type, in their order.
const REGISTRY_COLUMNS: &str = "name text, kind text, object oid, schema integer, blocks bigint, seed text, content text, \
    shape integer, proof text, proven_file oid, proven_pages bigint, proven_moved bigint, \
    proven_reset timestamp with time zone, filled_by text, filled_allocs bigint, made_at timestamp with time zone";
const DATASET_COLUMNS: &str = "k bigint, seq bigint, f1 bytea, f2 bytea, f3 bytea, f4 bytea, f5 bytea, f6 bytea, \
    f7 bytea, f8 bytea, mark bigint, tail bigint";
const MEETING_COLUMNS: &str =
    "job text, rank integer, chunk integer, token text, body text, bytes bytea, expires_us bigint";

/// Finds the namespace. Refuses a foreign one, and one with a changed table of ours.
pub(crate) async fn find(client: &Connection, namespace: &Namespace) -> Result<Option<Ours>, Failure> {
    let found = read_namespace(client, namespace).await?;
    let mut entries = found.iter().flat_map(|(_, entries)| entries);
    match entries.find_map(|entry| Some((entry, entry.fault.as_ref()?))) {
        None => Ok(found),
        Some((entry, fault)) => Err(fault.refusal(&namespace.qualified(&entry.table.name)).into()),
    }
}

/// Reads the namespace, and refuses a foreign one. Before the registry is read, the catalogue must show that reading it
/// runs no foreign code.
async fn read_namespace(client: &Connection, namespace: &Namespace) -> Result<Option<Ours>, Failure> {
    let asked = [&namespace.name as &(dyn ToSql + Sync), &namespace.trusted];
    let found = client.query_again(include_str!("../../sql/namespace.sql"), &asked).await?;
    let Some(row) = found.first() else { return Ok(None) };
    let registry: Option<u32> = row.get("registry");
    let (Some(registry), None) = (registry, refusal(namespace, row)) else {
        return Err(refusal(namespace, row).unwrap_or_else(|| unmarked(namespace)).into());
    };
    let (oid, own): (u32, Vec<u32>) = (row.get("oid"), row.get("own"));
    if let Some((_, fault)) = faults(client, &[registry], &own, REGISTRY_COLUMNS).await?.into_iter().next() {
        return Err(Error::target(
            format!("{}.registry is not as mindful made it: it {}", namespace.quoted(), fault.what),
            "left untouched; another version of mindful or another role changed it: choose another name with --namespace",
        )
        .into());
    }
    let sql = render(include_str!("../../sql/registry.sql"), &[("namespace", &namespace.quoted())]);
    let mut entries: Vec<Entry> = client.query_again(&sql, &[&oid]).await?.iter().map(entry).collect();
    for (meets, columns) in [(false, DATASET_COLUMNS), (true, MEETING_COLUMNS)] {
        let of_kind = |entry: &&Entry| entry.table.stands && entry.meets == meets;
        let tables: Vec<u32> = entries.iter().filter(of_kind).map(|entry| entry.object).collect();
        if tables.is_empty() {
            continue;
        }
        for (table, fault) in faults(client, &tables, &own, columns).await? {
            if let Some(entry) = entries.iter_mut().find(|entry| entry.table.stands && entry.object == table) {
                entry.fault = Some(fault);
            }
        }
    }
    Ok(Some((oid, entries)))
}

/// Why the namespace in `row` is not used, by its owner and its mark.
fn refusal(namespace: &Namespace, row: &Row) -> Option<Error> {
    if row.get::<_, Option<&str>>("mark") != Some(MARK) {
        return Some(unmarked(namespace));
    }
    let (owner, role): (&str, &str) = (row.get("owner"), row.get("role"));
    (!row.get::<_, bool>("ours")).then(|| {
        Error::target(
            format!("schema {} belongs to role {owner}, not to {role}", namespace.quoted()),
            format!(
                "left untouched; connect as {owner}, choose another name with --namespace, or pass --trust-owner NAME if \
                 that role may do all that {role} may"
            ),
        )
    })
}

async fn faults(client: &Connection, tables: &[u32], own: &[u32], columns: &str) -> Result<Vec<(u32, Fault)>, Failure> {
    let columns: Vec<&str> = columns.split(", ").collect();
    let rows = client.query_again(include_str!("../../sql/faults.sql"), &[&tables, &own, &columns]).await?;
    let fault = |row: &Row| Fault { what: row.get("what"), ours: row.get("ours") };
    Ok(rows.iter().map(|row| (row.get("object"), fault(row))).collect())
}

/// The oids of the tables that sessions visit.
pub(crate) async fn tables(client: &Connection, namespace: &Namespace) -> Result<Vec<u32>, Failure> {
    Ok(find(client, namespace).await?.map_or_else(Vec::new, |(_, entries)| visited(&entries)))
}

pub(crate) fn visited(entries: &[Entry]) -> Vec<u32> {
    let blocks = entries.iter().filter(|entry| entry.table.stands && entry.table.kind == Some(TableKind::Blocks));
    blocks.map(|entry| entry.object).collect()
}

fn entry(row: &Row) -> Entry {
    let (kind, seed, content): (String, String, String) = (row.get("kind"), row.get("seed"), row.get("content"));
    let size = |column: &str| row.get::<_, i64>(column).unsigned_abs();
    let table = RegisteredTable {
        name: row.get("name"),
        kind: TableKind::from_word(&kind),
        schema: row.get::<_, i32>("schema").unsigned_abs(),
        blocks: size("blocks"),
        seed: seed.parse().unwrap_or(0),
        content: serde_json::from_str(&content).ok(),
        shape: row.get("shape"),
        proof: row.get::<_, Option<&str>>("proof").and_then(|text| serde_json::from_str(text).ok()),
        stands: row.get("exists"),
        table_bytes: size("table_bytes"),
        index_bytes: size("index_bytes"),
    };
    Entry { table, object: row.get("object"), meets: kind == MEETING, fault: None }
}

fn unmarked(namespace: &Namespace) -> Error {
    Error::target(
        format!("schema {} exists and was not made by mindful", namespace.quoted()),
        "left untouched; choose another name with --namespace",
    )
}

/// Makes the namespace with its mark and registry, unless it is there.
pub(crate) async fn ensure(client: &Connection, namespace: &Namespace) -> Result<Vec<Entry>, Failure> {
    if let Some((_, entries)) = find(client, namespace).await? {
        return Ok(entries);
    }
    let values = [("namespace", &*namespace.quoted()), ("mark", &quote_literal(MARK))];
    // Statements sent together are one transaction.
    client.batch_execute(&render(include_str!("../../sql/create_namespace.sql"), &values)).await?;
    Ok(Vec::new())
}

pub(crate) fn dataset(entries: &[Entry]) -> Option<Dataset> {
    table_registry::assemble_dataset(data(entries), &[NARROW, SHAPED], BLOCK_BYTES)
}

pub(crate) fn proof(entries: &[Entry]) -> Option<LayoutProof> {
    table_registry::join_proof(data(entries), dataset(entries)?.schemas)
}

/// Stores `proof` with its tables: each has the part of its schema.
pub(crate) async fn store_proof(
    client: &mut Client,
    namespace: &Namespace,
    proof: &LayoutProof,
) -> Result<(), Failure> {
    let values = [("namespace", &*namespace.quoted())];
    let transaction = client.transaction().await?;
    let keep = transaction.prepare(&render(include_str!("../../sql/store_proof.sql"), &values)).await?;
    for (schema, part) in table_registry::split_proof(proof) {
        transaction.execute(&keep, &[&TableKind::Blocks.word(), &(schema as i32), &part]).await?;
    }
    Ok(transaction.commit().await?)
}

pub(crate) fn shape(entries: &[Entry]) -> Option<Shape> {
    let table = data(entries).find(|table| table.stands && table.kind == Some(TableKind::Blocks))?;
    Shape::new(table.shape, table.content?).ok()
}

/// Objects that a cleanup removes, and those that it keeps, with the reason.
pub(crate) async fn inventory(client: &Connection, namespace: &Namespace) -> Result<Vec<OwnedObject>, Failure> {
    let Some((oid, entries)) = read_namespace(client, namespace).await? else { return Ok(Vec::new()) };
    let registry = format!("{}.registry", namespace.quoted());
    let registry_oid: Option<u32> = client.query_one("SELECT to_regclass($1)::oid", &[&registry]).await?.get(0);
    let mut known: Vec<u32> = entries.iter().filter(|e| e.table.stands).map(|e| e.object).collect();
    known.extend(registry_oid);
    let foreign = client.query(include_str!("../../sql/foreign_objects.sql"), &[&oid, &known]).await?;
    let of_entry = |entry: &Entry| {
        table_registry::owned_object(namespace.qualified(&entry.table.name), &entry.table, entry.fault.as_ref())
    };
    let mut objects: Vec<OwnedObject> = entries.iter().filter(|entry| entry.table.stands).map(of_entry).collect();
    let kept = !foreign.is_empty() || objects.iter().any(|object| object.kept_because.is_some());
    objects.extend(foreign.iter().map(|row| OwnedObject::new(row.get("name"), None, Some(NOT_REGISTERED))));
    objects.push(OwnedObject::new(registry, None, None));
    objects.push(OwnedObject::new(namespace.quoted(), None, kept.then_some(HOLDS_OTHERS)));
    Ok(objects)
}

/// Drops our objects in [`inventory`]; they are sent together, so it is one transaction.
pub(crate) async fn cleanup(client: &Connection, namespace: &Namespace) -> Result<Vec<OwnedObject>, Failure> {
    let objects = inventory(client, namespace).await?;
    // Without CASCADE: foreign objects that depend on our tables make the drop fail with a message.
    let drops: Vec<String> = objects
        .iter()
        .filter(|object| object.kept_because.is_none())
        .map(|object| {
            let kind = if object.name == namespace.quoted() { "SCHEMA" } else { "TABLE" };
            format!("DROP {kind} {};", object.name)
        })
        .collect();
    client.batch_execute(&drops.concat()).await?;
    Ok(objects)
}

/// Objects in the databases of a private server that are not mindful's.
pub(crate) fn foreign_objects(link: &Link, private: &Instance, namespace: &Namespace) -> Result<Vec<String>> {
    let mut foreign = foreign_in(link, namespace)?;
    for database in COMMON {
        let server = Server::from_socket(private.socket_folder(), PORT, USER, database);
        foreign.extend(foreign_in(&Link::new(server)?, namespace)?);
    }
    Ok(foreign)
}

fn foreign_in(link: &Link, namespace: &Namespace) -> Result<Vec<String>> {
    let control = link.control()?;
    link.run("looking for foreign objects", async {
        let sql = include_str!("../../sql/foreign_in_cluster.sql");
        let rows = control.query(sql, &[&namespace.name, &DATABASE]).await?;
        Ok(rows.iter().map(|row| row.get("name")).collect())
    })
}
