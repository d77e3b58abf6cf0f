//! `mindful delete`: lists stored runs and removes them after a confirmation. If one name is unknown or ambiguous, it
//! removes none.

use std::collections::BTreeSet;

use clap::{Arg, ArgMatches};
use mindful_core::Result;

use super::list;
use crate::exit::Exit;
use crate::verb::{Action, Verb};
use crate::{context, question, signals, store};

pub(super) const VERB: Verb = Verb {
    name: "delete",
    about: "Delete stored runs",
    details: "Delete lists the runs and asks before it deletes them.",
    example: "mindful delete before after",
    page: "docs/reports.md",
    plan: None,
    arguments: || {
        let runs = Arg::new("runs").value_name("RUN").num_args(1..).required(true);
        vec![runs.help("Ids, their beginnings, tags, or latest")]
    },
    action: Action::Run(delete),
};

fn delete(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let names = matches.get_many::<String>("runs").unwrap_or_default();
    let ids = names.map(|name| store.resolve(name)).collect::<Result<BTreeSet<String>>>()?;
    let runs: Vec<_> = store.list()?.into_iter().filter(|run| ids.contains(&run.id)).collect();
    context::print(&list::table(&runs))?;
    if !matches.get_flag("yes")
        && !signals::stop_on_signal()?.run_expendable(|| question::yes("delete", "Delete these runs?"))?
    {
        return context::print("nothing was deleted\n");
    }
    for id in &ids {
        store.remove(id)?;
    }
    context::print(&format!("{} deleted\n", ids.len()))
}
