//! The verbs.

mod awr;
mod cleanup;
mod compare;
mod completions;
#[cfg(feature = "raw")]
mod contrast;
mod delete;
mod doctor;
mod engines;
mod export;
mod file;
mod import;
mod launch;
mod list;
mod load;
mod man;
mod noise;
mod pack;
mod plan;
mod ranks;
#[cfg(feature = "raw")]
mod raw;
mod rerun;
mod run;
mod show;
mod squeeze;
mod sweep;
mod trace;
mod verify;
mod watch;

use clap::ArgMatches;
use mindful_core::{Error, Result};

use crate::exit::Exit;

/// Carries out the verb on the command line.
pub fn dispatch(matches: &ArgMatches) -> Result<Exit> {
    match matches.subcommand() {
        Some(("run", matches)) => run::run(matches),
        Some(("load", matches)) => load::load(matches),
        Some(("verify", matches)) => verify::verify(matches),
        Some(("cleanup", matches)) => cleanup::cleanup(matches),
        Some(("plan", matches)) => plan::plan(matches),
        Some(("doctor", matches)) => doctor::doctor(matches),
        Some(("sweep", matches)) => sweep::sweep(matches),
        Some(("compare", matches)) => compare::compare(matches),
        Some(("noise", matches)) => noise::noise(matches),
        #[cfg(feature = "raw")]
        Some(("contrast", matches)) => contrast::contrast(matches),
        #[cfg(feature = "raw")]
        Some(("raw", matches)) => raw::raw(matches),
        Some(("watch", matches)) => watch::watch(matches),
        Some(("launch", matches)) => launch::launch(matches),
        Some(("merge", matches)) => ranks::merge(matches),
        Some(("list", matches)) => list::list(matches),
        Some(("delete", matches)) => delete::delete(matches),
        Some(("show", matches)) => show::show(matches),
        Some(("export", matches)) => export::export(matches),
        Some(("import", matches)) => import::import(matches),
        Some(("pack", matches)) => pack::pack(matches),
        Some(("rerun", matches)) => rerun::rerun(matches),
        Some(("awr", matches)) => awr::awr(matches),
        Some(("trace", matches)) => trace::trace(matches),
        Some(("squeeze", matches)) => squeeze::squeeze(matches),
        Some(("engines", matches)) => engines::engines(matches),
        Some(("completions", matches)) => completions::completions(matches),
        Some(("man", matches)) => man::man(matches),
        _ => Err(Error::plan("no verb is given", "`mindful --help` lists the verbs")),
    }
}
