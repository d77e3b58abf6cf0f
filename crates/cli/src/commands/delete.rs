//! `mindful delete`: removes stored runs, lists them first, and asks.

use std::collections::BTreeSet;

use clap::ArgMatches;
use mindful_core::Result;

use super::list;
use crate::exit::Exit;
use crate::{context, question, signals, store};

/// Lists the runs that were named, asks, removes them. A name that means no run, or several, removes none.
pub fn delete(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let names = matches.get_many::<String>("runs").unwrap_or_default();
    let ids = names.map(|name| store.resolve(name)).collect::<Result<BTreeSet<String>>>()?;
    let runs: Vec<_> = store.list()?.into_iter().filter(|run| ids.contains(&run.id)).collect();
    context::print(&list::table(&runs))?;
    if !matches.get_flag("yes")
        && !signals::stop_on_signal()?.run_expendable(|| question::yes("delete", "Remove these runs?"))?
    {
        context::print("nothing was removed\n")?;
        return Ok(Exit::Ok);
    }
    for id in &ids {
        store.remove(id)?;
    }
    context::print(&format!("{} removed\n", ids.len()))?;
    Ok(Exit::Ok)
}
