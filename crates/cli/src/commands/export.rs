//! `mindful export`: a stored run for other programs.

use std::path::Path;

use clap::ArgMatches;
use mindful_core::{Error, Result};
use mindful_record::{Store, file as record_file};
use mindful_report::{Detail, Style};

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
                    let reported = show::report(&run, &analysis, &Style::default(), &store.run_dir(&id), Detail::Full);
                    mindful_report::html::page(&run, &analysis, &reported)
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
    let path = store.log(id)?;
    record_file::open_itself(&path).and_then(|file| record_file::text(file, u64::MAX - 1)).map_err(|error| {
        Error::run(format!("{} cannot be read: {error}", path.display()), "look at the rights of the run folder")
    })
}
