//! The part of a target that keeps the dataset: load, proofs, inventory, cleanup.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::contract::error::Result;
use crate::contract::event::Events;
use crate::contract::stop_flag::StopFlag;
use crate::dataset::{Dataset, DatasetPlan, LayoutProof};

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

impl OwnedObject {
    /// One that is removed where nothing says why it is kept.
    pub fn new(name: String, bytes: Option<u64>, kept_because: Option<&str>) -> Self {
        Self { name, bytes, kept_because: kept_because.map(str::to_owned) }
    }
}

/// Loads, proves and removes the dataset of a target.
pub trait DatasetStore {
    /// The dataset it holds, if any of ours.
    fn dataset(&self) -> Result<Option<Dataset>>;

    /// Makes the dataset, or completes one that was begun with the same parameters. Leaves no debt: a read-only pass
    /// afterwards writes nothing. Refuses before the first byte what does not fit or is not ours.
    fn load(&self, plan: &DatasetPlan, events: &dyn Events, stop: &StopFlag) -> Result<Dataset>;

    /// Refuses a load of `plan` that does not fit, as [`DatasetStore::load`] does.
    fn check_room(&self, _plan: &DatasetPlan, _events: &dyn Events) -> Result<()> {
        Ok(())
    }

    /// Proves the layout of what is loaded, by a sample where that is enough: see [`SchemaProof::sample`].
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

    /// The proof that was stored with the dataset; `None` without one, and where the dataset is no longer the same.
    fn stored_proof(&self) -> Result<Option<LayoutProof>> {
        Ok(None)
    }

    /// The files that hold the blocks of the dataset, where they can be read on this host.
    fn data_files(&self) -> Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }

    /// Everything `cleanup` would touch or leave.
    fn inventory(&self) -> Result<Vec<OwnedObject>>;

    /// Removes what is mindful's own; returns what [`DatasetStore::inventory`] reported before.
    fn cleanup(&self) -> Result<Vec<OwnedObject>>;

    /// What mindful made to hold the dataset and nothing else, such as the folder of a private server; kept if anything
    /// but the dataset is in it.
    fn instance(&self) -> Result<Option<OwnedObject>> {
        Ok(None)
    }

    /// Removes the instance that [`DatasetStore::instance`] names, after [`DatasetStore::cleanup`]; the target is not
    /// usable afterwards. Keeps whatever is to be kept.
    fn remove_instance(&self) -> Result<Option<OwnedObject>> {
        Ok(None)
    }
}
