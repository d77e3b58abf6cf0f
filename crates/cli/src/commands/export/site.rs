//! Runs as a folder of web pages.

use std::path::Path;

use mindful_core::{Error, Result};
use mindful_record::file as record_file;
use mindful_report::html::Subject;
use mindful_report::html::site::{self, IndexedRun};
use mindful_report::{Detail, escape};

use crate::context;
use crate::output_file;
use crate::runs::Runs;

/// Writes a page for each run, and an index. The index lists unreadable runs with the reason.
pub(super) fn write(runs: &Runs, ids: &[String], folder: Option<&str>, replace: bool) -> Result<()> {
    let folder = folder
        .filter(|folder| *folder != "-")
        .ok_or_else(|| Error::plan("--as site writes a folder", "pass --output FOLDER; it is created if needed"))?;
    let folder = Path::new(folder);
    record_file::create_folders(folder).map_err(|error| {
        Error::plan(format!("cannot create {}: {error}", folder.display()), "choose another --output")
    })?;
    let mut rows = Vec::new();
    for id in ids {
        rows.push(one(runs, id, folder, replace)?);
    }
    output_file::write(&folder.join("index.html"), site::index(&rows).as_bytes(), replace)?;
    context::tell(&format!(
        "wrote {} of {} runs to {}",
        readable(&rows),
        rows.len(),
        folder.join("index.html").display()
    ));
    Ok(())
}

fn readable(rows: &[IndexedRun]) -> usize {
    rows.iter().filter(|row| row.is_readable()).count()
}

/// Writes the page of one run; returns its row of the index.
fn one(runs: &Runs, id: &str, folder: &Path, replace: bool) -> Result<IndexedRun> {
    let (run, analysis) = match runs.read(id) {
        Ok(read) => read,
        Err(error) => return Ok(IndexedRun::unreadable(id, &escape(&runs.name(&error.to_string())))),
    };
    let report = mindful_report::run_report(&run, &analysis, None, Detail::Full);
    let before = context::found_plan(&run.head.settings);
    let subject = Subject { run: &run, analysis: &analysis, report: &report, before: &before };
    output_file::write(&folder.join(IndexedRun::file(id)), site::page(subject).as_bytes(), replace)?;
    Ok(IndexedRun::from_run(&run, &analysis))
}
