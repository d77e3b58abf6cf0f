//! A report at the end of the summary of a job on GitHub's runners.

use std::io::Write as _;
use std::path::PathBuf;

use mindful_core::{Error, Result};
use mindful_record::file;

use crate::exit::Exit;

/// Where a runner says that a step's summary is.
const VARIABLE: &str = "GITHUB_STEP_SUMMARY";

/// Appends `text` to the summary of this step.
pub fn append(text: &str) -> Result<Exit> {
    let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from) else {
        return Err(Error::plan(
            format!("{VARIABLE} is not set"),
            "leave --github-summary away outside of GitHub's runners",
        ));
    };
    let there = if path.exists() { file::open_to_append(&path) } else { file::create_new(&path) };
    there.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        Error::run(format!("{VARIABLE}: {} cannot be written: {error}", path.display()), "look at its rights")
    })?;
    Ok(Exit::Ok)
}
