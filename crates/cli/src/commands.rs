//! The table of verbs. Each has a file here, with its parts in a folder of the same name.

mod awr;
mod cleanup;
mod compare;
#[cfg(feature = "raw")]
mod contrast;
mod delete;
mod doctor;
mod engines;
mod export;
mod generate;
pub(crate) mod import;
mod launch;
mod list;
mod load;
mod merge;
pub(crate) mod pack;
mod plan;
mod ranks;
#[cfg(feature = "raw")]
mod raw;
mod run;
mod show;
mod squeeze;
mod sweep;
mod trace;
mod verify;
mod watch;

use clap::ArgMatches;
use mindful_core::{Error, Result};

use crate::args;
use crate::exit::Exit;
use crate::verb::{Action, Groups};

pub(crate) const GROUPS: Groups = &[
    (
        "Measure",
        &[
            &run::VERB,
            &sweep::VERB,
            #[cfg(feature = "raw")]
            &raw::VERB,
            #[cfg(feature = "raw")]
            &contrast::VERB,
        ],
    ),
    ("Judge", &[&compare::VERB, &pack::check::VERB, &doctor::VERB, &watch::VERB]),
    ("Keep", &[&list::VERB, &show::VERB, &export::VERB, &import::VERB, &pack::VERB, &delete::VERB]),
    ("Data", &[&load::VERB, &verify::VERB, &cleanup::VERB]),
    ("Old results", &[&awr::VERB, &trace::VERB]),
    ("Several machines", &[&launch::VERB, &merge::VERB]),
    ("Setup", &[&plan::VERB, &engines::VERB, &squeeze::VERB]),
    ("", &[&generate::VERB]),
];

pub(crate) fn dispatch(matches: &ArgMatches) -> Result<Exit> {
    let found = matches.subcommand().and_then(|(name, matches)| {
        let verb = GROUPS.iter().flat_map(|(_, verbs)| *verbs).find(|verb| verb.name == name)?;
        Some((&verb.action, matches))
    });
    match found {
        Some((Action::Run(run), matches)) => run(matches),
        Some((Action::Describe(describe), matches)) => describe(matches, &|shown| args::grammar(GROUPS, shown, None)),
        None => Err(Error::plan("no verb is given", "`mindful --help` lists the verbs")),
    }
}
