//! Loading: each schema in one transaction, so that a load that was cut off is completed, never half there.

use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Dataset, DatasetPlan, LayoutProof};
use mindful_core::workload::draw::Permutation;
use mindful_core::{Error, Result};
use mindful_host::file_lock::FileLocks;
use mindful_host::space;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::explain;
use crate::file::DatabaseFile;
use crate::filler::{Filler, narrow};
use crate::registry::{self, Parameters};
use crate::statement;

const CACHE_KIB: i64 = 32 << 10;

/// Upper bound of an index entry: key, position, header, slack of its page.
const INDEX_ENTRY_BYTES: u64 = 24;

/// Rows between two checks of the stop flag.
const STRIDE: u64 = 256;

/// Makes the dataset of `plan` in `file`, or completes it, while no other process uses the file.
pub(crate) fn load(
    file: &DatabaseFile,
    locks: &FileLocks,
    plan: &DatasetPlan,
    events: &dyn Events,
    stop: &StopFlag,
) -> Result<Dataset> {
    let explained = |error: rusqlite::Error| explain(file.path(), &error);
    let parameters = Parameters::from(plan);
    let wanting = missing(file, plan, &parameters)?;
    if !wanting.is_empty() {
        check_room(file, &parameters, wanting.len() as u64)?;
        file.touch()?;
        let _alone = locks.alone(&[file.path().to_owned()])?;
        let missing = missing(file, plan, &parameters);
        let load = |missing| Load { file, parameters: &parameters, events, stop, done: 0, of: 0 }.complete(missing);
        let made = missing.and_then(load);
        file.remove_if_empty();
        made?;
    }
    let none = || Error::plan("a dataset without schemas", "pass --schemas 1 or more");
    let connection = file.connect()?.ok_or_else(none)?;
    use_wal(&connection).map_err(explained)?;
    registry::dataset(&connection, file.page_bytes()).map_err(explained)?.ok_or_else(none)
}

/// The schemas of `plan` that `file` does not hold; refuses a file that holds others.
fn missing(file: &DatabaseFile, plan: &DatasetPlan, parameters: &Parameters) -> Result<Vec<u32>> {
    let explained = |error: rusqlite::Error| explain(file.path(), &error);
    let mut loaded = Vec::new();
    if let Some(connection) = file.connect()?
        && let Some(begun) = registry::parameters(&connection).map_err(explained)?
    {
        refuse_another(file, &begun, parameters)?;
        loaded = registry::schemas(&connection).map_err(explained)?;
    }
    Ok((1..=plan.schemas).filter(|schema| !loaded.contains(schema)).collect())
}

/// Puts the file into WAL mode, which it keeps; nothing happens when it is.
pub(crate) fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA journal_mode = wal", [], |_| Ok(()))
}

/// New pages need no rollback journal, so this way each is written once; commits still wait for storage.
fn settle(connection: &Connection, page_bytes: u64) -> rusqlite::Result<()> {
    connection.pragma_update(None, "page_size", page_bytes as i64)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.query_row("PRAGMA locking_mode = exclusive", [], |_| Ok(()))?;
    connection.query_row("PRAGMA journal_mode = delete", [], |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "full")
}

fn refuse_another(file: &DatabaseFile, there: &Parameters, wanted: &Parameters) -> Result<()> {
    if there == wanted {
        return Ok(());
    }
    let (path, Parameters { blocks_per_schema, scan_blocks, seed, .. }) = (file.path().display(), there);
    Err(Error::plan(
        format!(
            "{path} holds a dataset of {blocks_per_schema} blocks a schema, {scan_blocks} scan blocks, seed {seed}"
        ),
        "load with the same, or `mindful cleanup` first",
    ))
}

/// Refuses `schemas` schemas that do not fit.
pub(crate) fn check_room(file: &DatabaseFile, parameters: &Parameters, schemas: u64) -> Result<()> {
    let folder = file.folder();
    if !folder.is_dir() {
        return Err(Error::target(
            format!("the folder {} does not exist", folder.display()),
            "make it, or name a file in another",
        ));
    }
    let pages = parameters.blocks_per_schema.saturating_add(parameters.scan_blocks);
    let index = parameters.blocks_per_schema.saturating_mul(INDEX_ENTRY_BYTES);
    let table = pages.saturating_mul(file.page_bytes());
    // Inner nodes of the trees are below a hundredth.
    let needed = schemas.saturating_mul(table.saturating_add(table / 100).saturating_add(index));
    space::require("the load", folder, needed, "pass a smaller --scale or fewer --schemas, or name a file elsewhere")
}

struct Load<'l> {
    file: &'l DatabaseFile,
    parameters: &'l Parameters,
    events: &'l dyn Events,
    stop: &'l StopFlag,
    /// Loaded blocks, and blocks to load.
    done: u64,
    of: u64,
}

impl Load<'_> {
    fn complete(mut self, missing: Vec<u32>) -> Result<()> {
        let path = self.file.path();
        let explained = |error: rusqlite::Error| explain(path, &error);
        let mut connection = self.file.create()?;
        settle(&connection, self.file.page_bytes()).map_err(explained)?;
        if registry::parameters(&connection).map_err(explained)?.is_none() {
            let transaction = connection.transaction().map_err(explained)?;
            registry::register(&transaction, self.parameters).map_err(explained)?;
            transaction.commit().map_err(explained)?;
        }
        self.of = missing.len() as u64 * (self.parameters.blocks_per_schema + self.parameters.scan_blocks);
        missing.into_iter().try_for_each(|schema| self.load_schema(&mut connection, schema))
    }

    fn load_schema(&mut self, connection: &mut Connection, schema: u32) -> Result<()> {
        let path = self.file.path();
        let explained = |error: rusqlite::Error| explain(path, &error);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(explained)?;
        let pages = || transaction.query_row("PRAGMA page_count", [], |row| row.get::<_, i64>(0)).map_err(explained);
        let run = |sql: &str| transaction.execute_batch(&statement::text(sql, schema)).map_err(explained);
        let before = pages()?;
        run(include_str!("../sql/schema.sql"))?;
        self.insert(&transaction, schema, "blocks", self.parameters.blocks_per_schema)?;
        if self.parameters.scan_blocks > 0 {
            run(include_str!("../sql/scan_table.sql"))?;
            self.insert(&transaction, schema, "scan", self.parameters.scan_blocks)?;
        }
        let filled = pages()?;
        run(include_str!("../sql/index.sql"))?;
        let bytes = |pages: i64| pages.max(0).unsigned_abs() * self.file.page_bytes();
        let (table, index) = (bytes(filled - before), bytes(pages()? - filled));
        registry::add_schema(&transaction, schema, table, index).map_err(explained)?;
        transaction.commit().map_err(explained)
    }

    /// Inserts `count` rows in physical order; their keys are a permutation of it.
    fn insert(&mut self, transaction: &Transaction<'_>, schema: u32, table: &str, count: u64) -> Result<()> {
        let path = self.file.path();
        let explained = |error: rusqlite::Error| explain(path, &error);
        let Parameters { seed, content, .. } = *self.parameters;
        let layout = Permutation::layout(count, seed, schema, LayoutProof::MAX_CORRELATION);
        let stream = seed ^ u64::from(schema) << 40 ^ u64::from(table == "scan") << 39;
        let mut filler = Filler::new(content, stream, count, self.file.page_bytes());
        let sql = statement::text(include_str!("../sql/insert.sql"), schema).replace("{table}", table);
        let mut insert = transaction.prepare(&sql).map_err(explained)?;
        for position in 0..count {
            let key = layout.get(position) + 1;
            let [c1, c2] = narrow(stream, key, 0);
            insert.execute((position as i64 + 1, key as i64, c1, filler.row(key, 0), c2)).map_err(explained)?;
            if (position + 1).is_multiple_of(STRIDE) {
                self.add_blocks(STRIDE);
                self.stop.refuse("the load was stopped; load again to complete it")?;
            }
        }
        self.add_blocks(count % STRIDE);
        Ok(())
    }

    fn add_blocks(&mut self, blocks: u64) {
        self.done += blocks;
        let [done, of] = [self.done, self.of].map(|blocks| blocks * self.file.page_bytes());
        self.events.emit(Event::Progress { what: "loading".to_owned(), done, of, unit: "bytes".to_owned() });
    }
}
