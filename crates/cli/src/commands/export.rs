//! `mindful export`: a stored run for other programs.

use std::path::Path;

use clap::ArgMatches;
use mindful_core::{Error, Result};
use mindful_record::Store;
use mindful_report::Style;

use crate::commands::{file, show};
use crate::exit::Exit;
use crate::{context, store};

/// Writes the run in the form that is asked for, to a file or stdout.
pub fn export(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let text = |name| matches.get_one::<String>(name).map(String::as_str);
    let id = store.resolve(text("id").unwrap_or("latest"))?;
    let exported = match text("as") {
        Some("jsonl") => events(&store, &id)?,
        form => {
            let run = store.read(&id)?;
            let analysis = mindful_analyze::analyze(&run);
            match form {
                Some("json") => mindful_report::json::summary(&analysis.summary),
                Some("html") => {
                    let told = show::report(&run, &analysis, &Style::default(), &store.run_dir(&id));
                    mindful_report::html::page(&run, &analysis, &told)
                }
                _ => mindful_report::csv::steps(&analysis),
            }
        }
    };
    match text("output").filter(|output| *output != "-") {
        Some(output) => file::write(Path::new(output), &exported, matches.get_flag("yes"))?,
        None => context::print(&exported)?,
    }
    Ok(Exit::Ok)
}

/// All lines of the record, as they stand.
fn events(store: &Store, id: &str) -> Result<String> {
    let path = store.run_dir(id).join(mindful_record::LOG);
    std::fs::read_to_string(&path).map_err(|error| {
        Error::run(format!("{} cannot be read: {error}", path.display()), "look at the rights of the run folder")
    })
}
