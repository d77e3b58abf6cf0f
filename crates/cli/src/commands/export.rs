//! `mindful export`: stored runs for other programs, as a page, or as a picture.

use std::path::Path;
use std::process::{Command, Stdio};

use clap::ArgMatches;
use mindful_analyze::Analysis;
use mindful_core::run::Run;
use mindful_core::{Error, Result};
use mindful_record::{Store, file as record_file};
use mindful_report::html::{self, Subject};
use mindful_report::{Detail, benchmarks, charts, hlog};

use crate::commands::file;
use crate::exit::Exit;
use crate::{context, store};

/// Writes the runs in the form that is asked for, to a file or stdout.
pub fn export(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let text = |name| matches.get_one::<String>(name).map(String::as_str);
    let names: Vec<&str> =
        matches.get_many::<String>("ids").map_or_else(|| vec!["latest"], |ids| ids.map(String::as_str).collect());
    let ids = names.into_iter().map(|name| store.resolve(name)).collect::<Result<Vec<_>>>()?;
    let form = text("as").unwrap_or("csv");
    let exported = match form {
        "html" => page(&store, &ids)?,
        "svg" => picture(&store, &ids, text("chart").unwrap_or("latency-iops"))?,
        _ => of_one(&store, single(&ids, form)?, form)?,
    };
    match text("output").filter(|output| *output != "-") {
        Some(output) => file::write(Path::new(output), &exported, matches.get_flag("yes"))?,
        None => context::print(&exported)?,
    }
    if matches.get_flag("open") {
        shown(text("output").unwrap_or_default())?;
    }
    Ok(Exit::Ok)
}

/// Hands the file to the desktop.
fn shown(file: &str) -> Result<()> {
    let why = match Command::new("xdg-open").arg(file).stdout(Stdio::null()).status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Err(Error::run(format!("xdg-open cannot show {file}: {why}"), "it is written: open it by hand"))
}

/// Forms that take several runs at once.
const OF_SEVERAL: &str = "html and svg";

fn single<'a>(ids: &'a [String], form: &str) -> Result<&'a str> {
    match ids {
        [id] => Ok(id),
        _ => Err(Error::plan(
            format!("--as {form} is of one run, {} are named", ids.len()),
            format!("{OF_SEVERAL} take several; export the others one by one"),
        )),
    }
}

fn of_one(store: &Store, id: &str, form: &str) -> Result<String> {
    if form == "jsonl" {
        return events(store, id);
    }
    let (run, analysis) = read(store, id)?;
    Ok(match form {
        "json" => mindful_report::json::summary(&analysis.summary),
        "bencher" => benchmarks::bencher((&run, &analysis)),
        "github-bigger" => benchmarks::github((&run, &analysis), true),
        "github-smaller" => benchmarks::github((&run, &analysis), false),
        "hlog" => hlog::log((&run, &analysis))?,
        "openmetrics" => benchmarks::openmetrics((&run, &analysis)),
        "markdown" => {
            let report = mindful_report::of(&run, &analysis, None, Detail::Full);
            context::found_plan(&run.head.settings) + &mindful_report::markdown::page(&run, &analysis, &report)
        }
        _ => mindful_report::csv::steps(&analysis),
    })
}

fn read(store: &Store, id: &str) -> Result<(Run, Analysis)> {
    let run = store.read(id)?;
    let analysis = mindful_analyze::analyze(&run);
    Ok((run, analysis))
}

fn page(store: &Store, ids: &[String]) -> Result<String> {
    let runs = ids.iter().map(|id| read(store, id)).collect::<Result<Vec<_>>>()?;
    let reports: Vec<_> =
        runs.iter().map(|(run, analysis)| mindful_report::of(run, analysis, None, Detail::Full)).collect();
    let before: Vec<_> = runs.iter().map(|(run, _)| context::found_plan(&run.head.settings)).collect();
    let subject =
        |at: usize| Subject { run: &runs[at].0, analysis: &runs[at].1, report: &reports[at], before: &before[at] };
    Ok(html::page(&(0..runs.len()).map(subject).collect::<Vec<_>>()))
}

/// One chart with the facts below it.
fn picture(store: &Store, ids: &[String], chart: &str) -> Result<String> {
    let runs = ids.iter().map(|id| read(store, id)).collect::<Result<Vec<_>>>()?;
    let sides: Vec<charts::Side> = runs.iter().map(|(run, analysis)| (run, analysis)).collect();
    Ok(charts::named(chart, &sides)?.file(&charts::caption(&sides)))
}

/// All lines of the record, as they stand.
fn events(store: &Store, id: &str) -> Result<String> {
    let path = store.log(id)?;
    record_file::open_itself(&path).and_then(|file| record_file::text(file, u64::MAX - 1)).map_err(|error| {
        Error::run(format!("{} cannot be read: {error}", path.display()), "look at the rights of the run folder")
    })
}
