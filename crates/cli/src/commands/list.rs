//! `mindful list`: stored runs, newest first.

use clap::ArgMatches;
use mindful_core::{Error, Result, plan::units};
use mindful_record::Listed;
use mindful_report::Style;
use mindful_report::list::Row;

use crate::context;
use crate::exit::Exit;
use crate::store;

/// Lists what is stored, corrupt folders included.
pub fn list(matches: &ArgMatches) -> Result<Exit> {
    let mut listed = store::open(matches)?.list()?;
    let last = matches.get_one::<String>("last").map(|text| units::parse_count(text)).transpose();
    if let Some(last) = last.map_err(|error| error.at("--last"))? {
        listed.truncate(usize::try_from(last).unwrap_or(usize::MAX));
    }
    if context::wants_json(matches) {
        let summaries: Vec<_> = listed.iter().filter_map(|run| run.summary.as_ref()).collect();
        let text = serde_json::to_string_pretty(&summaries)
            .map_err(|error| Error::run(format!("the list cannot be written: {error}"), "please report it"))?;
        context::print(&format!("{text}\n"))?;
        return Ok(Exit::Ok);
    }
    context::print(&table(&listed))?;
    Ok(Exit::Ok)
}

/// The table of `listed`.
pub fn table(listed: &[Listed]) -> String {
    let rows = listed.iter().map(|run| Row {
        id: &run.id,
        head: run.head.as_ref(),
        summary: run.summary.as_ref(),
        fault: run.fault.as_deref(),
    });
    // Who reads it from a pipe may look for any column.
    let style = Style { width: context::columns().unwrap_or(usize::MAX), ..context::style() };
    mindful_report::list::table(&rows.collect::<Vec<_>>(), &style)
}
