//! `mindful export`: stored runs in the format of another program, as a page, or as a chart.

mod of_one;
mod pixels;
mod site;
mod summary;

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::{Arg, ArgMatches};
use mindful_analyze::Analysis;
use mindful_analyze::compare::{NoiseFloor, Sides};
use mindful_core::record::run::Run;
use mindful_core::{Error, Result};
use mindful_host::system_path::{find_program, system_path};
use mindful_record::Store;
use mindful_report::{charts, comparison, html};

use super::compare;
use super::compare::sides::AllSides;
use crate::args::flags::{margin_and_figure, option, order_and_prices, output, redact, switch};
use crate::exit::Exit;
use crate::output_file;
use crate::runs::Runs;
use crate::verb::{Action, Verb};
use crate::{context, store};

const FORMS: [&str; 14] = [
    "csv",
    "json",
    "jsonl",
    "html",
    "site",
    "svg",
    "png",
    "markdown",
    "bencher",
    "github-bigger",
    "github-smaller",
    "openmetrics",
    "awr_info",
    "flashdba",
];

pub(super) const VERB: Verb = Verb {
    name: "export",
    about: "Write stored runs as CSV, JSON, a web page, a chart or another format",
    details: "Formats: csv (a line a step), json (summary), jsonl (every event), html (a page; of several runs or tags a comparison), site (a folder of pages, also of packs), svg and png (one chart), markdown, bencher, github-bigger, github-smaller, openmetrics, awr_info and flashdba.",
    example: "mindful export latest --as html --output run.html",
    page: "docs/reports.md",
    plan: None,
    arguments: || {
        let runs = Arg::new("ids").value_name("RUN").num_args(0..);
        let form = option("as", "as", "FORM").default_value("csv").value_parser(FORMS).hide_possible_values(true);
        let charts = mindful_report::charts::NAMES.map(|(name, _)| name);
        let chart = option("chart", "chart", "NAME").value_parser(charts).default_value("latency-iops");
        let all = switch("all", "all").conflicts_with("ids");
        let summary = switch("github_summary", "github-summary").conflicts_with_all(["output", "as"]);
        let mut flags = vec![
            runs.help(
                "Id, its beginning, tag, or latest [default: latest]; several are compared (html, csv, json, markdown); with --as site also packs and folders of packs",
            ),
            form.help("Format, see above"),
            output("File to write [default: stdout]"),
            switch("open", "open").requires("output").help("Open the written file with xdg-open"),
            chart.help("Chart of --as svg or png; differences compares two sides, ranks and prices several"),
            all.help("Export all stored runs, newest first (--as site)"),
            summary.help("Append the report as Markdown to the file in GITHUB_STEP_SUMMARY"),
            redact(),
        ];
        flags.extend(order_and_prices());
        flags.extend(margin_and_figure());
        flags
    },
    action: Action::Run(export),
};

fn export(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let text = |name| matches.get_one::<String>(name).map(String::as_str);
    let runs = Runs::of(&store, matches);
    if text("as") == Some("site") {
        site::write(matches, &runs)?;
        return Ok(Exit::Ok);
    }
    if matches.get_flag("all") {
        return Err(Error::plan("--all needs --as site", "pass --as site --output FOLDER"));
    }
    if text("as") == Some("jsonl") {
        let (ids, output) = (ids(matches, &store)?, text("output").filter(|output| *output != "-"));
        let id = of_one::single(&ids, "jsonl")?;
        of_one::events(&runs, id, output.map(Path::new), matches.get_flag("yes"))?;
        return if matches.get_flag("open") { shown(output.unwrap_or_default()) } else { Ok(()) }.map(|()| Exit::Ok);
    }
    let drawn = text("as") == Some("png");
    if drawn {
        pixels::refuse_without_png()?;
    }
    let exported = match several(matches, &runs)? {
        Some(sides) => compared(matches, sides)?,
        None => of_ids(matches, &runs)?,
    };
    let exported = mindful_report::escape_json(&exported).into_owned();
    if matches.get_flag("github_summary") {
        return summary::append(&exported);
    }
    let written = if drawn { pixels::png(&exported)? } else { exported.into_bytes() };
    match text("output").filter(|output| *output != "-") {
        Some(output) => output_file::write(Path::new(output), &written, matches.get_flag("yes"))?,
        None if drawn && std::io::stdout().is_terminal() => {
            return Err(Error::plan("cannot print a PNG on a terminal", "pass --output FILE.png"));
        }
        None => drop(context::offer_bytes(&written)?),
    }
    if matches.get_flag("open") {
        shown(text("output").unwrap_or_default())?;
    }
    Ok(Exit::Ok)
}

/// The ids of the named runs.
fn ids(matches: &ArgMatches, store: &Store) -> Result<Vec<String>> {
    let names: Vec<&str> =
        matches.get_many::<String>("ids").map_or_else(|| vec!["latest"], |ids| ids.map(String::as_str).collect());
    names.into_iter().map(|name| store.resolve(name)).collect()
}

fn of_ids(matches: &ArgMatches, runs: &Runs) -> Result<String> {
    let text = |name| matches.get_one::<String>(name).map(String::as_str);
    let form = if matches.get_flag("github_summary") { "markdown" } else { text("as").unwrap_or("csv") };
    let ids = ids(matches, runs.store())?;
    match form {
        "html" => page(runs, &ids),
        "svg" | "png" => picture(runs, &ids, text("chart").unwrap_or("latency-iops")),
        _ => of_one::written(runs, of_one::single(&ids, form)?, form),
    }
}

/// The sides to compare: of several names, each a side, in a form that shows a comparison.
fn several(matches: &ArgMatches, runs: &Runs) -> Result<Option<AllSides>> {
    let names: Vec<&String> = matches.get_many("ids").map(Iterator::collect).unwrap_or_default();
    let form = matches.get_one::<String>("as").map_or("csv", String::as_str);
    let chart = matches.get_one::<String>("chart").is_some_and(|chart| charts::OF_SIDES.contains(&chart.as_str()));
    let compares = match form {
        "html" | "csv" | "json" | "markdown" => true,
        "svg" | "png" => chart,
        _ => false,
    };
    if names.len() < 2 || !compares {
        return Ok(None);
    }
    AllSides::stored(&names, matches, runs).map(Some)
}

fn is_picture(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("as").is_some_and(|form| form == "svg" || form == "png")
}

fn compared(matches: &ArgMatches, all: AllSides) -> Result<String> {
    let text = |name| matches.get_one::<String>(name).map(String::as_str);
    let form = text("as").unwrap_or("csv");
    let chart = text("chart").unwrap_or(charts::RANKS);
    let in_order =
        matches.contains_id("by") || !(form == "html" || is_picture(matches) && chart == charts::DIFFERENCES);
    let all = match (in_order, all) {
        (true, all) => all,
        (false, all) => match all.two() {
            Ok(two) => return comparison_of_two(matches, &two),
            Err(all) => all,
        },
    };
    let summary = compare::ranked(matches, &all)?.summary;
    Ok(match form {
        "csv" => comparison::ranking_csv(&summary),
        "json" => mindful_report::export::json::summary(&summary),
        "markdown" => comparison::ranking_markdown(&summary),
        "html" => {
            let sides: Vec<_> = all.sides.iter().map(|side| (side.name.as_str(), of_runs(&side.runs))).collect();
            html::ranking(&summary, &sides)
        }
        _ => {
            let runs: Vec<_> = all.sides.iter().flat_map(|side| of_runs(&side.runs)).collect();
            charts::ranking_chart(chart, &summary)?.file(&charts::caption(&runs))
        }
    })
}

fn comparison_of_two(matches: &ArgMatches, two: &(Sides, Option<NoiseFloor>)) -> Result<String> {
    let compared = compare::differences(matches, two)?;
    let [baseline, candidate] = [of_runs(&two.0.baseline), of_runs(&two.0.candidate)];
    if is_picture(matches) {
        let all = [baseline, candidate].concat();
        return Ok(charts::differences_chart(&compared, &all)?.file(&charts::caption(&all)));
    }
    Ok(html::comparison(&compared, [&baseline, &candidate]))
}

fn shown(file: &str) -> Result<()> {
    let opened = match find_program("xdg-open") {
        Some(opener) => Command::new(opener).env("PATH", system_path()).arg(file).stdout(Stdio::null()).status(),
        None => Err(std::io::ErrorKind::NotFound.into()),
    };
    let why = match opened {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Err(Error::run(format!("xdg-open cannot open {file}: {why}"), "the file is written: open it yourself"))
}

fn page(runs: &Runs, ids: &[String]) -> Result<String> {
    let runs = ids.iter().map(|id| runs.read(id)).collect::<Result<Vec<_>>>()?;
    Ok(html::page(&of_runs(&runs)))
}

fn picture(runs: &Runs, ids: &[String], chart: &str) -> Result<String> {
    let runs = ids.iter().map(|id| runs.read(id)).collect::<Result<Vec<_>>>()?;
    let sides = of_runs(&runs);
    Ok(charts::named(chart, &sides)?.file(&charts::caption(&sides)))
}

fn of_runs(runs: &[(Run, Analysis)]) -> Vec<charts::Side<'_>> {
    runs.iter().map(|(run, analysis)| (run, analysis)).collect()
}
