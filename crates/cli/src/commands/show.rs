//! `mindful show`: a stored run as `run` showed it.

use clap::ArgMatches;
use mindful_analyze::figures::blocks;
use mindful_analyze::io_job;
use mindful_core::Result;
use mindful_core::result::Validity;
use mindful_record::Store;

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
        None => drop(stored(&store, &id, context::wants_json(matches), false)?),
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
    let analysis = mindful_analyze::analyze(&store.read(id)?);
    context::print(&mindful_report::explain::figure(figure, &analysis)?)
}

/// Reads, analyses and prints run `id`; stores its summary when it has just ended.
pub fn stored(store: &Store, id: &str, json: bool, ended: bool) -> Result<Validity> {
    let run = store.read(id)?;
    let analysis = mindful_analyze::analyze(&run);
    if ended {
        store.write_summary(&analysis.summary)?;
    }
    let text = if json {
        mindful_report::json::summary(&analysis.summary)
    } else if let Some(contrast) = &analysis.summary.contrast {
        mindful_report::contrast::report(&analysis.summary, contrast, &context::style())
    } else if let Some(job) = &analysis.summary.io_job {
        let (block, large) = (blocks::block_bytes(&run), io_job::large_bytes(&run));
        mindful_report::io_job::report(&analysis.summary, job, block, large, &run.notes, &context::style())
    } else if run.steps.iter().any(|step| !step.head.point.is_plain()) {
        let block_bytes = run.description.as_ref().map(|d| d.block_bytes);
        mindful_report::sweep::report(&analysis.summary, block_bytes, &run.notes, &context::style())
    } else {
        mindful_report::terminal::report(&run, &analysis, &context::style(), Some(&store.run_dir(id)))
    };
    context::print(&text)?;
    Ok(analysis.summary.validity)
}
