//! `mindful list`: stored runs, newest first.

use clap::ArgMatches;
use mindful_core::{Error, Result};
use mindful_report::list::Row;

use crate::context;
use crate::exit::Exit;
use crate::store;

/// Lists what is stored, corrupt folders included.
pub fn list(matches: &ArgMatches) -> Result<Exit> {
    let listed = store::open(matches)?.list()?;
    if context::wants_json(matches) {
        let summaries: Vec<_> = listed.iter().filter_map(|run| run.summary.as_ref()).collect();
        let text = serde_json::to_string_pretty(&summaries)
            .map_err(|error| Error::run(format!("the list cannot be written: {error}"), "please report it"))?;
        context::print(&format!("{text}\n"))?;
        return Ok(Exit::Ok);
    }
    let rows: Vec<_> = listed
        .iter()
        .map(|run| Row {
            id: &run.id,
            head: run.head.as_ref(),
            summary: run.summary.as_ref(),
            fault: run.fault.as_deref(),
        })
        .collect();
    context::print(&mindful_report::list::table(&rows, &context::style()))?;
    Ok(Exit::Ok)
}
