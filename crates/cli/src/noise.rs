//! The noise floor of a platform, stored next to the runs.

use std::path::PathBuf;

use mindful_analyze::compare::NoiseFloor;
use mindful_core::{Error, Result};
use mindful_record::{Store, file as record_file};
use serde::{Deserialize, Serialize};

/// Longest file that is read, bytes.
const LONGEST: u64 = 16 << 20;

/// Variation between runs of one plan on one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Noted {
    /// The target without secrets.
    pub target: String,
    /// RFC 3339.
    pub measured_at: String,
    pub runs: Vec<String>,
    pub floor: NoiseFloor,
}

fn file(store: &Store) -> PathBuf {
    store.root.join("noise.json")
}

pub(crate) fn of(store: &Store, target: &str) -> Result<Option<NoiseFloor>> {
    Ok(all(store)?.into_iter().find(|noted| noted.target == target).map(|noted| noted.floor))
}

/// Stores a floor; it replaces an older one of the same target.
pub(crate) fn keep(store: &Store, noted: Noted) -> Result<()> {
    let mut kept = all(store)?;
    kept.retain(|known| known.target != noted.target);
    kept.push(noted);
    let path = file(store);
    let failed = |error: &dyn std::fmt::Display| {
        Error::run(format!("cannot write {}: {error}", path.display()), "free some space, or choose another --store")
    };
    let text = serde_json::to_vec_pretty(&kept).map_err(|error| failed(&error))?;
    record_file::replace(&path, &text).map_err(|error| failed(&error))
}

fn all(store: &Store) -> Result<Vec<Noted>> {
    let path = file(store);
    match record_file::open_itself(&path).and_then(|file| record_file::text(file, LONGEST)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::run(format!("cannot read {}: {error}", path.display()), "check its permissions")),
        Ok(text) => serde_json::from_str(&text).map_err(|error| {
            Error::run(
                format!("{} is damaged: {error}", path.display()),
                "remove it, and measure the noise floor again",
            )
        }),
    }
}
