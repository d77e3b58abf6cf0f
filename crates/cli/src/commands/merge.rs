//! `mindful merge`: one run of the runs that all ranks stored, as rank 0 makes it when all ranks end well.

use std::path::Path;

use clap::{Arg, ArgMatches};
use mindful_core::Result;
use mindful_core::record::run::Run;
use mindful_core::result::Validity;
use mindful_ranks::{merge_folders, store_merged};
use mindful_record::{LOG, Store, read_run};

use crate::args::flags::full;
use crate::commands::show;
use crate::exit::Exit;
use crate::store;
use crate::verb::{Action, Verb};

pub(super) const VERB: Verb = Verb {
    name: "merge",
    about: "Merge the runs stored by all ranks into one",
    details: "Rank 0 does this at the end of a run; merge repeats it from the stored runs of all ranks.",
    example: "mindful merge node1/runs/ID node2/runs/ID",
    page: "docs/scale.md",
    plan: None,
    arguments: || {
        let runs = Arg::new("runs").value_name("RUN").num_args(1..).required(true);
        vec![runs.help("Run folders, or ids in the store"), full()]
    },
    action: Action::Run(merge),
};

fn merge(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let names = matches.get_many::<String>("runs").into_iter().flatten();
    let runs = names.map(|name| read(&store, name)).collect::<Result<Vec<_>>>()?;
    let own = runs.iter().all(|(_, own)| *own);
    let runs = runs.into_iter().map(|(run, _)| run).collect();
    let (run, analysis) = store_merged(&store, merge_folders(runs)?, own)?;
    show::print(&run, &analysis, matches, &store)?;
    Ok(if analysis.summary.validity == Validity::Invalid { Exit::Invalid } else { Exit::Ok })
}

/// A run by its folder, or by its name in the store, and whether it was written here.
fn read(store: &Store, name: &str) -> Result<(Run, bool)> {
    let log = Path::new(name).join(LOG);
    if log.exists() {
        return Ok((read_run(&log)?, false));
    }
    let id = store.resolve(name)?;
    store.read_judged(&id)
}
