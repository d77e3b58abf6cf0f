//! Formats that take one run.

use mindful_core::{Error, Result};
use mindful_report::{Detail, benchmarks};

use super::old_columns;
use crate::context;
use crate::runs::Runs;

/// Formats that take several runs.
const OF_SEVERAL: &str = "html, svg and png";

pub fn single<'a>(ids: &'a [String], form: &str) -> Result<&'a str> {
    match ids {
        [id] => Ok(id),
        _ => Err(Error::plan(
            format!("--as {form} takes one run, not {}", ids.len()),
            format!("{OF_SEVERAL} take several; export the others one by one"),
        )),
    }
}

pub fn written(runs: &Runs, id: &str, form: &str) -> Result<String> {
    if form == "jsonl" {
        return runs.lines(id);
    }
    let (run, analysis) = runs.read(id)?;
    Ok(match form {
        "json" => mindful_report::json::summary(&analysis.summary),
        "bencher" => benchmarks::bencher((&run, &analysis)),
        "github-bigger" => benchmarks::github((&run, &analysis), true),
        "github-smaller" => benchmarks::github((&run, &analysis), false),
        "awr_info" => old_columns::awr_info(&run, &analysis),
        "flashdba" => old_columns::flashdba(&run, &analysis),
        "openmetrics" => benchmarks::openmetrics((&run, &analysis)),
        "markdown" => {
            let report = mindful_report::of(&run, &analysis, None, Detail::Full);
            context::found_plan(&run.head.settings) + &mindful_report::markdown::page(&run, &analysis, &report)
        }
        _ => mindful_report::csv::steps(&analysis),
    })
}
