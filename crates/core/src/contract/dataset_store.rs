//! The part of a target that keeps the dataset: load, proofs, inventory, cleanup.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::contract::error::Result;
use crate::contract::event::Events;
use crate::contract::stop_flag::StopFlag;
use crate::dataset::{Dataset, DatasetPlan, LayoutProof};

/// The file that marks a folder as mindful's own.
pub const MARK_FILE: &str = "mindful.mark";
/// The bare writes of a contrast of commits, which removes them at its end.
pub const BARE_WRITES_FILE: &str = "commits.raw";

/// One object that `cleanup` removes, or keeps for a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedObject {
    /// Name as the system shows it.
    pub name: String,
    /// Bytes on storage, where known.
    pub bytes: Option<u64>,
    /// Why `cleanup` keeps it; `None` if it belongs to mindful and will be removed.
    pub kept_because: Option<String>,
}

impl OwnedObject {
    /// An object that is removed unless `kept_because` has a reason.
    pub fn new(name: String, bytes: Option<u64>, kept_because: Option<&str>) -> Self {
        Self { name, bytes, kept_because: kept_because.map(str::to_owned) }
    }
}

/// Loads, proves and removes the dataset of a target.
pub trait DatasetStore {
    /// The dataset it holds, if any of ours.
    fn dataset(&self) -> Result<Option<Dataset>>;

    /// Creates the dataset, or completes one that was begun with the same parameters. A read-only pass afterwards
    /// writes nothing. A dataset that does not fit, or belongs to someone else, is refused before the first byte is
    /// written.
    fn load(&self, plan: &DatasetPlan, events: &dyn Events, stop: &StopFlag) -> Result<Dataset>;

    /// Refuses a load of `plan` that does not fit, as [`DatasetStore::load`] does.
    fn check_room(&self, _plan: &DatasetPlan, _events: &dyn Events) -> Result<()> {
        Ok(())
    }

    /// Proves the layout of the loaded dataset, by a sample if that suffices: see [`SchemaProof::sample`].
    ///
    /// [`SchemaProof::sample`]: crate::dataset::SchemaProof::sample
    fn verify(&self, stop: &StopFlag) -> Result<LayoutProof>;

    /// Like [`DatasetStore::verify`], but checks every block. By default both check all of them.
    fn verify_all(&self, stop: &StopFlag) -> Result<LayoutProof> {
        self.verify(stop)
    }

    /// Stores a proof that holds with the dataset, in place of an older one. By default it is stored nowhere.
    fn store_proof(&self, _proof: &LayoutProof) -> Result<()> {
        Ok(())
    }

    /// The proof stored with the dataset; `None` without one, and if the dataset has changed since.
    fn stored_proof(&self) -> Result<Option<LayoutProof>> {
        Ok(None)
    }

    /// The files that hold the blocks of the dataset, where they can be read on this host.
    fn data_files(&self) -> Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }

    /// Everything `cleanup` would touch or leave.
    fn inventory(&self) -> Result<Vec<OwnedObject>>;

    /// Removes all objects of mindful; returns the earlier result of [`DatasetStore::inventory`].
    fn cleanup(&self) -> Result<Vec<OwnedObject>>;

    /// The object that mindful created only to hold the dataset, such as the folder of a private server. It is kept if
    /// it contains anything else.
    fn instance(&self) -> Result<Option<OwnedObject>> {
        Ok(None)
    }

    /// Removes the object that [`DatasetStore::instance`] returns, after [`DatasetStore::cleanup`]. The target is not
    /// usable afterwards. Keeps an object that has a reason to be kept.
    fn remove_instance(&self) -> Result<Option<OwnedObject>> {
        Ok(None)
    }
}
