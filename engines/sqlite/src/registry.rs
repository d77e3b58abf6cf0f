//! The registry inside the file: its dataset, and mindful's own objects.

use mindful_core::dataset::{Content, Dataset, DatasetPlan, LayoutProof};
use mindful_core::plan::MOST_SCHEMAS;
use rusqlite::{Connection, OptionalExtension, Transaction};
use serde::{Deserialize, Serialize};

use crate::objects;

/// "mndf": the application id in the header of a file of ours.
pub(crate) const APPLICATION_ID: u32 = 0x6d6e_6466;

pub(crate) const REGISTRY: [&str; 2] = ["mindful_dataset", "mindful_schema"];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parameters {
    pub blocks_per_schema: u64,
    pub scan_blocks: u64,
    pub seed: u64,
    pub content: Content,
}

impl From<&DatasetPlan> for Parameters {
    fn from(plan: &DatasetPlan) -> Self {
        Self {
            blocks_per_schema: plan.blocks_per_schema,
            scan_blocks: plan.scan_blocks,
            seed: plan.seed,
            content: plan.content,
        }
    }
}

/// Marks a new file as ours and registers its future contents.
pub(crate) fn register(transaction: &Transaction<'_>, parameters: &Parameters) -> rusqlite::Result<()> {
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.execute_batch(include_str!("../sql/registry.sql"))?;
    let text =
        serde_json::to_string(parameters).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    transaction.execute("INSERT INTO mindful_dataset (id, parameters) VALUES (1, ?1)", [text])?;
    Ok(())
}

/// Parameters of the file's load; `None` before [`register`].
pub(crate) fn parameters(connection: &Connection) -> rusqlite::Result<Option<Parameters>> {
    if !connection.table_exists(None, REGISTRY[0])? {
        return Ok(None);
    }
    let text: Option<String> =
        connection.query_row("SELECT parameters FROM mindful_dataset", [], |row| row.get(0)).optional()?;
    text.map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into()))
}

/// A registry of more than any file holds: mindful did not write it.
fn impossible() -> rusqlite::Error {
    let what = "its registry lists more than a file can hold";
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, what.into())
}

pub(crate) fn add_schema(transaction: &Transaction<'_>, schema: u32, table: u64, index: u64) -> rusqlite::Result<()> {
    transaction
        .execute(
            "INSERT INTO mindful_schema (schema, table_bytes, index_bytes) VALUES (?1, ?2, ?3)",
            (schema, table as i64, index as i64),
        )
        .map(drop)
}

/// A proof and the file that it is about.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// SQLite's count of changes of the schema: loading more tables and VACUUM count it up.
    schema_version: i64,
    proof: LayoutProof,
}

pub(crate) fn store_proof(connection: &mut Connection, proof: &LayoutProof) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    let kept = Kept { schema_version: schema_version(&transaction)?, proof: proof.clone() };
    let text = serde_json::to_string(&kept).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    transaction.execute("UPDATE mindful_dataset SET proof = ?1", [text])?;
    transaction.commit()
}

/// The proof that was stored, unless the file has changed since.
pub(crate) fn stored_proof(connection: &Connection) -> rusqlite::Result<Option<LayoutProof>> {
    let text: Option<Option<String>> =
        connection.query_row("SELECT proof FROM mindful_dataset", [], |row| row.get(0)).optional()?;
    let kept = text.flatten().and_then(|text| serde_json::from_str::<Kept>(&text).ok());
    let now = schema_version(connection)?;
    Ok(kept.filter(|kept| kept.schema_version == now).map(|kept| kept.proof))
}

fn schema_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA schema_version", [], |row| row.get(0))
}

/// The complete schemas, each with the bytes of its table and its index; at most as many as can be loaded, because a
/// damaged table may never end.
fn complete(connection: &Connection) -> rusqlite::Result<Vec<(u32, i64, i64)>> {
    let mut all =
        connection.prepare("SELECT schema, table_bytes, index_bytes FROM mindful_schema ORDER BY schema LIMIT ?1")?;
    let complete: Vec<_> = all.query_map([MOST_SCHEMAS + 1], |row| row.try_into())?.collect::<rusqlite::Result<_>>()?;
    if complete.len() > MOST_SCHEMAS as usize { Err(impossible()) } else { Ok(complete) }
}

pub(crate) fn schemas(connection: &Connection) -> rusqlite::Result<Vec<u32>> {
    Ok(complete(connection)?.into_iter().map(|(schema, ..)| schema).collect())
}

/// The complete part of the dataset; `None` if not even one schema is complete.
pub(crate) fn dataset(connection: &Connection, page_bytes: u64) -> rusqlite::Result<Option<Dataset>> {
    let Some(parameters) = parameters(connection)? else { return Ok(None) };
    let complete = complete(connection)?;
    let total = |of: fn(&(u32, i64, i64)) -> i64| {
        let sum = complete.iter().try_fold(0_i64, |sum, one| sum.checked_add(of(one)));
        sum.and_then(|sum| u64::try_from(sum).ok()).ok_or_else(impossible)
    };
    let dataset = Dataset {
        schemas: complete.len() as u32,
        blocks_per_schema: parameters.blocks_per_schema,
        scan_blocks: parameters.scan_blocks,
        block_bytes: page_bytes,
        bytes: total(|one| one.1)?,
        index_bytes: Some(total(|one| one.2)?),
        seed: parameters.seed,
        content: parameters.content,
    };
    if !dataset.is_possible() {
        return Err(impossible());
    }
    Ok((dataset.schemas > 0).then_some(dataset))
}

/// Our tables, the registry's own last.
pub(crate) fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let Some(parameters) = parameters(connection)? else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    for schema in schemas(connection)? {
        names.push(format!("blocks_{schema}"));
        if parameters.scan_blocks > 0 {
            names.push(format!("scan_{schema}"));
        }
    }
    names.extend(REGISTRY.map(str::to_owned));
    Ok(names)
}

/// Foreign objects in the file, as `table name`.
pub(crate) fn foreign(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let ours = tables(connection)?;
    let mut others = objects::all(connection)?;
    others.retain(|object| !ours.contains(&object.table));
    Ok(others.into_iter().map(|object| format!("{} {}", object.kind, object.name)).collect())
}
