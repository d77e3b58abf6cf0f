//! An opened system under test: what it is, how it is made ready, and its sessions.

use crate::contract::clock;
use crate::contract::dataset_store::DatasetStore;
use crate::contract::description::{AccessPath, CacheFill, Description, HostView};
use crate::contract::error::Result;
use crate::contract::metric::{Sampler, Scope};
use crate::contract::self_proof::SelfProof;
use crate::contract::session::Session;
use crate::contract::slice::Placement;
use crate::contract::stop_flag::StopFlag;
use crate::contract::watch::Watch;
use crate::plan::Plan;
use crate::result::finding::Finding;
use crate::workload::Workload;

/// An opened system under test, shared by all threads. Dropping it ends what opening it began.
pub trait Target: DatasetStore + Send + Sync {
    /// What it is.
    fn describe(&self) -> Result<Description>;

    /// Now, by the clock that slices are timed with, us since the epoch.
    fn clock_us(&self) -> Result<i64> {
        Ok(clock::now_us())
    }

    /// Where it can be seen on this host.
    fn host_view(&self) -> HostView;

    /// From now on other processes of mindful use it too, as ranks of the same run: what keeps two runs apart lets them in.
    /// Called before [`Target::prepare`], on all ranks but the first, which keeps other runs away for all of them.
    fn join_run(&self) {}

    /// Prepares the target for `workload` by `sessions` sessions and returns how operations will run.
    ///
    /// # Errors
    ///
    /// The target cannot run the workload; the error contains the next step.
    fn prepare(&self, workload: &Workload, sessions: u32) -> Result<Vec<AccessPath>>;

    /// Fills the cache with the working set of `workload`, in the order of its blocks; called after [`Target::prepare`] where
    /// the cache can hold it. `None` from an engine that cannot.
    ///
    /// A block costs more CPU when the blocks of an operation lie far apart in memory, so figures of a cached run depend on
    /// the order in which the cache was filled.
    fn fill_cache(&self, _workload: &Workload, _stop: &StopFlag) -> Result<Option<CacheFill>> {
        Ok(None)
    }

    /// What about the target would spoil a result of `plan`: what is, what it does, the line that changes it. Found in
    /// about a second; changes nothing.
    fn checks(&self, _plan: &Plan) -> Result<Vec<Finding>> {
        Ok(Vec::new())
    }

    /// Proves that its engine does here what it claims, in about half a minute; removes everything it made. `None` from
    /// an engine without such a proof.
    fn self_proof(&self, _stop: &StopFlag) -> Result<Option<SelfProof>> {
        Ok(None)
    }

    /// What a kept [`Target::self_proof`] belongs to: another database, release or account gives another text. `None`
    /// from an engine that has nothing to prove.
    fn self_proof_subject(&self) -> Result<Option<String>> {
        Ok(None)
    }

    /// Connects a session and warms it up so far that its first slice begins at once. Called on the session's thread.
    fn session(&self, workload: &Workload, placement: Placement) -> Result<Box<dyn Session>>;

    /// Refuses what limits or rights on the target would not let happen once the dataset is there, before it is made where
    /// `loads`. Changes nothing.
    fn admits(&self, _plan: &Plan, _loads: bool) -> Result<()> {
        Ok(())
    }

    /// The target's own counters.
    fn samplers(&self) -> Result<Vec<Box<dyn Sampler>>>;

    /// The same where no session of mindful's works: what the server's clients wait for is that of all of them. Counters are
    /// those of the database, or of all databases of the server.
    fn samplers_for_all_clients(&self, _scope: Scope) -> Result<Vec<Box<dyn Sampler>>> {
        self.samplers()
    }

    /// What of the target must not change while `workload` is measured. Opened before a step, and read until its end.
    fn watches(&self, _workload: &Workload) -> Result<Vec<Box<dyn Watch>>> {
        Ok(Vec::new())
    }

    /// Ends whatever sessions are doing, from another thread; best effort.
    fn interrupt(&self);

    /// Ends all waits on this target, of sessions or others, from another thread; best effort. Later calls on the
    /// target may fail as interrupted, and none waits for a server that does not answer.
    fn abort(&self) {
        self.interrupt();
    }

    /// Stops a server that was started for this target, before the target is dropped. [`Target::abort`] from another thread
    /// cuts that short.
    fn close(&self) {}
}
