//! One line of the list of runs.

use std::fs;
use std::path::Path;

use mindful_core::result::Summary;
use mindful_core::run::{FORMAT, RunHead};
use mindful_core::{Error, Result};
use serde::Deserialize;

use crate::name::{LOG, SUMMARY};
use crate::reader::read_head;

/// A run as the list shows it, read from its first line and its summary alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its id: the name of its folder.
    pub id: String,
    /// What was known at its start; `None` when it cannot be read.
    pub head: Option<RunHead>,
    /// Its figures; `None` when it did not come to its end.
    pub summary: Option<Summary>,
    /// Why it cannot be read.
    pub fault: Option<String>,
}

impl Listed {
    pub(crate) fn read(id: String, dir: &Path) -> Self {
        match read_head(&dir.join(LOG)).and_then(|head| Ok((head, read_summary(&dir.join(SUMMARY))?))) {
            Ok((head, summary)) => Self { id, head: Some(head), summary, fault: None },
            Err(error) => Self { id, head: None, summary: None, fault: Some(error.to_string()) },
        }
    }
}

fn read_summary(file: &Path) -> Result<Option<Summary>> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let Ok(text) = fs::read(file) else { return Ok(None) };
    let corrupt = |error: serde_json::Error| {
        Error::run(format!("{} is corrupt: {error}", file.display()), "`show` makes it anew")
    };
    if serde_json::from_slice::<Format>(&text).map_err(corrupt)?.format > FORMAT {
        return Ok(None);
    }
    serde_json::from_slice(&text).map(Some).map_err(corrupt)
}
