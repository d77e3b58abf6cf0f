//! `mindful awr`: AWR and Statspack reports, one row each.

use clap::ArgMatches;
use mindful_core::result::finding::Severity;
use mindful_core::{Error, Result};
use mindful_import::OldStep;
use mindful_import::rows::{self, ReportRow};

use crate::args::flags::{old_files, option};
use crate::commands::import::{Named, files};
use crate::context;
use crate::exit::Exit;
use crate::verb::{Action, Verb};

pub(super) const VERB: Verb = Verb {
    name: "awr",
    about: "Print AWR and Statspack reports, one row each",
    details: "Nothing is stored; `mindful import` stores the reports as runs.",
    example: "mindful awr reports/ --format awr_info",
    page: "docs/old-results.md",
    plan: None,
    arguments: || {
        let format = option("format", "format", "FORMAT")
            .value_parser(["text", "json", "csv", "awr_info", "flashdba"])
            .hide_possible_values(true)
            .default_value("text");
        vec![
            old_files("Reports, text or HTML, gzip or not: files, folders, patterns, or - for stdin"),
            format.help("text: a table; csv, json: all figures; awr_info: SLOB; flashdba: its parser"),
        ]
    },
    action: Action::Run(awr),
};

fn awr(matches: &ArgMatches) -> Result<Exit> {
    let mut measured: Vec<OldStep> = Vec::new();
    let mut refused = Vec::new();
    for named in files::named(matches)? {
        let read = match &named {
            Named::Run(run) | Named::Pack(run) => Err(no_report(&run.display().to_string(), "run of mindful")),
            Named::File { path, .. } => files::read(path),
        };
        match read {
            Ok(steps) => match steps.iter().find(|step| ReportRow::of(step).is_none()) {
                Some(step) => refused.push(no_report(&step.file, step.what)),
                None => measured.extend(steps),
            },
            Err(error) => refused.push(error),
        }
    }
    let rows: Vec<ReportRow<'_>> = measured.iter().filter_map(ReportRow::of).collect();
    if rows.is_empty()
        && let Some(error) = refused.first()
    {
        return Err(error.clone());
    }
    let text = match matches.get_one::<String>("format").map(String::as_str) {
        Some("awr_info") => rows::awr_info(&rows),
        Some("flashdba") => rows::flashdba(&rows),
        Some("csv") => rows::csv(&rows),
        Some("json") => rows::json(&rows),
        _ => {
            let (titles, cells) = rows::table(&rows);
            mindful_report::table_of(&titles, cells)
        }
    };
    context::print(&text)?;
    for step in &measured {
        for finding in step.findings.iter().filter(|finding| finding.severity == Severity::Warning) {
            context::tell(&format!("{}: {}: {} ({})", step.file, finding.code, finding.text, finding.evidence));
        }
    }
    for error in &refused {
        context::tell(&format!("not read: {error}"));
    }
    Ok(Exit::Ok)
}

fn no_report(name: &str, what: &str) -> Error {
    Error::plan(format!("{name} is a {what}, not an AWR or Statspack report"), "store it with `mindful import`")
}
