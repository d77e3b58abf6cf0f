//! The opened file.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use mindful_core::contract::description::{AccessPath, CacheFill, Description, HeldFixed, HostView};
use mindful_core::contract::event::{Events, emit_note};
use mindful_core::contract::metric::Sampler;
use mindful_core::contract::session::Session;
use mindful_core::contract::slice::Placement;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::contract::watch::Watch;
use mindful_core::contract::{DatasetStore, OwnedObject};
use mindful_core::dataset::{Dataset, DatasetPlan, LayoutProof};
use mindful_core::plan::Plan;
use mindful_core::result::Finding;
use mindful_core::workload::{LoopSite, Workload};
use mindful_core::{Error, Result};
use mindful_host::file_lock::{self, FileLocks};
use mindful_host::file_state;
use mindful_host::kernel_file;
use mindful_host::mounts::folders_of;
use rusqlite::Connection;

use crate::checks;
use crate::counters;
use crate::error::explain;
use crate::file::DatabaseFile;
use crate::load;
use crate::options::Options;
use crate::proof;
use crate::registry;
use crate::session::{Shared, SqliteSession};
use crate::statement;
use crate::stored;
use crate::watch::FileWatch;

pub(crate) struct SqliteTarget {
    file: DatabaseFile,
    options: Options,
    shared: Shared,
    locks: FileLocks,
    /// Others of its run use the file too.
    among_ranks: AtomicBool,
    sessions: AtomicU32,
    fills: AtomicBool,
    /// For reading pages as they are stored; never closed before the target, because that drops the process's locks.
    pages: Mutex<Vec<File>>,
}

impl SqliteTarget {
    pub(crate) fn new(file: DatabaseFile, options: Options) -> Self {
        let (shared, locks, pages) = (Shared::default(), FileLocks::default(), Mutex::default());
        let (among_ranks, sessions, fills) = (AtomicBool::default(), AtomicU32::default(), AtomicBool::default());
        Self { file, options, shared, locks, among_ranks, sessions, fills, pages }
    }

    fn explained(&self, error: &rusqlite::Error) -> Error {
        explain(self.file.path(), error)
    }

    fn nothing_loaded(&self) -> Error {
        Error::target(format!("{} holds no dataset", self.file.path().display()), "`mindful load` first")
    }

    fn loaded(&self) -> Result<Dataset> {
        self.dataset()?.ok_or_else(|| self.nothing_loaded())
    }

    /// A connection for sessions: with the log read and written, the requested cache, and the workload's durability.
    fn connect(&self, workload: &Workload) -> Result<Connection> {
        let connection = self.file.connect()?.ok_or_else(|| self.nothing_loaded())?;
        let set = || {
            load::use_wal(&connection)?;
            connection.pragma_update(None, "cache_size", -((self.options.cache_bytes >> 10) as i64))?;
            connection.query_row("PRAGMA mmap_size = 0", [], |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", self.options.synchronous(workload.commit_wait))
        };
        set().map_err(|error| self.explained(&error))?;
        Ok(connection)
    }

    /// Compressibility of stored pages; `None` without a dataset.
    fn stored(&self) -> Option<String> {
        self.dataset().ok().flatten()?;
        let mut opened = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let inode = self.file.path().metadata().ok()?.ino();
        // A file that was removed and made again is another one.
        if !opened.last().is_some_and(|file| file.metadata().is_ok_and(|metadata| metadata.ino() == inode)) {
            opened.push(kernel_file::opened(self.file.path()).ok()?);
        }
        stored::measure(opened.last()?, self.file.page_bytes())
    }

    fn facts(&self) -> BTreeMap<String, String> {
        let [waiting, not_waiting] = [true, false].map(|waits| self.options.synchronous(waits));
        let same = waiting == not_waiting;
        let synchronous =
            if same { waiting.to_owned() } else { format!("{waiting}; with --commit-wait off {not_waiting}") };
        let facts = [
            ("page_size", self.file.page_bytes().to_string()),
            ("cache_size", format!("-{} (KiB, each session)", self.options.cache_bytes >> 10)),
            ("mmap_size", "0".to_owned()),
            ("journal_mode", "wal".to_owned()),
            ("synchronous", synchronous),
            ("wal_autocheckpoint", "1000".to_owned()),
            ("reads", "buffered: the page cache of the operating system is always used".to_owned()),
        ];
        facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
    }
}

impl DatasetStore for SqliteTarget {
    fn dataset(&self) -> Result<Option<Dataset>> {
        let Some(connection) = self.file.connect()? else { return Ok(None) };
        registry::dataset(&connection, self.file.page_bytes()).map_err(|error| self.explained(&error))
    }

    fn load(&self, plan: &DatasetPlan, events: &dyn Events, stop: &StopFlag) -> Result<Dataset> {
        plan.content.refuse_repeated("pages", "page of SQLite holds a row with a key and position of its own")?;
        let dataset = load::load(&self.file, &self.locks, plan, events, stop)?;
        if let Some(stored) = self.stored() {
            emit_note(events, format!("stored blocks: {stored}"));
        }
        Ok(dataset)
    }

    fn check_room(&self, plan: &DatasetPlan, _events: &dyn Events) -> Result<()> {
        load::check_room(&self.file, &registry::Parameters::from(plan), plan.schemas.into())
    }

    fn verify(&self, stop: &StopFlag) -> Result<LayoutProof> {
        self.loaded()?;
        let connection = self.file.connect()?.ok_or_else(|| self.nothing_loaded())?;
        proof::prove(&self.file, &connection, stop)
    }

    fn store_proof(&self, proof: &LayoutProof) -> Result<()> {
        let mut connection = self.file.connect()?.ok_or_else(|| self.nothing_loaded())?;
        registry::store_proof(&mut connection, proof).map_err(|error| self.explained(&error))?;
        // In the file and not in its log: then the file stays as it is until something writes to it.
        let copied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        copied.map_err(|error| self.explained(&error))?;
        // Without extended attributes the layout is proven before each run.
        let _ = file_state::keep(self.file.path());
        Ok(())
    }

    fn stored_proof(&self) -> Result<Option<LayoutProof>> {
        let Some(connection) = self.file.connect()? else { return Ok(None) };
        let stored = registry::stored_proof(&connection).map_err(|error| self.explained(&error))?;
        Ok(stored.filter(|_| self.file.is_in_kept_state()))
    }

    fn inventory(&self) -> Result<Vec<OwnedObject>> {
        let Some(connection) = self.file.connect()? else { return Ok(Vec::new()) };
        inventory(&self.file, &connection).map_err(|error| self.explained(&error))
    }

    fn cleanup(&self) -> Result<Vec<OwnedObject>> {
        let removed = self.inventory()?;
        if removed.is_empty() {
            return Ok(removed);
        }
        let _alone = self.locks.alone(&[self.file.path().to_owned()])?;
        let Some(mut connection) = self.file.connect()? else { return Ok(removed) };
        // Leaving WAL mode needs exclusive use of the file: no session works on it now.
        let mut clean = || {
            connection.query_row("PRAGMA journal_mode = delete", [], |_| Ok(()))?;
            let whole = registry::foreign(&connection)?.is_empty();
            if !whole {
                drop_ours(&mut connection)?;
            }
            Ok(whole)
        };
        let whole = clean().map_err(|error| self.explained(&error))?;
        drop(connection);
        if whole {
            self.file.remove()?;
        }
        Ok(removed)
    }
}

impl Target for SqliteTarget {
    fn describe(&self) -> Result<Description> {
        Ok(Description {
            engine_version: rusqlite::version().to_owned(),
            block_bytes: self.file.page_bytes(),
            cache_bytes: Some(self.options.cache_bytes),
            cache_each_session: true,
            endpoints: 1,
            facts: self.facts(),
            held_fixed: ["synchronous", "journal_mode"]
                .map(|name| (name.to_owned(), HeldFixed::Durability.name().to_owned()))
                .into(),
            expected_log: Some(counters::expected_log(self.file.page_bytes())),
            stored_blocks: self.stored(),
            unsafe_settings: self.options.unsafe_settings(),
            ..Description::default()
        })
    }

    fn host_view(&self) -> HostView {
        let data_paths = vec![self.file.path().to_owned()];
        // SQLite makes the log in the folder of the file itself, not of a link to it.
        let log_paths = folders_of(&data_paths);
        HostView { local: true, data_paths, log_paths, in_process: true, ..HostView::default() }
    }

    fn join_run(&self) {
        self.among_ranks.store(true, Ordering::SeqCst);
    }

    fn prepare(&self, workload: &Workload, sessions: u32) -> Result<Vec<AccessPath>> {
        if workload.loop_site == LoopSite::Server {
            return Err(Error::plan("SQLite has no server, so no work loop in it", "pass --loop client"));
        }
        self.options.refuse_contradictions(workload.commit_wait)?;
        workload.refuse_more_than_loaded(Some(&self.loaded()?))?;
        self.sessions.store(sessions, Ordering::SeqCst);
        self.fills.store(false, Ordering::SeqCst);
        let shared = self.options.shared || self.among_ranks.load(Ordering::SeqCst);
        self.locks.share(&[self.file.path().to_owned()], shared)?;
        let connection = self.connect(workload)?;
        let read_only = connection.is_readonly(rusqlite::MAIN_DB).map_err(|error| self.explained(&error))?;
        if read_only && !workload.update_pct.is_none() {
            return Err(Error::target(
                format!("{} may only be read, and the workload updates", self.file.path().display()),
                "make the file and its folder writable, or run with --update-pct 0",
            ));
        }
        statement::shapes(&connection, workload).map_err(|error| self.explained(&error))
    }

    fn checks(&self, plan: &Plan) -> Result<Vec<Finding>> {
        let loaded = self.dataset()?;
        let hits = checks::predicted_hits(plan, loaded.as_ref(), self.options.cache_bytes, self.file.page_bytes());
        Ok(hits.into_iter().chain(file_lock::shared(&[self.file.path().to_owned()])).collect())
    }

    fn session(&self, workload: &Workload, placement: Placement) -> Result<Box<dyn Session>> {
        let dataset = self.loaded()?;
        let connection = self.connect(workload)?;
        let session = SqliteSession::new(&self.file, connection, workload, placement, &dataset, self.shared.clone())?;
        if self.fills.load(Ordering::SeqCst) {
            session.fill_cache()?;
        }
        Ok(Box::new(session))
    }

    fn samplers(&self) -> Result<Vec<Box<dyn Sampler>>> {
        Ok(vec![counters::sampler(&self.shared.totals, self.file.page_bytes())])
    }

    fn watches(&self, workload: &Workload) -> Result<Vec<Box<dyn Watch>>> {
        let connection = self.file.connect()?.ok_or_else(|| self.nothing_loaded())?;
        Ok(vec![Box::new(FileWatch::new(self.file.path().to_owned(), connection, workload))])
    }

    /// Each session fills its own cache before its first slice.
    fn fill_cache(&self, workload: &Workload, _stop: &StopFlag) -> Result<Option<CacheFill>> {
        let dataset = self.loaded()?;
        let sessions = self.sessions.load(Ordering::SeqCst);
        let schemas = if sessions.is_multiple_of(workload.schemas) { 1 } else { workload.schemas };
        let whole = workload.scale >= dataset.blocks_per_schema;
        let fits = dataset.fits_cache(schemas, workload.scale, self.options.cache_bytes);
        self.fills.store(fits && whole, Ordering::SeqCst);
        let blocks = u64::from(workload.schemas) * workload.scale;
        Ok(fits.then_some(CacheFill { in_order: if whole { blocks } else { 0 }, blocks }))
    }

    fn interrupt(&self) {
        self.shared.interrupts.fetch_add(1, Ordering::SeqCst);
        self.file.interrupt();
    }

    fn abort(&self) {
        self.interrupt();
        self.file.abort();
    }
}

/// The file if all of it is ours, otherwise our tables and remaining objects.
fn inventory(file: &DatabaseFile, connection: &Connection) -> rusqlite::Result<Vec<OwnedObject>> {
    let foreign = registry::foreign(connection)?;
    if foreign.is_empty() {
        let bytes = file.path().metadata().ok().map(|metadata| metadata.len());
        return Ok(vec![OwnedObject::new(file.path().display().to_string(), bytes, None)]);
    }
    let ours = registry::tables(connection)?.into_iter();
    let ours = ours.map(|name| OwnedObject::new(format!("table {name}"), None, None));
    let kept = foreign.into_iter().map(|name| OwnedObject::new(name, None, Some("mindful did not make it")));
    Ok(ours.chain(kept).collect())
}

/// Drops our tables and takes our mark off the file.
fn drop_ours(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for table in registry::tables(&transaction)? {
        transaction.execute_batch(&format!("DROP TABLE IF EXISTS {table}"))?;
    }
    transaction.pragma_update(None, "application_id", 0)?;
    transaction.commit()
}
