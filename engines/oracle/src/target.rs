//! The opened database.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mindful_core::contract::description::{AccessPath, Description, HostView};
use mindful_core::contract::event::Events;
use mindful_core::contract::metric::{Sampler, Scope};
use mindful_core::contract::slice::{Placement, session_name};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::{DatasetStore, OwnedObject, SelfProof};
use mindful_core::dataset::{Dataset, DatasetPlan, LayoutProof, nothing_loaded_error};
use mindful_core::plan::Plan;
use mindful_core::result::Finding;
use mindful_core::workload::{LoopSite, Workload};
use mindful_core::{Error, Result, Session, Target, contract::clock};
use mindful_sql::dataset::table_registry;
use mindful_sql::observe::wait_sampling::Whom;

use crate::checks;
use crate::checks::self_proof;
use crate::connect::abort::LeavableSession;
use crate::connect::link::Link;
use crate::dataset::load::{self, FreeSpace};
use crate::dataset::lock::{self, RunLock};
use crate::dataset::registry::{self, Entry};
use crate::dataset::verify;
use crate::observe::describe::Version;
use crate::observe::own::{self, Own};
use crate::observe::{counters, describe, waits};
use crate::options::Options;
use crate::work::client_session::ClientSession;
use crate::work::prepare;
use crate::work::session::ServerLoop;

pub(crate) struct OracleTarget {
    link: Arc<Link>,
    options: Options,
    version: Version,
    own: Arc<Own>,
    events: Arc<dyn Events>,
    lock: RunLock,
    /// Slices are timed by this host's clock, not the instance's.
    client_clock: AtomicBool,
    /// The first rank of the run holds the lock against other runs.
    among_ranks: AtomicBool,
    /// Lead of the instance's clock over this host's, us, after the first query.
    ahead_us: Mutex<Option<i64>>,
    block_bytes: OnceLock<u64>,
    /// Cost of reading the instance's clock, us a call, after it was timed; `None` inside if that failed.
    clock_cost: OnceLock<Option<f64>>,
}

impl OracleTarget {
    pub(crate) fn open(link: Link, options: Options, events: &Arc<dyn Events>) -> Result<Self> {
        let version = Version::read(&link)?;
        Ok(Self {
            link: Arc::new(link),
            options,
            version,
            own: Arc::default(),
            events: Arc::clone(events),
            lock: RunLock::default(),
            client_clock: AtomicBool::new(false),
            among_ranks: AtomicBool::new(false),
            ahead_us: Mutex::default(),
            block_bytes: OnceLock::new(),
            clock_cost: OnceLock::new(),
        })
    }

    fn loaded(&self) -> Result<Dataset> {
        self.dataset()?.ok_or_else(nothing_loaded_error)
    }

    fn block_bytes(&self) -> Result<u64> {
        if let Some(bytes) = self.block_bytes.get() {
            return Ok(*bytes);
        }
        let bytes = FreeSpace::read(&self.link, &self.options)?.block_bytes;
        Ok(*self.block_bytes.get_or_init(|| bytes))
    }

    fn samplers_of(&self, whom: Whom) -> Result<Vec<Box<dyn Sampler>>> {
        let mut samplers = counters::samplers(&self.link, &self.own, &*self.events)?;
        if let Some(interval) = self.options.wait_sampling {
            samplers.extend(waits::samplers(&self.link, interval, whom, &*self.events)?);
        }
        Ok(samplers)
    }

    fn entries(&self) -> Result<Option<Vec<Entry>>> {
        registry::entries(&self.link, &self.options.namespace)
    }
}

impl DatasetStore for OracleTarget {
    fn dataset(&self) -> Result<Option<Dataset>> {
        let Some(entries) = self.entries()? else { return Ok(None) };
        Ok(registry::dataset(&entries, self.block_bytes()?))
    }

    fn load(&self, plan: &DatasetPlan, events: &dyn Events, stop: &StopFlag) -> Result<Dataset> {
        load::refuse_impossible(plan)?;
        let entries = self.entries()?;
        if !load::missing(&self.options, entries.as_deref().unwrap_or_default(), plan)?.is_empty() {
            lock::with_exclusive_lock(&self.link, &self.options.namespace, entries.is_some(), || {
                load::load(&self.link, &self.options, plan, events, stop)
            })?;
        }
        self.dataset()?.ok_or_else(|| Error::run("the load left no dataset", "load again"))
    }

    fn verify(&self, stop: &StopFlag) -> Result<LayoutProof> {
        verify::of_all(&self.link, &self.options.namespace, &self.loaded()?, stop)
    }

    fn store_proof(&self, proof: &LayoutProof) -> Result<()> {
        registry::store_proof(&self.link, &self.options.namespace, proof)
    }

    fn stored_proof(&self) -> Result<Option<LayoutProof>> {
        let Some(entries) = self.entries()? else { return Ok(None) };
        let loaded = registry::dataset(&entries, self.block_bytes()?);
        Ok(loaded.and_then(|loaded| table_registry::join_proof(registry::data(&entries), loaded.schemas)))
    }

    fn data_files(&self) -> Result<Vec<PathBuf>> {
        describe::data_files(&self.link, &self.options.namespace, &*self.events)
    }

    fn inventory(&self) -> Result<Vec<OwnedObject>> {
        registry::inventory(&self.link, &self.options.namespace)
    }

    fn cleanup(&self) -> Result<Vec<OwnedObject>> {
        self.lock.release();
        let registered = self.entries()?.is_some();
        lock::with_exclusive_lock(&self.link, &self.options.namespace, registered, || {
            registry::cleanup(&self.link, &self.options.namespace)
        })
    }
}

impl Target for OracleTarget {
    fn describe(&self) -> Result<Description> {
        let mut description = describe::describe(&self.link, &self.version, self.block_bytes()?);
        description.clock_cost_us = *self.clock_cost.get_or_init(|| describe::clock_cost_us(&self.link).ok());
        Ok(description)
    }

    fn clock_us(&self) -> Result<i64> {
        if self.client_clock.load(Ordering::SeqCst) {
            return Ok(clock::now_us());
        }
        let mut ahead = self.ahead_us.lock().unwrap_or_else(PoisonError::into_inner);
        if ahead.is_none() {
            let mut connection = self.link.connect(0, "clock")?;
            *ahead = Some(own::offset_us(&mut *connection)?);
        }
        Ok(clock::now_us() + ahead.unwrap_or(0))
    }

    fn host_view(&self) -> HostView {
        describe::host(&self.link)
    }

    fn join_run(&self) {
        self.among_ranks.store(true, Ordering::SeqCst);
    }

    fn prepare(&self, workload: &Workload, sessions: u32) -> Result<Vec<AccessPath>> {
        self.link.abort_state().set_interrupted(false);
        self.client_clock.store(workload.loop_site == LoopSite::Client, Ordering::SeqCst);
        prepare::refuse_contradictions(workload, sessions)?;
        workload.refuse_more_than_loaded(self.dataset()?.as_ref())?;
        let shared = self.options.shared || self.among_ranks.load(Ordering::SeqCst);
        self.lock.hold(&self.link, &self.options.namespace, shared)?;
        prepare::paths(&self.link, workload, &self.options.namespace)
    }

    fn checks(&self, plan: &Plan) -> Result<Vec<Finding>> {
        Ok(checks::checks(&self.link, &self.options, plan, self.dataset()?.as_ref(), &self.describe()?))
    }

    fn self_proof(&self, stop: &StopFlag) -> Result<Option<SelfProof>> {
        self_proof::prove(&self.link, &self.options, &self.version, stop).map(Some)
    }

    fn self_proof_subject(&self) -> Result<Option<String>> {
        Ok(Some(describe::identity(&self.link, &self.version)))
    }

    fn session(&self, workload: &Workload, placement: Placement) -> Result<Box<dyn Session>> {
        let (link, own) = (Arc::clone(&self.link), Arc::clone(&self.own));
        let (work, namespace, major) = (workload.clone(), self.options.namespace.clone(), self.version.major);
        let (abort, events) = (Arc::clone(link.abort_state()), Arc::clone(&self.events));
        let place = session_name(placement.session);
        Ok(match workload.loop_site {
            LoopSite::Server => Box::new(LeavableSession::open(&abort, events, place, move || {
                ServerLoop::open(&link, &own, &work, placement, &namespace, major)
            })?),
            LoopSite::Client => Box::new(LeavableSession::open(&abort, events, place, move || {
                ClientSession::open(&link, &own, &work, placement, &namespace)
            })?),
        })
    }

    fn samplers(&self) -> Result<Vec<Box<dyn Sampler>>> {
        self.samplers_of(Whom::Ours)
    }

    fn samplers_for_all_clients(&self, _scope: Scope) -> Result<Vec<Box<dyn Sampler>>> {
        self.samplers_of(Whom::AllClients)
    }

    fn interrupt(&self) {
        self.link.abort_state().set_interrupted(true);
    }
}
