//! What in the database is mindful's own: the marked namespace and the registry in it.

use mindful_core::dataset::{Content, Dataset, LayoutProof};
use mindful_core::engine::OwnedObject;
use mindful_core::plan::MOST_SCHEMAS;
use mindful_core::{Error, Result};
use tokio_postgres::Client;

use crate::error::Failure;
use crate::names::{Kind, MARK, Namespace};
use crate::shape::{NARROW, SHAPED, Shape};
use crate::template::{quote_literal, render};

/// One registered table.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Bare name.
    pub name: String,
    /// What it is for; `None` for a kind this version does not know.
    pub kind: Option<Kind>,
    /// Its oid when it was made.
    pub object: u32,
    /// Schema number, from 1.
    pub schema: u32,
    /// Rows, and so blocks.
    pub blocks: u64,
    /// Seed of its layout.
    pub seed: u64,
    /// What its filler looks like; `None` when unreadable.
    pub content: Option<Content>,
    /// Version of its row's shape.
    pub shape: i32,
    /// The proof of its layout, unless its rows were moved since.
    pub proof: Option<LayoutProof>,
    /// Whether a table of this name and oid still stands in the namespace.
    pub exists: bool,
    /// Bytes of the table, forks included.
    pub table_bytes: u64,
    /// Bytes of its indexes.
    pub index_bytes: u64,
}

/// The namespace as it was found.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// There is none of that name.
    Nothing,
    /// One with our mark and its registry.
    Ours {
        /// Its oid.
        oid: u32,
        /// Every registered table.
        entries: Vec<Entry>,
    },
    /// One without our mark: not ours, not touched.
    Foreign,
}

/// Looks at the namespace.
pub async fn find(client: &Client, namespace: &Namespace) -> Result<Found, Failure> {
    let Some(row) = client.query_opt(include_str!("../sql/namespace.sql"), &[&namespace.0]).await? else {
        return Ok(Found::Nothing);
    };
    let (oid, mark): (u32, Option<String>) = (row.get("oid"), row.get("mark"));
    if mark.as_deref() != Some(MARK) {
        return Ok(Found::Foreign);
    }
    let sql = render(include_str!("../sql/registry.sql"), &[("namespace", &namespace.quoted())]);
    let rows = client.query(&sql, &[&oid]).await?;
    Ok(Found::Ours { oid, entries: rows.iter().map(entry).collect() })
}

fn entry(row: &tokio_postgres::Row) -> Entry {
    let (kind, seed, content): (String, String, String) = (row.get("kind"), row.get("seed"), row.get("content"));
    let size = |column: &str| row.get::<_, i64>(column).unsigned_abs();
    Entry {
        name: row.get("name"),
        kind: [Kind::Blocks, Kind::Scan].into_iter().find(|known| known.word() == kind),
        object: row.get("object"),
        schema: row.get::<_, i32>("schema").unsigned_abs(),
        blocks: size("blocks"),
        seed: seed.parse().unwrap_or(0),
        content: serde_json::from_str(&content).ok(),
        shape: row.get("shape"),
        proof: row.get::<_, Option<&str>>("proof").and_then(|text| serde_json::from_str(text).ok()),
        exists: row.get("exists"),
        table_bytes: size("table_bytes"),
        index_bytes: size("index_bytes"),
    }
}

/// The refusal to touch a namespace that is not ours.
pub fn foreign(namespace: &Namespace) -> Error {
    Error::target(
        format!("schema {} exists and was not made by mindful", namespace.quoted()),
        "left untouched; choose another name with --namespace",
    )
}

/// Makes the namespace with its mark and registry, unless it is there.
pub async fn ensure(client: &Client, namespace: &Namespace) -> Result<Vec<Entry>, Failure> {
    match find(client, namespace).await? {
        Found::Ours { entries, .. } => Ok(entries),
        Found::Foreign => Err(foreign(namespace).into()),
        Found::Nothing => {
            let sql = render(
                include_str!("../sql/create_namespace.sql"),
                &[("namespace", &namespace.quoted()), ("mark", &quote_literal(MARK))],
            );
            // Statements sent together are one transaction.
            client.batch_execute(&sql).await?;
            Ok(Vec::new())
        }
    }
}

/// The dataset that complete tables make up: schemas 1 to N without a gap.
pub fn dataset(entries: &[Entry], block_bytes: u64) -> Option<Dataset> {
    let of =
        |kind| entries.iter().filter(move |e| e.kind == Some(kind) && e.exists && [NARROW, SHAPED].contains(&e.shape));
    let first = of(Kind::Blocks).find(|e| e.schema == 1)?;
    let scan_blocks = of(Kind::Scan).find(|e| e.schema == 1).map_or(0, |e| e.blocks);
    let has = |kind, schema| of(kind).any(|e| e.schema == schema);
    let complete =
        (1..=MOST_SCHEMAS).take_while(|s| has(Kind::Blocks, *s) && (scan_blocks == 0 || has(Kind::Scan, *s))).count();
    Some(Dataset {
        schemas: complete as u32,
        blocks_per_schema: first.blocks,
        scan_blocks,
        block_bytes,
        bytes: entries.iter().map(|e| e.table_bytes).sum(),
        index_bytes: Some(entries.iter().map(|e| e.index_bytes).sum()),
        seed: first.seed,
        content: first.content?,
    })
}

/// The proof that was kept for the first `schemas` schemas; `None` unless all were proven together.
pub fn proof(entries: &[Entry], schemas: u32) -> Option<LayoutProof> {
    let of = |schema| entries.iter().find(move |e| e.exists && e.kind == Some(Kind::Blocks) && e.schema == schema);
    let mut whole: Option<LayoutProof> = None;
    for schema in 1..=schemas {
        let kept = of(schema)?.proof.clone()?;
        match &mut whole {
            None => whole = Some(kept),
            Some(whole) if whole.proven_at_us == kept.proven_at_us => whole.schemas.extend(kept.schemas),
            Some(_) => return None,
        }
    }
    whole
}

/// Keeps `proof` with the tables it is about: each has its own schema's part.
pub async fn keep_proof(client: &mut Client, namespace: &Namespace, proof: &LayoutProof) -> Result<(), Failure> {
    let values = [("namespace", &*namespace.quoted())];
    let transaction = client.transaction().await?;
    transaction.batch_execute(&render(include_str!("../sql/proof_columns.sql"), &values)).await?;
    let keep = transaction.prepare(&render(include_str!("../sql/keep_proof.sql"), &values)).await?;
    for schema in &proof.schemas {
        let own = LayoutProof { schemas: vec![schema.clone()], ..proof.clone() };
        let text = serde_json::to_string(&own).unwrap_or_default();
        transaction.execute(&keep, &[&Kind::Blocks.word(), &(schema.schema as i32), &text]).await?;
    }
    Ok(transaction.commit().await?)
}

/// The shape of the rows that stand.
pub fn shape(entries: &[Entry]) -> Option<Shape> {
    let entry = entries.iter().find(|e| e.exists && e.kind == Some(Kind::Blocks))?;
    Shape::of(entry.shape, entry.content?).ok()
}

/// What a cleanup removes and what it leaves, with the reason.
pub async fn inventory(client: &Client, namespace: &Namespace) -> Result<Vec<OwnedObject>, Failure> {
    let (oid, entries) = match find(client, namespace).await? {
        Found::Nothing => return Ok(Vec::new()),
        Found::Foreign => return Err(foreign(namespace).into()),
        Found::Ours { oid, entries } => (oid, entries),
    };
    let registry = format!("{}.registry", namespace.quoted());
    let registry_oid: Option<u32> = client.query_one("SELECT to_regclass($1)::oid", &[&registry]).await?.get(0);
    let mut known: Vec<u32> = entries.iter().filter(|e| e.exists).map(|e| e.object).collect();
    known.extend(registry_oid);
    let foreign = client.query(include_str!("../sql/foreign_objects.sql"), &[&oid, &known]).await?;
    let mut objects: Vec<OwnedObject> = entries
        .iter()
        .filter(|e| e.exists)
        .map(|e| OwnedObject {
            name: format!("{}.{}", namespace.quoted(), crate::template::quote_ident(&e.name)),
            bytes: Some(e.table_bytes + e.index_bytes),
            kept_because: None,
        })
        .collect();
    let kept = !foreign.is_empty();
    objects.extend(foreign.iter().map(|row| OwnedObject {
        name: row.get("name"),
        bytes: None,
        kept_because: Some("not in the registry of mindful: not ours".to_owned()),
    }));
    objects.push(OwnedObject { name: registry, bytes: None, kept_because: None });
    objects.push(OwnedObject {
        name: namespace.quoted(),
        bytes: None,
        kept_because: kept.then(|| "holds objects that are not mindful's".to_owned()),
    });
    Ok(objects)
}

/// Drops what [`inventory`] calls ours; sent together, so it is one transaction.
pub async fn cleanup(client: &Client, namespace: &Namespace) -> Result<Vec<OwnedObject>, Failure> {
    let objects = inventory(client, namespace).await?;
    // Without CASCADE: what others hung on our tables makes the drop fail and say so.
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
