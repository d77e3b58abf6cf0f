//! `mindful show`: a stored run as `run` showed it.

use std::path::Path;

use clap::ArgMatches;
use mindful_analyze::Analysis;
use mindful_core::Result;
use mindful_core::run::Run;
use mindful_record::Store;
use mindful_report::Style;

use crate::context;
use crate::exit::Exit;
use crate::store;

/// Shows the run that is named.
pub fn show(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let name = matches.get_one::<String>("id").map_or("latest", String::as_str);
    let id = store.resolve(name)?;
    match explained(matches)? {
        Some(figure) => explain(&store, &id, figure)?,
        None if matches.get_flag("heat_map") => heat_map(&store, &id)?,
        None => {
            let run = store.read(&id)?;
            let analysis = mindful_analyze::analyze(&run);
            print(&run, &analysis, context::wants_json(matches), &store)?;
            store.mend_summary(&analysis.summary)?;
        }
    }
    Ok(Exit::Ok)
}

/// The figure to be explained; refused before anything runs when there is none of that name.
pub fn explained(matches: &ArgMatches) -> Result<Option<&str>> {
    let figure = matches.get_one::<String>("explain").map(String::as_str);
    figure.map(|name| mindful_report::explain::known(name).map(|()| name)).transpose()
}

/// Prints what stands behind `figure` of run `id`.
pub fn explain(store: &Store, id: &str, figure: &str) -> Result<()> {
    let run = store.read(id)?;
    let explained = mindful_report::explain::figure(figure, &mindful_analyze::analyze(&run))?;
    context::print(&(context::found_plan(&run.head.settings) + &explained))
}

/// Prints the latencies of run `id` over time.
fn heat_map(store: &Store, id: &str) -> Result<()> {
    let run = store.read(id)?;
    let analysis = mindful_analyze::analyze(&run);
    let map = mindful_report::heat::terminal::report(&run, &analysis, &context::style());
    context::print(&(context::found_plan(&run.head.settings) + &map))
}

/// Prints a run that stands in `store`.
pub fn print(run: &Run, analysis: &Analysis, json: bool, store: &Store) -> Result<()> {
    let text = if json {
        mindful_report::json::summary(&analysis.summary)
    } else {
        report(run, analysis, &context::style(), &store.run_dir(&run.head.id))
    };
    context::print(&text)
}

/// The report of a run that is stored in `folder`.
pub fn report(run: &Run, analysis: &Analysis, style: &Style, folder: &Path) -> String {
    context::found_plan(&run.head.settings) + &mindful_report::of(run, analysis, Some(folder)).text(style)
}
