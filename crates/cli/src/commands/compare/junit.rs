//! A comparison with a gate as JUnit XML.

use std::collections::BTreeSet;
use std::path::Path;

use clap::ArgMatches;
use mindful_analyze::Analysis;
use mindful_analyze::compare::PointComparison;
use mindful_core::record::run::Run;
use mindful_core::{Error, Result};
use mindful_report::junit::{self, Case, Ending};
use mindful_runner::repetition::Side;

use super::gate::{Gate, Outcome};
use super::history::History;
use super::reported::Reported;
use super::text;
use crate::commands::file;
use crate::exit::Exit;

/// Refuses, before anything is run, a file that is there and that nobody said to replace.
pub fn refuse_to_replace(matches: &ArgMatches) -> Result<()> {
    let there = matches.get_one::<String>("junit").filter(|path| Path::new(path).symlink_metadata().is_ok());
    match there.filter(|_| !matches.get_flag("yes")) {
        Some(path) => Err(Error::plan(format!("{path} exists"), "choose another --junit, or pass --yes to replace it")),
        None => Ok(()),
    }
}

/// Writes a case a point to the file of `--junit`, if there is one.
pub fn write(matches: &ArgMatches, gate: &Gate, reported: &Reported, [baseline, candidate]: [&Side; 2]) -> Result<()> {
    let Some(path) = matches.get_one::<String>("junit") else { return Ok(()) };
    let cases: Vec<Case> =
        reported.points.iter().enumerate().map(|(at, point)| of(gate, reported, at, point)).collect();
    let mut properties = vec![
        ("gate", gate.text().to_owned()),
        ("figure", reported.figure.unit().to_owned()),
        ("baseline", ids(baseline)),
        ("candidate", ids(candidate)),
        (
            "differing",
            reported.differing.iter().map(|d| format!("{}: {}", d.fact, d.sides())).collect::<Vec<_>>().join("; "),
        ),
    ];
    properties.extend(notices(baseline.iter().chain(candidate)));
    let [from, to] = &reported.names;
    let xml = junit::suite(
        &format!("{to} against {from}"),
        &properties,
        &cases,
        &text::report(reported, baseline, candidate),
    );
    file::write(Path::new(path), xml.as_bytes(), true)
}

/// The same of a series, which is one case.
pub fn write_history(matches: &ArgMatches, gate: &Gate, outcome: Outcome, history: &History) -> Result<()> {
    let Some(path) = matches.get_one::<String>("junit") else { return Ok(()) };
    let report = history.text();
    let why = report.lines().next().unwrap_or_default();
    let case = Case { name: "last level by first".to_owned(), ending: ending(gate, outcome, why) };
    let mut properties = vec![("gate", gate.text().to_owned())];
    properties.extend(notices(history.runs().iter()));
    let xml = junit::suite("history", &properties, &[case], &report);
    file::write(Path::new(path), xml.as_bytes(), true)
}

fn of(gate: &Gate, reported: &Reported, at: usize, point: &PointComparison) -> Case {
    let alone = reported.points.len() == 1;
    let name =
        if alone { reported.figure.unit().to_owned() } else { format!("{} at {}", reported.figure.unit(), point.load) };
    let why = reported.medians.get(at).map_or_else(String::new, |both| text::line(&point.comparison, *both, reported));
    Case { name, ending: ending(gate, gate.of(std::slice::from_ref(point)), &why) }
}

fn ending(gate: &Gate, outcome: Outcome, why: &str) -> Ending {
    let why = format!("{}; {why}", gate.line(outcome));
    match outcome {
        Outcome::Passed => Ending::Passed,
        Outcome::Crossed => Ending::Failed("crossed", why),
        Outcome::Undecided if gate.exit(outcome) == Exit::Ok => Ending::Skipped(why),
        Outcome::Undecided => Ending::Failed("undecided", why),
    }
}

/// What the targets of `runs` ask every report of their figures to say, each once.
fn notices<'a>(runs: impl Iterator<Item = &'a (Run, Analysis)>) -> Option<(&'static str, String)> {
    let reported: BTreeSet<&str> = runs.filter_map(|(_, analysis)| analysis.summary.notice.as_deref()).collect();
    (!reported.is_empty()).then(|| ("notice", reported.into_iter().collect::<Vec<_>>().join(" ")))
}

fn ids(side: &Side) -> String {
    side.iter().map(|(run, _)| run.head.id.clone()).collect::<Vec<_>>().join(" ")
}
