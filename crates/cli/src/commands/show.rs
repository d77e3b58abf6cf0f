//! `mindful show`: the report of a stored run, as `run` printed it.

use std::path::Path;

use clap::ArgMatches;
use mindful_analyze::Analysis;
use mindful_core::Result;
use mindful_core::record::run::Run;
use mindful_record::Store;
use mindful_report::{Detail, Style};

use crate::args::flags::{explain, full, run_name, switch};
use crate::context;
use crate::exit::Exit;
use crate::store;
use crate::verb::{Action, Verb};

pub(super) const VERB: Verb = Verb {
    name: "show",
    about: "Show the report of a stored run",
    details: "",
    example: "mindful show latest --explain logical_reads_per_s",
    page: "docs/reports.md",
    plan: None,
    arguments: || {
        let heat_map = switch("heat_map", "heat-map").conflicts_with("explain");
        vec![
            run_name(),
            full(),
            explain(),
            heat_map.help("Show latency over time: number of operations and time spent"),
        ]
    },
    action: Action::Run(show),
};

fn show(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let id = store.resolve(matches.get_one::<String>("id").map_or("latest", String::as_str))?;
    let figure = explained(matches)?;
    let run = store.read(&id)?;
    let analysis = mindful_analyze::analyze(&run);
    let text = match figure {
        Some(figure) => mindful_report::explain::figure(figure, &analysis)?,
        None if matches.get_flag("heat_map") => {
            mindful_report::heat::terminal::report(&run, &analysis, &context::style())
        }
        None => {
            print(&run, &analysis, matches, &store)?;
            store.mend_summary(&analysis.summary)?;
            return Ok(Exit::Ok);
        }
    };
    context::print(&(context::found_plan(&run.head.settings) + &text))
}

/// The figure of `--explain`; an unknown one is refused before anything runs.
pub(super) fn explained(matches: &ArgMatches) -> Result<Option<&str>> {
    let figure = matches.get_one::<String>("explain").map(String::as_str);
    figure.map(|name| mindful_report::explain::known(name).map(|()| name)).transpose()
}

/// Prints the summary, or the report in the requested detail.
pub(super) fn print(run: &Run, analysis: &Analysis, matches: &ArgMatches, store: &Store) -> Result<()> {
    let detail = if matches.get_flag("full") { Detail::Full } else { Detail::Short };
    let folder = store.run_dir(&run.head.id);
    context::print(&if context::wants_json(matches) {
        mindful_report::export::json::summary(&analysis.summary)
    } else {
        report(run, analysis, &context::style(), &folder, detail)
    })?;
    Ok(())
}

pub(super) fn report(run: &Run, analysis: &Analysis, style: &Style, folder: &Path, detail: Detail) -> String {
    let text = mindful_report::run_report(run, analysis, Some(folder), detail).to_text(style);
    context::found_plan(&run.head.settings) + &text
}
