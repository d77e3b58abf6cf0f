//! Self-proofs of engines on a target, stored with the runs for later ones.

use std::path::PathBuf;

use mindful_core::contract::StoredProof;
use mindful_core::workload::draw::mix64;
use mindful_core::{Error, Result};

use crate::Store;
use crate::file;

/// Most bytes of a stored proof: its lines are a few dozen.
const MOST_BYTES: u64 = 1 << 20;

impl Store {
    /// Stores `proof` of `subject` in place of an older one. The subject itself is not written: it may name an account.
    pub fn store_self_proof(&self, subject: &str, proof: &StoredProof) -> Result<()> {
        let path = self.self_proof_path(subject);
        let unwritten = |error: String| {
            let place = path.display();
            Error::run(format!("cannot store the self-proof in {place}: {error}"), "choose another --store DIR")
        };
        let text = serde_json::to_vec_pretty(proof).map_err(|error| unwritten(error.to_string()))?;
        let folder = path.parent().unwrap_or(&self.root);
        let written = file::create_folders(folder).and_then(|()| file::replace(&path, &text));
        written.map_err(|error| unwritten(error.to_string()))
    }

    /// The stored proof of `subject`, if any.
    ///
    /// # Errors
    /// There is one that cannot be read: whether it failed is not known.
    pub fn self_proof(&self, subject: &str) -> Result<Option<StoredProof>> {
        let path = self.self_proof_path(subject);
        let unread = |error: String| {
            let place = path.display();
            Error::plan(format!("the self-proof {place} cannot be read: {error}"), "run `mindful doctor` again")
        };
        let text = match file::open_itself(&path) {
            Ok(file) => file::text(file, MOST_BYTES).map_err(|error| unread(error.to_string()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unread(error.to_string())),
        };
        serde_json::from_str(&text).map(Some).map_err(|error| unread(error.to_string()))
    }

    fn self_proof_path(&self, subject: &str) -> PathBuf {
        let hash = |seed: u64| subject.bytes().fold(seed, |hash, byte| mix64(hash ^ u64::from(byte)));
        self.root.join("self-proofs").join(format!("{:016x}{:016x}.json", hash(1), hash(2)))
    }
}
