//! Formats that take one run.

use std::io::{self, Write as _};
use std::path::Path;

use mindful_analyze::Analysis;
use mindful_core::record::run::Run;
use mindful_core::{Error, Result};
use mindful_import::rows;
use mindful_report::export::{benchmarks, old_columns};

use crate::runs::Runs;
use crate::{context, output_file};

const OF_SEVERAL: &str = "html, svg and png";

pub(super) fn single<'a>(ids: &'a [String], form: &str) -> Result<&'a str> {
    match ids {
        [id] => Ok(id),
        _ => Err(Error::plan(
            format!("--as {form} takes one run, not {}", ids.len()),
            format!("{OF_SEVERAL} take several; export the others one by one"),
        )),
    }
}

pub(super) fn written(runs: &Runs, id: &str, form: &str) -> Result<String> {
    let (run, analysis) = runs.read(id)?;
    Ok(match form {
        "json" => mindful_report::export::json::summary(&analysis.summary),
        "bencher" => benchmarks::bencher((&run, &analysis)),
        "github-bigger" => benchmarks::github((&run, &analysis), true),
        "github-smaller" => benchmarks::github((&run, &analysis), false),
        "awr_info" => awr_info(&run, &analysis),
        "flashdba" => flashdba(&run, &analysis),
        "openmetrics" => benchmarks::openmetrics((&run, &analysis)),
        "markdown" => mindful_report::markdown::page(&run, &analysis),
        _ => mindful_report::export::csv::steps(&analysis),
    })
}

/// Writes the events of run `id`, some lines at a time: a record may be larger than memory.
pub(super) fn events(runs: &Runs, id: &str, output: Option<&Path>, replace: bool) -> Result<()> {
    let Some(path) = output else {
        let mut is_read = true;
        return runs.lines(id, &mut |lines| {
            is_read = is_read && context::offer(lines)?;
            Ok(())
        });
    };
    output_file::write_by(path, replace, |mut file| {
        let unwritten = |error: io::Error| Error::run(error.to_string(), "");
        let written = runs.lines(id, &mut |lines| file.write_all(lines.as_bytes()).map_err(unwritten));
        written.map_err(|error| io::Error::other(error.to_string()))
    })
}

/// A header and a line a step, `|` between cells.
fn awr_info(run: &Run, analysis: &Analysis) -> String {
    let cells = old_columns::awr_info_cells(run, analysis, &rows::AWR_INFO.split('|').collect::<Vec<_>>());
    let lines = cells.iter().map(|cells| cells.iter().map(|cell| rows::piped(cell)).collect::<Vec<_>>().join("|"));
    std::iter::once(rows::AWR_INFO.to_owned()).chain(lines).flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// A header and a line a step, as CSV.
fn flashdba(run: &Run, analysis: &Analysis) -> String {
    let names = rows::flashdba_names();
    let cells = old_columns::flashdba_cells(run, analysis, &names);
    std::iter::once(&names).chain(&cells).map(|cells| rows::line(cells.iter().map(String::as_str))).collect()
}
