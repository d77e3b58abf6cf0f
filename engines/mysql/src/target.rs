//! The opened server.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
use mysql_common::value::Value;

use crate::checks;
use crate::connect::Server;
use crate::connect::link::Link;
use crate::dataset::lock::{self, RunLock};
use crate::dataset::registry;
use crate::dataset::verify::Look;
use crate::dataset::{layout, load, verify};
use crate::names::TableKind;
use crate::observe::watch::ServerWatch;
use crate::observe::{counters, describe, waits};
use crate::options::Options;
use crate::private::{Chosen, Instance, Purpose};
use crate::work::client_session::ClientSession;
use crate::work::commit::Committed;
use crate::work::session::ServerLoop;
use crate::work::statement::Reach;
use crate::work::{fill, plan_check, prepare, server_time, settle};

pub(crate) struct MysqlTarget {
    link: Arc<Link>,
    /// The private server, if it is one; stops with the target.
    private: Option<Instance>,
    options: Options,
    events: Arc<dyn Events>,
    /// Slices are timed by this host's clock, not the server's.
    client_clock: AtomicBool,
    /// How sessions of the work that was prepared reach their pages.
    reach: Mutex<Option<Reach>>,
    committed: Arc<Committed>,
    lock: RunLock,
    /// The schemas and pages of the last cache fill, and its extent.
    filled: Mutex<Option<((u32, u64), CacheFill)>>,
    /// The work that was prepared updates: purge then reads for the sessions.
    updates: Arc<AtomicBool>,
    /// Sessions of the work that was prepared.
    sessions: AtomicU32,
    /// The first rank of the run locks other runs out, creates missing objects and settles after updates.
    among_ranks: AtomicBool,
}

impl MysqlTarget {
    pub(crate) fn open(
        server: Server,
        private: Option<Instance>,
        options: Options,
        events: &Arc<dyn Events>,
    ) -> Result<Self> {
        let link = Arc::new(Link::new(server));
        let version = link.version()?;
        if let Some(other) = link.storage()?.other() {
            emit_note(&**events, format!("{}: layout, pages and physical reads are unknown", other.what));
        } else if !version.is_supported() {
            let (major, minor) = version.flavor.oldest();
            return Err(Error::target(
                format!("the server is {version}"),
                format!("mindful needs {} {major}.{minor} or newer", version.flavor.name()),
            ));
        }
        Ok(Self {
            link,
            private,
            options,
            events: Arc::clone(events),
            client_clock: AtomicBool::new(false),
            reach: Mutex::default(),
            committed: Arc::default(),
            lock: RunLock::default(),
            filled: Mutex::default(),
            updates: Arc::default(),
            sessions: AtomicU32::new(0),
            among_ranks: AtomicBool::new(false),
        })
    }

    fn loaded(&self) -> Result<Dataset> {
        self.dataset()?.ok_or_else(nothing_loaded_error)
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

    fn tables(&self, dataset: &Dataset) -> Vec<String> {
        let table = |kind| move |schema| self.options.namespace.table(kind, schema);
        let scans = (1..=dataset.schemas).filter(|_| dataset.scan_blocks > 0).map(table(TableKind::Scan));
        (1..=dataset.schemas).map(table(TableKind::Blocks)).chain(scans).collect()
    }

    fn is_other(&self) -> Result<bool> {
        Ok(self.link.storage()?.other().is_some())
    }

    /// The folder of the server's files, if it is on this host.
    fn data_folder(&self) -> Result<Option<PathBuf>> {
        match &self.private {
            Some(private) => Ok(Some(private.data())),
            None if describe::host(&self.link).local => {
                let folder: Option<String> =
                    self.link.run("asking for the data folder", |conn| conn.query_first("SELECT @@GLOBAL.datadir"))?;
                Ok(folder.map(PathBuf::from))
            }
            None => Ok(None),
        }
    }

    fn samplers_of_server(&self) -> Result<Vec<Box<dyn Sampler>>> {
        let mut samplers = counters::samplers(&self.link, &*self.events)?;
        if let Some(interval) = self.options.wait_sampling {
            let among_ranks = self.among_ranks.load(Ordering::SeqCst);
            samplers.extend(waits::samplers(
                &self.link,
                interval,
                among_ranks,
                self.sessions.load(Ordering::SeqCst),
                &*self.events,
            )?);
        }
        if self.link.server().is_local() {
            let (link, updates) = (Arc::clone(&self.link), Arc::clone(&self.updates));
            let threads = move || if updates.load(Ordering::SeqCst) { Vec::new() } else { link.session_threads() };
            samplers.push(session_reads::sampler(threads, process::thread_storage_bytes));
        }
        Ok(samplers)
    }

    fn prove(&self, look: Look, stop: &StopFlag) -> Result<LayoutProof> {
        if self.is_other()? {
            return verify::of_none(&self.link, &self.options.namespace, &self.loaded()?);
        }
        let data = self.data_folder()?;
        let (dataset, namespace) = (self.loaded()?, &self.options.namespace);
        verify::of_all(&self.link, namespace, &dataset, data.as_deref(), look, stop, &*self.events)
    }
}

impl DatasetStore for MysqlTarget {
    fn dataset(&self) -> Result<Option<Dataset>> {
        let found = registry::find(&self.link, &self.options.namespace)?;
        Ok(found.and_then(|entries| registry::dataset(&entries)))
    }

    fn load(&self, plan: &DatasetPlan, events: &dyn Events, stop: &StopFlag) -> Result<Dataset> {
        if !load::is_complete(&self.link, &self.options, plan)? {
            self.serve(Purpose::Load)?;
            let host = self.host_view();
            let loaded = lock::with_exclusive_lock(&self.link, &self.options.namespace, || {
                load::load(&self.link, &self.options, &host, plan, events, stop)
            });
            self.serve(Purpose::Run)?;
            loaded?;
        }
        self.dataset()?.ok_or_else(|| Error::run("the load left no dataset", "load again"))
    }

    fn check_room(&self, plan: &DatasetPlan, _events: &dyn Events) -> Result<()> {
        let host = self.host_view();
        host.data_paths.first().map_or(Ok(()), |data| layout::check_room(data, plan.blocks()))
    }

    fn verify(&self, stop: &StopFlag) -> Result<LayoutProof> {
        self.prove(Look::Tree, stop)
    }

    fn verify_all(&self, stop: &StopFlag) -> Result<LayoutProof> {
        self.prove(Look::Pages, stop)
    }

    fn store_proof(&self, proof: &LayoutProof) -> Result<()> {
        registry::store_proof(&self.link, &self.options.namespace, proof)
    }

    fn stored_proof(&self) -> Result<Option<LayoutProof>> {
        let found = registry::find(&self.link, &self.options.namespace)?;
        Ok(found.and_then(|entries| registry::proof(&entries)))
    }

    fn data_files(&self) -> Result<Vec<PathBuf>> {
        if self.is_other()? {
            return Ok(Vec::new());
        }
        let (Some(data), Some(dataset)) = (self.data_folder()?, self.dataset()?) else { return Ok(Vec::new()) };
        let file = |schema| verify::tablespace(&data, &self.options.namespace, schema);
        Ok((1..=dataset.schemas).map(file).filter(|file| file.exists()).collect())
    }

    fn inventory(&self) -> Result<Vec<OwnedObject>> {
        registry::inventory(&self.link, &self.options.namespace)
    }

    fn cleanup(&self) -> Result<Vec<OwnedObject>> {
        lock::with_exclusive_lock(&self.link, &self.options.namespace, || {
            registry::cleanup(&self.link, &self.options.namespace)
        })
    }

    fn instance(&self) -> Result<Option<OwnedObject>> {
        let Some(private) = &self.private else { return Ok(None) };
        let others = registry::foreign_databases(&self.link, &self.options.namespace)?;
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

impl Target for MysqlTarget {
    fn describe(&self) -> Result<Description> {
        let mut description = describe::describe(&self.link, self.dataset()?.map(|dataset| dataset.blocks_per_schema))?;
        description.facts.extend(self.private.iter().flat_map(Instance::chosen).map(Chosen::fact));
        Ok(description)
    }

    fn clock_us(&self) -> Result<i64> {
        if self.client_clock.load(Ordering::SeqCst) {
            return Ok(clock::now_us());
        }
        self.link.run("reading the server's clock", |conn| {
            let now: Option<Value> = conn.exec_first("SELECT SYSDATE(6)", ())?;
            let us = now.as_ref().and_then(server_time::us);
            us.ok_or_else(|| Error::target("the server does not return its time", "report its version").into())
        })
    }

    fn host_view(&self) -> HostView {
        let host = match &self.private {
            Some(private) => private.host(),
            None => describe::host(&self.link),
        };
        let Some(data) = self.data_folder().ok().flatten().filter(|folder| folder.exists()) else { return host };
        let folders = folders_of(&self.data_files().unwrap_or_default());
        let data_paths = if folders.is_empty() { vec![data.clone()] } else { folders };
        HostView { data_paths, log_paths: describe::log_folders(&self.link, &data), ..host }
    }

    fn join_run(&self) {
        self.among_ranks.store(true, Ordering::SeqCst);
    }

    fn prepare(&self, workload: &Workload, sessions: u32) -> Result<Vec<AccessPath>> {
        self.link.abort_state().set_interrupted(false);
        self.sessions.store(sessions, Ordering::SeqCst);
        self.updates.store(!workload.update_pct.is_none(), Ordering::SeqCst);
        let in_server = workload.loop_site == LoopSite::Server;
        if in_server {
            prepare::refuse_server_loop(&self.link)?;
        }
        self.client_clock.store(!in_server, Ordering::SeqCst);
        if let Some(private) = &self.private
            && private.carry(sessions)?
        {
            self.link.release();
            *self.filled.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        let among_ranks = self.among_ranks.load(Ordering::SeqCst);
        if !among_ranks {
            self.lock.hold(&self.link, &self.options.namespace, self.options.shared)?;
        }
        let dataset = self.dataset()?;
        workload.refuse_more_than_loaded(dataset.as_ref())?;
        prepare::refuse_contradictions(workload, sessions)?;
        let given = self.private.is_some().then_some(&*self.options.given_settings);
        prepare::commits(&self.link, workload, given)?;
        let reach = if in_server {
            prepare::refuse_standing_clock(&self.link)?;
            Some(prepare::reach(&self.link, workload, &self.options.namespace)?)
        } else {
            None
        };
        *self.reach.lock().unwrap_or_else(PoisonError::into_inner) = reach;
        if self.is_other()? {
            return Ok(Vec::new());
        }
        let paths = plan_check::check(&self.link, workload, &self.options.namespace, reach)?;
        if let Some(dataset) = dataset.filter(|_| workload.update_pct.is_none() && !among_ranks) {
            let (tables, private) = (self.tables(&dataset), self.private.is_some());
            settle::before_reads(&self.link, &tables, private, &*self.events, &StopFlag::default())?;
        }
        Ok(paths)
    }

    fn checks(&self, plan: &Plan) -> Result<Vec<Finding>> {
        let dataset = self.dataset()?;
        let innodb = !self.is_other()?;
        let mut found = checks::checks(&self.link, &self.options, plan, dataset.as_ref())?;
        // A plan that does not fit the loaded dataset is refused when it is run.
        if let Some(Ok(workload)) = dataset.as_ref().map(|dataset| plan.workload(dataset)).filter(|_| innodb) {
            found.extend(plan_check::impurities(&self.link, &workload, &self.options.namespace)?);
        }
        Ok(found)
    }

    fn admits(&self, plan: &Plan, _loads: bool) -> Result<()> {
        match plan.loop_site {
            LoopSite::Server => prepare::refuse_server_loop(&self.link),
            LoopSite::Client => Ok(()),
        }
    }

    fn session(&self, workload: &Workload, placement: Placement) -> Result<Box<dyn Session>> {
        let (namespace, committed) = (&self.options.namespace, &self.committed);
        let reach = *self.reach.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match (workload.loop_site, reach) {
            (LoopSite::Server, Some(reach)) => {
                Box::new(ServerLoop::open(&self.link, workload, placement, namespace, reach, committed)?)
            }
            (LoopSite::Server, None) => return Err(Error::run("nothing is prepared for this work", "report this")),
            (LoopSite::Client, _) => {
                Box::new(ClientSession::open(&self.link, workload, placement, namespace, committed)?)
            }
        })
    }

    fn samplers(&self) -> Result<Vec<Box<dyn Sampler>>> {
        let mut samplers = if self.is_other()? { Vec::new() } else { self.samplers_of_server()? };
        samplers.push(counters::commits(&self.committed));
        Ok(samplers)
    }

    /// The server does not count transactions, and mindful commits none.
    fn samplers_for_all_clients(&self, _scope: Scope) -> Result<Vec<Box<dyn Sampler>>> {
        if self.is_other()? { Ok(Vec::new()) } else { self.samplers_of_server() }
    }

    fn watches(&self, workload: &Workload) -> Result<Vec<Box<dyn Watch>>> {
        Ok(vec![Box::new(ServerWatch::new(&self.link, &self.options.namespace, workload))])
    }

    fn fill_cache(&self, workload: &Workload, stop: &StopFlag) -> Result<Option<CacheFill>> {
        let set = (workload.schemas, workload.scale);
        let mut known = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, fill)) = known.filter(|(of, _)| *of == set) {
            return Ok(Some(fill));
        }
        if self.is_other()? {
            return Ok(None);
        }
        let (dataset, namespace) = (self.loaded()?, &self.options.namespace);
        emit_note(&*self.events, "filling the buffer pool in page order");
        let mut fill = fill::fill(&self.link, namespace, &dataset, workload, stop)?;
        if let Some(private) = self.private.as_ref().filter(|_| !fill.is_whole()) {
            private.restart()?;
            self.link.release();
            self.lock.hold(&self.link, namespace, self.options.shared)?;
            fill = fill::fill(&self.link, namespace, &dataset, workload, stop)?;
        }
        *known = Some((set, fill));
        Ok(Some(fill))
    }

    fn interrupt(&self) {
        self.link.interrupt();
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
