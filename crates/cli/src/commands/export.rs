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
use mindful_analyze::compare::Sides;
use mindful_core::record::run::Run;
use mindful_core::{Error, Result};
use mindful_record::Store;
use mindful_report::html::{self, Subject};
use mindful_report::{Detail, Report, charts};

use super::compare;
use super::compare::sides as compare_sides;
use crate::args::flags::{margin_and_figure, option, output, redact, sides, switch};
use crate::exit::Exit;
use crate::output_file;
use crate::runs::Runs;
use crate::verb::{Action, Group, PlanKeys, Verb};
use crate::{context, store};

/// Formats of `--as`.
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
    group: Some(Group::Keep),
    about: "Write stored runs as CSV, JSON, a web page, a chart or another format",
    details: "Formats: csv (a line a step), json (summary), jsonl (every event), html (a page; compares two runs), site (a folder of pages), svg and png (one chart), markdown, bencher, github-bigger, github-smaller, openmetrics, awr_info and flashdba.",
    example: "mindful export latest --as html --output run.html",
    page: "docs/reports.md",
    plan: PlanKeys::None,
    arguments: || {
        let runs = Arg::new("ids").value_name("RUN").num_args(0..).conflicts_with_all(["baseline", "candidate"]);
        let form = option("as", "as", "FORM").default_value("csv").value_parser(FORMS).hide_possible_values(true);
        let charts = mindful_report::charts::NAMES.map(|(name, _)| name);
        let chart = option("chart", "chart", "NAME").value_parser(charts).default_value("latency-iops");
        let all = switch("all", "all").conflicts_with("ids");
        let summary = switch("github_summary", "github-summary").conflicts_with_all(["output", "as"]);
        let mut flags = vec![
            runs.help("Id, its beginning, tag, or latest [default: latest]; html, svg and png take several"),
            form.help("Format, see above"),
            output("File to write [default: stdout]"),
            switch("open", "open").requires("output").help("Open the written file with xdg-open"),
            chart.help("Chart of --as svg or png; differences compares two runs or sides"),
            all.help("Export all stored runs, newest first (--as site)"),
            summary.help("Append the report as Markdown to the file in GITHUB_STEP_SUMMARY"),
            redact(),
        ];
        flags.extend(sides(" (--as html, svg or png)"));
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
        site::write(&runs, &ids(matches, &store)?, text("output"), matches.get_flag("yes"))?;
        return Ok(Exit::Ok);
    }
    if matches.get_flag("all") {
        return Err(Error::plan("--all needs --as site", "pass --as site --output FOLDER"));
    }
    let of_sides = ["baseline", "candidate"].iter().any(|side| matches.contains_id(side));
    if text("as") == Some("jsonl") && !of_sides {
        let (ids, output) = (ids(matches, &store)?, text("output").filter(|output| *output != "-"));
        let id = of_one::single(&ids, "jsonl")?;
        of_one::events(&runs, id, output.map(Path::new), matches.get_flag("yes"))?;
        return if matches.get_flag("open") { shown(output.unwrap_or_default()) } else { Ok(()) }.map(|()| Exit::Ok);
    }
    let drawn = text("as") == Some("png");
    if drawn {
        pixels::refuse_without_png()?;
    }
    let exported = match both_sides(matches, &runs)? {
        Some(sides) => comparison(matches, &runs, &sides)?,
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

/// The ids of the named runs, or of all.
fn ids(matches: &ArgMatches, store: &Store) -> Result<Vec<String>> {
    if matches.get_flag("all") {
        return store.ids();
    }
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

/// The two sides to compare on a page or in a chart: --baseline and --candidate, or two runs.
fn both_sides(matches: &ArgMatches, runs: &Runs) -> Result<Option<Sides>> {
    let store = runs.store();
    let text = |name| matches.get_one::<String>(name).map(String::as_str);
    let (page, picture) = (text("as") == Some("html"), is_picture(matches));
    if matches.contains_id("baseline") || matches.contains_id("candidate") {
        if !page && !picture {
            let next = "pass --as html, or --as svg --chart differences";
            return Err(Error::plan("--baseline and --candidate need a page or a chart", next));
        }
        return compare_sides::redacted(compare_sides::of_stored(matches, store)?, runs).map(Some);
    }
    let of_two = page || (picture && text("chart") == Some(charts::DIFFERENCES));
    match ids(matches, store)?.as_slice() {
        [a, b] if of_two => compare_sides::redacted(compare_sides::of_two(store, [a, b])?, runs).map(Some),
        _ => Ok(None),
    }
}

fn is_picture(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("as").is_some_and(|form| form == "svg" || form == "png")
}

/// The page or the chart of two sides.
fn comparison(matches: &ArgMatches, runs: &Runs, sides: &Sides) -> Result<String> {
    let compared = compare::differences(matches, runs.store(), sides)?;
    if is_picture(matches) {
        let chart = matches.get_one::<String>("chart").map_or(charts::DIFFERENCES, String::as_str);
        let (baseline, candidate) = (of_runs(&sides.baseline), of_runs(&sides.candidate));
        let drawing = charts::comparison_chart(chart, &compared, [&baseline, &candidate])?;
        return Ok(drawing.file(&charts::caption(&[baseline, candidate].concat())));
    }
    let (a, b) = (PageRun::of(&sides.baseline), PageRun::of(&sides.candidate));
    Ok(html::comparison(&compared, &PageRun::subjects(&a), &PageRun::subjects(&b)))
}

struct PageRun<'a> {
    run: &'a Run,
    analysis: &'a Analysis,
    report: Report,
    before: String,
}

impl<'a> PageRun<'a> {
    fn of(runs: &'a [(Run, Analysis)]) -> Vec<Self> {
        let of_run = |(run, analysis): &'a (Run, Analysis)| Self {
            run,
            analysis,
            report: mindful_report::run_report(run, analysis, None, Detail::Full),
            before: context::found_plan(&run.head.settings),
        };
        runs.iter().map(of_run).collect()
    }

    fn subjects(runs: &[Self]) -> Vec<Subject<'_>> {
        let mut subjects = Vec::new();
        for Self { run, analysis, report, before } in runs {
            subjects.push(Subject { run, analysis, report, before });
        }
        subjects
    }
}

fn shown(file: &str) -> Result<()> {
    let why = match Command::new("xdg-open").arg(file).stdout(Stdio::null()).status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Err(Error::run(format!("xdg-open cannot open {file}: {why}"), "the file is written: open it yourself"))
}

pub(super) fn page(runs: &Runs, ids: &[String]) -> Result<String> {
    let runs = ids.iter().map(|id| runs.read(id)).collect::<Result<Vec<_>>>()?;
    Ok(html::page(&PageRun::subjects(&PageRun::of(&runs))))
}

fn picture(runs: &Runs, ids: &[String], chart: &str) -> Result<String> {
    let runs = ids.iter().map(|id| runs.read(id)).collect::<Result<Vec<_>>>()?;
    let sides = of_runs(&runs);
    Ok(charts::named(chart, &sides)?.file(&charts::caption(&sides)))
}

fn of_runs(runs: &[(Run, Analysis)]) -> Vec<charts::Side<'_>> {
    runs.iter().map(|(run, analysis)| (run, analysis)).collect()
}
