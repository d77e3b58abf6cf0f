//! A report in the job summary of GitHub Actions.

use std::io::Write as _;
use std::path::PathBuf;

use mindful_core::{Error, Result};
use mindful_record::file;

use crate::exit::Exit;

const VARIABLE: &str = "GITHUB_STEP_SUMMARY";

pub(super) fn append(text: &str) -> Result<Exit> {
    let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from) else {
        return Err(Error::plan(format!("{VARIABLE} is not set"), "--github-summary works only in a GitHub job"));
    };
    let there = if path.exists() { file::open_to_append(&path) } else { file::create_new(&path) };
    there.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        Error::run(format!("{VARIABLE}: cannot write {}: {error}", path.display()), "check its permissions")
    })?;
    Ok(Exit::Ok)
}
