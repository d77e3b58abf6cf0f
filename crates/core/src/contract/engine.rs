//! The contracts between mindful and whatever it measures.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde::{Deserialize, Serialize};

use crate::contract::clock;
pub use crate::contract::description::{AccessPath, Description, HostView, Words};
use crate::contract::error::{Error, Result};
use crate::contract::event::Events;
use crate::contract::file_read::FileReads;
use crate::contract::metric::Sampler;
pub use crate::contract::self_proof::{Proven, SelfProof, StoredProof};
use crate::contract::slice::{Placement, SliceOrder, SliceReport};
use crate::dataset::{Dataset, DatasetPlan, LayoutProof};
use crate::plan::Plan;
use crate::plan::settings::{Key, Settings};
use crate::ranks::rendezvous::{self, Rendezvous};
use crate::result::finding::{Code, Finding};
use crate::workload::Workload;

/// What an engine can do. A plan that asks for more is refused before anything runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "a list of independent yes-or-no facts, shown as a table")]
pub struct Capabilities {
    /// Makes and keeps a dataset of its own.
    pub loads: bool,
    /// Updates blocks.
    pub updates: bool,
    /// Scans a whole table.
    pub scans: bool,
    /// Runs the work loop inside the database.
    pub server_side_loop: bool,
    /// Runs the work loop in mindful.
    pub client_side_loop: bool,
    /// Keeps a rate (open loop) in its client-side loop.
    pub rate: bool,
    /// Commits less often than every operation, or without waiting.
    pub commit_modes: bool,
    /// Has many writers at a time.
    pub concurrent_writers: bool,
    /// Reads by other access paths than the index, as asked.
    #[serde(default)]
    pub access_paths: bool,
}

/// A kind of system that can be measured; one static value for each.
pub trait Engine: Sync {
    /// Short name: `postgres`.
    fn name(&self) -> &'static str;

    /// The URL schemes it answers to, such as `postgres` for `postgres://…`; a bare word such as `embedded` may be one.
    fn schemes(&self) -> &'static [&'static str];

    /// One line for `mindful engines`.
    fn summary(&self) -> &'static str;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Options of its own, given like any plan key.
    fn options(&self) -> &'static [Key];

    /// What it calls what every engine has.
    fn words(&self) -> Words {
        Words::default()
    }

    /// Kinds of findings that it alone raises.
    fn finding_codes(&self) -> &'static [Code] {
        &[]
    }

    /// A script that makes the least role it can be measured with, for an administrator; `None` where there are no roles.
    fn grants(&self) -> Option<&'static str> {
        None
    }

    /// The variable from which it takes the password of a target; `None` where there are no passwords.
    fn password_variable(&self) -> Option<&'static str> {
        None
    }

    /// The URL without its secrets, for output and storage.
    fn redact(&self, url: &str) -> String;

    /// Refuses a target or options that make no sense, and opens nothing.
    fn accepts(&self, url: &str, settings: &Settings) -> Result<()>;

    /// How it reads bare files, where that is what it does.
    fn file_reads(&self) -> Option<&dyn FileReads> {
        None
    }

    /// The option and its value by which the server behind `url` gets a cache that holds all of the dataset, or little of
    /// it; `None` where the server is not mindful's own.
    fn cache_option(&self, _url: &str, _holds_all: bool) -> Option<(&'static str, &'static str)> {
        None
    }

    /// The folder in which [`Engine::open`] would make a server first; `None` where there is something to open. Changes
    /// nothing and fetches nothing.
    fn find_folder_to_make(
        &self,
        _url: &str,
        _settings: &Settings,
        _events: &Arc<dyn Events>,
    ) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Opens the place behind `url` where ranks of a run meet. Apart from the target: a rank may meet elsewhere than it
    /// measures.
    fn open_rendezvous(
        &self,
        _url: &str,
        _settings: &Settings,
        _events: &Arc<dyn Events>,
    ) -> Result<Box<dyn Rendezvous>> {
        Err(rendezvous::unsupported_engine_error(self.name()))
    }

    /// Opens (for some engines: starts) the system under test. Changes no data.
    fn open(&self, url: &str, settings: &Settings, events: &Arc<dyn Events>) -> Result<Box<dyn Target>>;
}

/// One object that `cleanup` removes, or leaves and says why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedObject {
    /// Name as the system shows it.
    pub name: String,
    /// Bytes on storage, where known.
    pub bytes: Option<u64>,
    /// `None`: mindful's own, will be removed. Otherwise why it stays.
    pub kept_because: Option<String>,
}

/// Set once to end everything within about a second.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<StopState>);

#[derive(Debug, Default)]
struct StopState {
    requested: AtomicBool,
    /// How much is under way that may be cut off.
    expendable: AtomicU32,
}

impl StopFlag {
    /// Asks everybody to end.
    pub fn request(&self) {
        self.0.requested.store(true, Ordering::SeqCst);
    }

    /// Whether someone asked.
    pub fn is_requested(&self) -> bool {
        self.0.requested.load(Ordering::SeqCst)
    }

    /// Does `work`, of which nothing is lost when the process ends in the middle of it: what looks at no stop, such as
    /// opening a target. Who is asked to stop meanwhile may end the process.
    pub fn run_expendable<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.is_requested() {
            return Err(Error::interrupted("interrupted; nothing is stored"));
        }
        self.0.expendable.fetch_add(1, Ordering::SeqCst);
        let done = work();
        self.0.expendable.fetch_sub(1, Ordering::SeqCst);
        done
    }

    /// Whether what is under way may be cut off.
    pub fn may_exit_at_once(&self) -> bool {
        self.0.expendable.load(Ordering::SeqCst) > 0
    }
}

/// An opened system under test, shared by all threads. Dropping it ends what opening it began.
pub trait Target: Send + Sync {
    /// What it is.
    fn describe(&self) -> Result<Description>;

    /// Now, by the clock that slices are timed with, us since the epoch.
    fn clock_us(&self) -> Result<i64> {
        Ok(clock::now_us())
    }

    /// Where it can be seen on this host.
    fn host_view(&self) -> HostView;

    /// The dataset it holds, if any of ours.
    fn dataset(&self) -> Result<Option<Dataset>>;

    /// Makes the dataset, or completes one that was begun with the same parameters. Leaves no debt: a read-only pass
    /// afterwards writes nothing. Refuses before the first byte what does not fit or is not ours.
    fn load(&self, plan: &DatasetPlan, events: &dyn Events, stop: &StopFlag) -> Result<Dataset>;

    /// Proves the layout of what is loaded, by a sample where that is enough: see [`SchemaProof::sample`].
    ///
    /// [`SchemaProof::sample`]: crate::dataset::SchemaProof::sample
    fn verify(&self, stop: &StopFlag) -> Result<LayoutProof>;

    /// The same by a look at every block. By default [`Target::verify`] looks at all of them anyway.
    fn verify_all(&self, stop: &StopFlag) -> Result<LayoutProof> {
        self.verify(stop)
    }

    /// Stores a proof that holds with the dataset, in place of an older one. By default it is stored nowhere.
    fn store_proof(&self, _proof: &LayoutProof) -> Result<()> {
        Ok(())
    }

    /// The proof that was stored with the dataset; `None` without one, and where the dataset is no longer the same.
    fn stored_proof(&self) -> Result<Option<LayoutProof>> {
        Ok(None)
    }

    /// From now on other processes of mindful use it too, as ranks of the same run: what keeps two runs apart lets them in.
    /// Called before [`Target::prepare`], on all ranks but the first, which keeps other runs away for all of them.
    fn join_run(&self) {}

    /// Makes the target ready for `workload` by `sessions` sessions and tells how operations will be carried out.
    /// Refuses what it cannot carry, with the next move.
    fn prepare(&self, workload: &Workload, sessions: u32) -> Result<Vec<AccessPath>>;

    /// What about the target would spoil a result of `plan`: what is, what it does, the line that changes it. Found in
    /// about a second; changes nothing.
    fn checks(&self, _plan: &Plan) -> Result<Vec<Finding>> {
        Ok(Vec::new())
    }

    /// Proves that its engine does here what it claims, in about half a minute; leaves nothing behind. `None` from an engine that
    /// has nothing to prove.
    fn self_proof(&self, _stop: &StopFlag) -> Result<Option<SelfProof>> {
        Ok(None)
    }

    /// What a kept [`Target::self_proof`] stands for: another database, release or account gives another text. `None` from
    /// an engine that has nothing to prove.
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

    /// The same where no session of mindful's works: what the server's clients wait for is that of all of them.
    fn samplers_for_all_clients(&self) -> Result<Vec<Box<dyn Sampler>>> {
        self.samplers()
    }

    /// The files that hold the blocks of the dataset, where they can be read on this host.
    fn data_files(&self) -> Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }

    /// Ends whatever sessions are doing, from another thread; best effort.
    fn interrupt(&self);

    /// Ends whatever anyone waits for here, sessions or not, from another thread; best effort. All that is done to the
    /// target after it may fail as interrupted, and nothing waits for a server that answers nobody.
    fn abort(&self) {
        self.interrupt();
    }

    /// Everything `cleanup` would touch or leave.
    fn inventory(&self) -> Result<Vec<OwnedObject>>;

    /// Removes what is mindful's own; returns what [`Target::inventory`] reported before.
    fn cleanup(&self) -> Result<Vec<OwnedObject>>;

    /// What mindful made to hold the dataset and nothing else, such as the folder of a private server; kept if anything
    /// but the dataset is in it.
    fn instance(&self) -> Result<Option<OwnedObject>> {
        Ok(None)
    }

    /// Removes what [`Target::instance`] tells, after [`Target::cleanup`]; the target is of no more use then. Gives it as it
    /// was found: what is to be kept is kept.
    fn remove_instance(&self) -> Result<Option<OwnedObject>> {
        Ok(None)
    }
}

/// One connection, made and used on its own thread.
pub trait Session {
    /// Works for one slice: waits for its begin, begins no operation at or after its end, reports.
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport>;

    /// The same by a session that may go on by itself before anyone has read what it reports: into the slices behind it that
    /// end at `later_ends_us`, those that are over by then passed over. It is asked as long as it is
    /// [`Session::under_way`], or dropped.
    fn run_slice_ahead(&mut self, order: &SliceOrder, _later_ends_us: &[i64]) -> Result<SliceReport> {
        self.run_slice(order)
    }

    /// No counter is read to be exact between these two instants, us since the epoch on the engine's clock. Reported once, before
    /// the first slice; where nothing is reported, counters are exact at the end of each slice.
    fn set_unread_interval(&mut self, _from_us: i64, _to_us: i64) {}

    /// Goes through the motions of a slice and works nothing. How long that takes, all sessions at once, tells how far ahead
    /// of their start they have to know of it.
    fn rehearse(&mut self) -> Result<()> {
        Ok(())
    }

    /// Whether it went on by itself: then its next report is of the slice that it went on in, whichever is ordered.
    fn is_under_way(&self) -> bool {
        false
    }
}
