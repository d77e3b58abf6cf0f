//! Forms of one run, each for programs of its own.

use clap::ArgMatches;
use mindful_analyze::Analysis;
use mindful_core::run::Run;
use mindful_core::{Error, Result};
use mindful_record::{Store, file as record_file};
use mindful_report::{Detail, benchmarks, fio, hlog};

use crate::context;

/// Forms that take several runs at once.
const OF_SEVERAL: &str = "html and svg";

/// The one run of those named.
pub fn single<'a>(ids: &'a [String], form: &str) -> Result<&'a str> {
    match ids {
        [id] => Ok(id),
        _ => Err(Error::plan(
            format!("--as {form} is of one run, {} are named", ids.len()),
            format!("{OF_SEVERAL} take several; export the others one by one"),
        )),
    }
}

/// The run `id` in `form`.
pub fn written(matches: &ArgMatches, store: &Store, id: &str, form: &str) -> Result<String> {
    if form == "jsonl" {
        return events(store, id);
    }
    let (run, analysis) = read(store, id)?;
    Ok(match form {
        "json" => mindful_report::json::summary(&analysis.summary),
        "bencher" => benchmarks::bencher((&run, &analysis)),
        "github-bigger" => benchmarks::github((&run, &analysis), true),
        "github-smaller" => benchmarks::github((&run, &analysis), false),
        "fio" => fio::output((&run, &analysis), matches.get_one("step").copied())?,
        "hlog" => hlog::log((&run, &analysis))?,
        "openmetrics" => benchmarks::openmetrics((&run, &analysis)),
        "markdown" => {
            let report = mindful_report::of(&run, &analysis, None, Detail::Full);
            context::found_plan(&run.head.settings) + &mindful_report::markdown::page(&run, &analysis, &report)
        }
        _ => mindful_report::csv::steps(&analysis),
    })
}

/// The run `id` with its analysis.
pub fn read(store: &Store, id: &str) -> Result<(Run, Analysis)> {
    let run = store.read(id)?;
    let analysis = mindful_analyze::analyze(&run);
    Ok((run, analysis))
}

/// All lines of the record, as they stand.
fn events(store: &Store, id: &str) -> Result<String> {
    let path = store.log(id)?;
    record_file::open_itself(&path).and_then(|file| record_file::text(file, u64::MAX - 1)).map_err(|error| {
        Error::run(format!("{} cannot be read: {error}", path.display()), "look at the rights of the run folder")
    })
}
