//! `mindful list`: stored runs, newest first.

use clap::ArgMatches;
use mindful_core::{Error, Result, plan::units};
use mindful_record::Listed;
use mindful_report::Style;
use mindful_report::list::StoredRun;

use crate::args::flags::option;
use crate::context;
use crate::exit::Exit;
use crate::store;
use crate::verb::{Action, Verb};

pub(super) const VERB: Verb = Verb {
    name: "list",
    about: "List stored runs",
    details: "",
    example: "mindful list --last 10",
    page: "docs/reports.md",
    plan: None,
    arguments: || {
        vec![
            option("last", "last", "N").help("List the N newest only"),
            option("tag", "tag", "TAG").help("List runs with this tag only"),
        ]
    },
    action: Action::Run(list),
};

fn list(matches: &ArgMatches) -> Result<Exit> {
    let mut listed = store::open(matches)?.list()?;
    if let Some(tag) = matches.get_one::<String>("tag") {
        listed.retain(|run| run.head.as_ref().is_some_and(|head| head.plan.tag.as_ref() == Some(tag)));
    }
    let last = matches.get_one::<String>("last").map(|text| units::parse_count(text)).transpose();
    if let Some(last) = last.map_err(|error| error.at("--last"))? {
        listed.truncate(usize::try_from(last).unwrap_or(usize::MAX));
    }
    if context::wants_json(matches) {
        let summaries: Vec<_> = listed.iter().filter_map(|run| run.summary.as_ref()).collect();
        let text = serde_json::to_string_pretty(&summaries)
            .map_err(|error| Error::run(format!("cannot write the list: {error}"), "please report it"))?;
        return context::print(&format!("{text}\n"));
    }
    context::print(&table(&listed))
}

pub(super) fn table(listed: &[Listed]) -> String {
    let rows = listed.iter().map(|run| StoredRun {
        id: &run.id,
        head: run.head.as_ref(),
        summary: run.summary.as_ref(),
        fault: run.fault.as_deref(),
    });
    // Output to a pipe has all columns.
    let style = Style { width: context::columns().unwrap_or(usize::MAX), ..context::style() };
    mindful_report::list::table(&rows.collect::<Vec<_>>(), &style)
}
