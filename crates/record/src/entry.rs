//! One line of the list of runs.

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::Path;

use mindful_core::record::run::{FORMAT, RunHead};
use mindful_core::result::Summary;
use mindful_core::{Error, Result};
use serde::Deserialize;

use crate::file;
use crate::name::{IMPORTED, LOG, SUMMARY};
use crate::reader::read_head;

/// A run in the list, read only from its first line and its summary.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its id: the name of its folder.
    pub id: String,
    /// Facts at its start; `None` if they cannot be read.
    pub head: Option<RunHead>,
    /// Its figures; `None` if it did not finish.
    pub summary: Option<Summary>,
    pub imported: bool,
    pub fault: Option<String>,
}

impl Listed {
    pub(crate) fn read(id: String, dir: &Path) -> Self {
        let imported = dir.join(IMPORTED).exists();
        match read_head(&dir.join(LOG)).and_then(|head| Ok((head, read_summary(&dir.join(SUMMARY))?))) {
            Ok((mut head, mut summary)) => {
                // A run has the name of its folder, even if its record contains another.
                head.id.clone_from(&id);
                if let Some(summary) = &mut summary {
                    summary.id.clone_from(&id);
                }
                Self { id, head: Some(head), summary, imported, fault: None }
            }
            Err(error) => Self { id, head: None, summary: None, imported, fault: Some(error.to_string()) },
        }
    }
}

/// Longest summary that is read, bytes.
const LONGEST_SUMMARY: u64 = 256 << 20;

/// The stored figures in `file`; `None` without figures, or with figures of a later format.
pub(crate) fn read_summary(path: &Path) -> Result<Option<Summary>> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let corrupt = |error: &dyn Display| {
        Error::run(format!("{} is corrupt: {error}", path.display()), "`mindful show` of the run makes it again")
    };
    let text = match file::open_itself(path).and_then(|opened| file::text(opened, LONGEST_SUMMARY)) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(corrupt(&error)),
    };
    if serde_json::from_slice::<Format>(text.as_bytes()).map_err(|error| corrupt(&error))?.format > FORMAT {
        return Ok(None);
    }
    serde_json::from_slice(text.as_bytes()).map(Some).map_err(|error| corrupt(&error))
}
