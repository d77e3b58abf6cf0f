//! An opened system under test: its description, its preparation, and its sessions.

use serde::{Deserialize, Serialize};

use crate::contract::clock;
use crate::contract::dataset_store::DatasetStore;
use crate::contract::description::{AccessPath, CacheFill, Description, HostView};
use crate::contract::error::Result;
use crate::contract::metric::{Sampler, Scope};
use crate::contract::session::Session;
use crate::contract::slice::Placement;
use crate::contract::stop_flag::StopFlag;
use crate::contract::watch::Watch;
use crate::plan::Plan;
use crate::result::finding::Finding;
use crate::workload::Workload;

stored_names! {
    /// Whether a claim of an engine about itself held.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Proven {
        /// It holds here.
        Pass = "PASS",
        /// It does not hold here.
        Fail = "FAIL",
        /// It cannot be observed here because a right is missing.
        NotSeen = "NOT SEEN",
    }
}

/// The result of an engine's self-proof on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfProof {
    /// Each claim and its result.
    pub lines: Vec<(Proven, String)>,
    /// Contents of a bug report, without names of hosts and accounts.
    pub bundle: String,
}

/// The stored part of a self-proof, in the folder of the runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredProof {
    /// Version of the system under test.
    pub version: String,
    /// Time of the proof, us since the epoch.
    pub proven_at_us: i64,
    /// Each claim and its result.
    pub lines: Vec<(Proven, String)>,
}

impl StoredProof {
    /// The claims with this result.
    pub fn claims(&self, proven: Proven) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(move |line| line.0 == proven).map(|line| line.1.as_str())
    }
}

/// An opened system under test, shared by all threads. Dropping it undoes the effects of opening it.
pub trait Target: DatasetStore + Send + Sync {
    /// Identity and settings, for the record.
    fn describe(&self) -> Result<Description>;

    /// Now, by the clock that slices are timed with, us since the epoch.
    fn clock_us(&self) -> Result<i64> {
        Ok(clock::now_us())
    }

    /// Processes and paths on this host.
    fn host_view(&self) -> HostView;

    /// Other processes of mindful use the target from now on, as ranks of the same run. The lock against other runs
    /// then admits them. Called before [`Target::prepare`] on all ranks but the first, which holds the lock for all of
    /// them.
    fn join_run(&self) {}

    /// Prepares the target for `workload` by `sessions` sessions and returns how operations will run.
    ///
    /// # Errors
    ///
    /// The target cannot run the workload; the error contains the next step.
    fn prepare(&self, workload: &Workload, sessions: u32) -> Result<Vec<AccessPath>>;

    /// Fills the cache with the working set of `workload`, in the order of its blocks. Called after [`Target::prepare`]
    /// if the cache can hold it. `None` from an engine that cannot fill its cache.
    ///
    /// Blocks of an operation that are far apart in memory cost more CPU. So figures of a cached run depend on the
    /// order in which the cache was filled.
    fn fill_cache(&self, _workload: &Workload, _stop: &StopFlag) -> Result<Option<CacheFill>> {
        Ok(None)
    }

    /// Conditions of the target that would spoil a result of `plan`, each with its effect and the remedy. Takes about a
    /// second; changes nothing.
    fn checks(&self, _plan: &Plan) -> Result<Vec<Finding>> {
        Ok(Vec::new())
    }

    /// Proves the claims of the engine on this target, in about half a minute; removes everything it created. `None`
    /// from an engine without such a proof.
    fn self_proof(&self, _stop: &StopFlag) -> Result<Option<SelfProof>> {
        Ok(None)
    }

    /// Identifies the subject of a stored [`Target::self_proof`]: another database, release or account has another
    /// text. `None` from an engine without a proof.
    fn self_proof_subject(&self) -> Result<Option<String>> {
        Ok(None)
    }

    /// Connects a session and warms it up so far that its first slice begins at once. Called on the session's thread.
    fn session(&self, workload: &Workload, placement: Placement) -> Result<Box<dyn Session>>;

    /// Refuses a run that limits or rights on the target would prevent. Called before the dataset is created if
    /// `loads`. Changes nothing.
    fn admits(&self, _plan: &Plan, _loads: bool) -> Result<()> {
        Ok(())
    }

    /// Samplers of the target's own counters.
    fn samplers(&self) -> Result<Vec<Box<dyn Sampler>>>;

    /// Samplers for a watch without sessions of mindful: waits are those of all clients. Counters belong to the
    /// database, or to all databases of the server.
    fn samplers_for_all_clients(&self, _scope: Scope) -> Result<Vec<Box<dyn Sampler>>> {
        self.samplers()
    }

    /// Properties of the target that must not change while `workload` is measured. Opened before a step, and read until
    /// its end.
    fn watches(&self, _workload: &Workload) -> Result<Vec<Box<dyn Watch>>> {
        Ok(Vec::new())
    }

    /// Ends the current work of sessions, from another thread; best effort.
    fn interrupt(&self);

    /// Ends all waits on this target, of sessions and others, from another thread; best effort. Later calls on the
    /// target may fail as interrupted, but do not wait for a server that does not answer.
    fn abort(&self) {
        self.interrupt();
    }

    /// Stops a server that was started for this target, before the target is dropped. [`Target::abort`] from another thread
    /// cuts that short.
    fn close(&self) {}
}
