//! The opened database.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mindful_core::contract::description::{AccessPath, CacheFill, Description, HostView};
use mindful_core::contract::event::{Events, emit_note};
use mindful_core::contract::metric::{Sampler, Scope};
use mindful_core::contract::slice::Placement;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::watch::Watch;
use mindful_core::contract::{DatasetStore, OwnedObject};
use mindful_core::dataset::{Dataset, DatasetPlan, LayoutProof, nothing_loaded_error};
use mindful_core::plan::Plan;
use mindful_core::result::Finding;
use mindful_core::workload::{LoopSite, Workload};
use mindful_core::{Error, Result, Session, Target, contract::clock};
use mindful_host::mounts::folders_of;
use mindful_host::process;
use mindful_sql::observe::session_reads;
use mindful_sql::observe::wait_sampling::Whom;

use crate::checks;
use crate::connect::Server;
use crate::connect::abort::Sessions;
use crate::connect::link::Link;
use crate::connect::pooler::refuse_pooler;
use crate::dataset::lock::{self, RunLock};
use crate::dataset::registry::{self, Entry};
use crate::dataset::verify::Sampled;
use crate::dataset::{load, space, stored, verify};
use crate::observe::watch::ServerWatch;
use crate::observe::{counters, describe, waits};
use crate::options::Options;
use crate::private::{Chosen, Instance, Purpose};
use crate::work::client_session::ClientSession;
use crate::work::session::ServerLoop;
use crate::work::{fill, plan_check, prepare, settle};

pub(crate) struct PostgresTarget {
    link: Arc<Link>,
    /// The private server, if it is one; stops with the target.
    private: Option<Instance>,
    options: Options,
    major: u32,
    events: Arc<dyn Events>,
    /// Slices are timed by this host's clock, not the server's.
    client_clock: AtomicBool,
    sessions: Arc<Sessions>,
    /// Number of sessions of the prepared work.
    planned: AtomicU32,
    lock: RunLock,
    /// Other ranks of the same run hold the lock too.
    among_ranks: AtomicBool,
    /// The samples of the last load, until the proof is requested.
    sampled: Mutex<Sampled>,
    /// The schemas and blocks of the last cache fill, and its extent.
    filled: Mutex<Option<((u32, u64), CacheFill)>>,
}

impl PostgresTarget {
    fn samplers_of(&self, whom: Whom, scope: Scope) -> Result<Vec<Box<dyn Sampler>>> {
        let (namespace, private) = (&self.options.namespace, self.private.is_some());
        let mut samplers = counters::samplers(&self.link, namespace, self.major, scope, private, &*self.events)?;
        if let Some(interval) = self.options.wait_sampling {
            let planned = self.planned.load(Ordering::SeqCst);
            samplers.extend(waits::samplers(&self.link, interval, whom, &self.sessions, planned)?);
        }
        if self.host_view().local {
            let sessions = Arc::clone(&self.sessions);
            samplers.push(session_reads::sampler(move || sessions.pids(), process::storage_bytes));
        }
        Ok(samplers)
    }

    pub(crate) fn open(
        server: Server,
        private: Option<Instance>,
        options: Options,
        events: &Arc<dyn Events>,
    ) -> Result<Self> {
        let link = Arc::new(Link::new(server)?);
        // No pooler is between mindful and its own server.
        if private.is_none() {
            refuse_pooler(&link)?;
        }
        let control = link.control()?;
        let major = link.run("asking for the version", async { Ok(describe::major(&control).await?) })?;
        if major < 15 {
            return Err(Error::target(format!("the server is PostgreSQL {major}"), "mindful needs 15 or newer"));
        }
        let described = describe::describe(&link)?;
        if described.block_bytes != space::BLOCK_BYTES {
            return Err(Error::target(
                format!("the server's blocks are {} bytes long", described.block_bytes),
                "mindful measures PostgreSQL with blocks of 8192 bytes",
            ));
        }
        Ok(Self {
            link,
            private,
            options,
            major,
            events: Arc::clone(events),
            client_clock: AtomicBool::new(false),
            sessions: Arc::default(),
            planned: AtomicU32::new(0),
            lock: RunLock::default(),
            among_ranks: AtomicBool::new(false),
            sampled: Mutex::default(),
            filled: Mutex::default(),
        })
    }

    fn entries(&self) -> Result<Vec<Entry>> {
        let control = self.link.control()?;
        let found = self.link.run("looking for the dataset", registry::find(&control, &self.options.namespace))?;
        Ok(found.map_or_else(Vec::new, |(_, entries)| entries))
    }

    fn loaded(&self) -> Result<Dataset> {
        self.dataset()?.ok_or_else(nothing_loaded_error)
    }

    fn sampled(&self) -> MutexGuard<'_, Sampled> {
        self.sampled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compressibility of the stored blocks of `dataset`, in words; `None` if it cannot be measured.
    fn stored(&self, dataset: Option<Dataset>) -> Result<Option<String>> {
        let Some(dataset) = dataset else { return Ok(None) };
        let measured = stored::measure(&self.link, &self.options.namespace, &dataset)?;
        Ok(measured.map(|stored| stored.to_string()))
    }

    /// Sets a private server up for loading or running; its clients have to connect again after a restart.
    fn serve(&self, purpose: Purpose) -> Result<()> {
        if let Some(private) = &self.private
            && private.serve(purpose)?
        {
            self.link.release();
        }
        Ok(())
    }
}

/// A clock that takes longer to be read is ignored.
const CLOCK_WITHIN: Duration = Duration::from_secs(5);

impl DatasetStore for PostgresTarget {
    fn dataset(&self) -> Result<Option<Dataset>> {
        Ok(registry::dataset(&self.entries()?))
    }

    fn load(&self, plan: &DatasetPlan, events: &dyn Events, stop: &StopFlag) -> Result<Dataset> {
        if !load::is_complete(&self.link, &self.options, plan)? {
            self.serve(Purpose::Load)?;
            let loaded = lock::with_exclusive_lock(&self.link, &self.options.namespace, || {
                load::load(&self.link, &self.options, plan, events, stop)
            });
            self.serve(Purpose::Run)?;
            *self.sampled() = loaded?;
            if let Some(stored) = self.stored(self.dataset().ok().flatten())? {
                emit_note(events, format!("stored blocks: {stored}"));
            }
        }
        self.dataset()?.ok_or_else(|| Error::run("the load left no dataset", "load again"))
    }

    fn check_room(&self, plan: &DatasetPlan, events: &dyn Events) -> Result<()> {
        match &self.private {
            Some(instance) => space::check_unlogged(&instance.data(), plan),
            None => load::check_room(&self.link, &self.options, plan, events),
        }
    }

    fn verify(&self, stop: &StopFlag) -> Result<LayoutProof> {
        let dataset = self.loaded()?;
        // A sample that the load took is reported once; the next call takes a new one.
        let sampled = std::mem::take(&mut *self.sampled());
        verify::by_sample(&self.link, &self.options.namespace, &dataset, &sampled, stop)
    }

    fn verify_all(&self, stop: &StopFlag) -> Result<LayoutProof> {
        verify::of_all(&self.link, &self.options.namespace, &self.loaded()?, stop)
    }

    fn store_proof(&self, proof: &LayoutProof) -> Result<()> {
        let mut client = self.link.connect(0)?;
        self.link.run("storing the proof", registry::store_proof(&mut client, &self.options.namespace, proof))
    }

    fn stored_proof(&self) -> Result<Option<LayoutProof>> {
        Ok(registry::proof(&self.entries()?))
    }

    fn data_files(&self) -> Result<Vec<PathBuf>> {
        if self.host_view().local { describe::data_files(&self.link, &self.options.namespace) } else { Ok(Vec::new()) }
    }

    fn inventory(&self) -> Result<Vec<OwnedObject>> {
        let control = self.link.control()?;
        self.link.run("listing mindful's objects", registry::inventory(&control, &self.options.namespace))
    }

    fn cleanup(&self) -> Result<Vec<OwnedObject>> {
        let control = self.link.control()?;
        lock::with_exclusive_lock(&self.link, &self.options.namespace, || {
            self.link.run_on_tables("cleaning up", registry::cleanup(&control, &self.options.namespace))
        })
    }

    fn instance(&self) -> Result<Option<OwnedObject>> {
        let Some(private) = &self.private else { return Ok(None) };
        let others = registry::foreign_objects(&self.link, private, &self.options.namespace)?;
        private.owned(others, &self.inventory()?).map(Some)
    }

    fn remove_instance(&self) -> Result<Option<OwnedObject>> {
        let owned = self.instance()?;
        if let (Some(private), Some(OwnedObject { kept_because: None, .. })) = (&self.private, &owned) {
            self.link.release();
            private.destroy()?;
        }
        Ok(owned)
    }
}

impl Target for PostgresTarget {
    fn describe(&self) -> Result<Description> {
        let mut description = describe::describe(&self.link)?;
        description.facts.extend(self.private.iter().flat_map(Instance::chosen).map(Chosen::fact));
        description.syncs_log_only = true;
        description.log_by_forced_writes =
            description.facts.get("wal_sync_method").is_some_and(|method| method.starts_with("open_"));
        let entries = self.entries()?;
        description.expected_log = describe::expected_log(&description.facts, registry::shape(&entries));
        description.stored_blocks = self.stored(registry::dataset(&entries))?;
        Ok(description)
    }

    fn clock_us(&self) -> Result<i64> {
        if self.client_clock.load(Ordering::SeqCst) {
            return Ok(clock::now_us());
        }
        let control = self.link.control()?;
        self.link.run("reading the server's clock", async {
            let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
            match tokio::time::timeout(CLOCK_WITHIN, control.query_one(sql, &[])).await {
                Ok(row) => Ok(row?.get(0)),
                Err(_) => Err(Error::target(
                    format!("the server took more than {} s to return its time", CLOCK_WITHIN.as_secs()),
                    "wait until it is less busy",
                )
                .into()),
            }
        })
    }

    fn host_view(&self) -> HostView {
        let host = match &self.private {
            Some(private) => {
                let log = private.log_files().unwrap_or_else(|| describe::log_folder(&private.data()));
                HostView { log_paths: vec![log], ..private.host() }
            }
            None => describe::host(&self.link),
        };
        // A database, a tablespace or a single table may be a link to another device.
        let files = host.local.then(|| describe::data_files(&self.link, &self.options.namespace).ok()).flatten();
        let folders = folders_of(&files.unwrap_or_default());
        HostView { data_paths: if folders.is_empty() { host.data_paths } else { folders }, ..host }
    }

    fn join_run(&self) {
        self.among_ranks.store(true, Ordering::SeqCst);
    }

    fn prepare(&self, workload: &Workload, sessions: u32) -> Result<Vec<AccessPath>> {
        self.link.set_interrupted(false);
        self.planned.store(sessions, Ordering::SeqCst);
        self.client_clock.store(workload.loop_site == LoopSite::Client, Ordering::SeqCst);
        if let Some(private) = &self.private
            && private.carry(sessions)?
        {
            self.link.release();
            *self.filled.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        let shared = self.options.shared || self.among_ranks.load(Ordering::SeqCst);
        self.lock.hold(&self.link, &self.options.namespace, shared)?;
        let entries = self.entries()?;
        workload.refuse_more_than_loaded(registry::dataset(&entries).as_ref())?;
        if let Some(shape) = registry::shape(&entries).filter(|_| !workload.update_pct.is_none()) {
            shape.refuse_updates_without_room()?;
        }
        let shapes = prepare::prepare(&self.link, workload, sessions, &self.options.namespace)?;
        if workload.update_pct.is_none() {
            settle::before_reads(&self.link, &registry::visited(&entries), &*self.events)?;
        }
        Ok(shapes)
    }

    fn fill_cache(&self, workload: &Workload, stop: &StopFlag) -> Result<Option<CacheFill>> {
        let (namespace, set) = (&self.options.namespace, (workload.schemas, workload.scale));
        let mut known = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, fill)) = known.filter(|(of, _)| *of == set) {
            return Ok(Some(fill));
        }
        let dataset = self.loaded()?;
        emit_note(&*self.events, "filling the cache in block order");
        let mut fill = fill::fill(&self.link, namespace, &dataset, workload, stop)?;
        match &self.private {
            Some(private) if !fill.is_whole() => {
                private.restart()?;
                self.link.release();
                self.lock.hold(&self.link, namespace, self.options.shared)?;
                fill = fill::fill(&self.link, namespace, &dataset, workload, stop)?;
            }
            None if fill.is_whole() => {
                if let Err(error) = fill::remember(&self.link, namespace, workload) {
                    emit_note(
                        &*self.events,
                        format!("cannot record the filled cache, so the next run fills it again: {error}"),
                    );
                }
            }
            None if fill::holds(&self.link, namespace, workload)? => fill = CacheFill::whole(fill.blocks),
            _ => {}
        }
        *known = Some((set, fill));
        Ok(Some(fill))
    }

    fn checks(&self, plan: &Plan) -> Result<Vec<Finding>> {
        let dataset = self.dataset()?;
        let mut found = checks::checks(&self.link, &self.options, plan, dataset.as_ref())?;
        // A plan that does not fit the loaded dataset is refused when it is run.
        if let Some(Ok(workload)) = dataset.as_ref().map(|dataset| plan.workload(dataset)) {
            found.extend(plan_check::impurities(&self.link, &workload, &self.options.namespace)?);
        }
        Ok(found)
    }

    fn admits(&self, plan: &Plan, loads: bool) -> Result<()> {
        prepare::admit(&self.link, plan, &self.options.namespace, loads)
    }

    fn session(&self, workload: &Workload, placement: Placement) -> Result<Box<dyn Session>> {
        let namespace = &self.options.namespace;
        Ok(match workload.loop_site {
            LoopSite::Server => Box::new(ServerLoop::open(&self.link, workload, placement, namespace, &self.sessions)?),
            LoopSite::Client => {
                Box::new(ClientSession::open(&self.link, workload, placement, namespace, &self.sessions)?)
            }
        })
    }

    fn samplers(&self) -> Result<Vec<Box<dyn Sampler>>> {
        self.samplers_of(Whom::Ours, Scope::Database)
    }

    fn samplers_for_all_clients(&self, scope: Scope) -> Result<Vec<Box<dyn Sampler>>> {
        self.samplers_of(Whom::AllClients, scope)
    }

    fn watches(&self, workload: &Workload) -> Result<Vec<Box<dyn Watch>>> {
        let tables = registry::visited(&self.entries()?);
        Ok(vec![Box::new(ServerWatch::new(&self.link, tables, workload))])
    }

    fn interrupt(&self) {
        self.link.set_interrupted(true);
        self.link.wait(self.sessions.end());
    }

    fn abort(&self) {
        if let Some(private) = &self.private {
            private.cut_wait_short();
        }
        self.link.abort();
    }

    fn close(&self) {
        if let Some(private) = &self.private {
            private.close();
        }
    }
}
