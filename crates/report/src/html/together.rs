//! Several runs on one page: their differences, a table of the runs, and charts of all of them.

use std::fmt::Write as _;

use mindful_analyze::Analysis;
use mindful_analyze::compare::{comparable, provenance};
use mindful_core::record::run::Run;
use mindful_core::result::ranking::RankingSummary;

use super::{heading, panels};
use crate::card;
use crate::charts::{self, Side, differences};
use crate::comparison::Differences;
use crate::comparison::ranking;
use crate::drawing::frame::{self, Drawing};
use crate::figure::{UNKNOWN, maybe};
use crate::markup::{escaped_text, paragraph, table};
use crate::panels::place;
use crate::table::Side::{Left, Right};
use crate::table::{Column, Table};

pub(super) fn runs(html: &mut String, title: &str, sides: &[Side]) {
    let by_id: Vec<(&str, &[Side])> = sides.iter().map(|(run, _)| run.head.id.as_str()).zip(sides.chunks(1)).collect();
    lead(html, title, &[]);
    what_differs(html, &by_id);
    places(html, &by_id);
    the_runs(html, &by_id, &charts::charts_of_runs(sides));
}

/// Two sides of a comparison: the verdict, their facts and differences, their runs and their charts.
pub(super) fn both(html: &mut String, title: &str, compared: &Differences, [baseline, candidate]: [&[Side]; 2]) {
    lead(html, title, &compared.sentences);
    let named = [(compared.names[0].as_str(), baseline), (compared.names[1].as_str(), candidate)];
    what_differs(html, &named);
    places(html, &named);
    html.push_str("<section>\n<h2>Differences</h2>\n");
    frame::add_figures(html, differences::drawing(compared).as_slice());
    html.push_str(&table(&differences::table(compared)));
    html.push_str("</section>\n");
    the_runs(html, &named, &charts::group_charts(&named));
}

/// Where each of several sides was measured.
fn places(html: &mut String, named: &[(&str, &[Side])]) {
    let facts = |sides: &[Side]| provenance::joined_provenance(sides.iter().map(|(run, _)| *run));
    let sides: Vec<_> = named.iter().map(|(name, sides)| ((*name).to_owned(), facts(sides))).collect();
    let _ = write!(html, "<section>\n{}</section>\n", panels::panel_html(&place::of_sides(&sides)));
}

/// Several sides in order: the result, the ranks of each group, and the curves of all.
pub(super) fn ranked(html: &mut String, title: &str, summary: &RankingSummary, named: &[(&str, Vec<Side>)]) {
    lead(html, title, &summary.sentences);
    if !summary.groups.is_empty() {
        html.push_str("<h2>Sides in order</h2>\n");
    }
    for (at, group) in summary.groups.iter().enumerate() {
        html.push_str("<section>\n");
        html.extend(ranking::group_panels(summary, group).iter().map(panels::panel_html));
        let members = named.iter().filter(|(name, _)| group.sides.iter().any(|side| side.name == **name));
        let members: Vec<_> = members.map(|(name, sides)| (*name, sides.as_slice())).collect();
        let drawings: Vec<_> = charts::rank_charts(summary, at).chain(charts::group_charts(&members)).collect();
        frame::add_figures(html, &drawings);
        html.push_str("</section>\n");
    }
}

fn lead(html: &mut String, title: &str, sentences: &[String]) {
    let _ = writeln!(html, "<h1>{}</h1>", escaped_text(title));
    for (at, line) in sentences.iter().enumerate() {
        html.push_str(&paragraph(if at == 0 { "lead" } else { "" }, line));
    }
}

/// The facts of each side, and every setting, version, target and host that differs.
fn what_differs(html: &mut String, named: &[(&str, &[Side])]) {
    html.push_str("<section>\n<h2>What is compared</h2>\n");
    let runs: Vec<Vec<Run>> =
        named.iter().map(|(_, sides)| sides.iter().map(|(run, _)| (*run).clone()).collect()).collect();
    let groups: Vec<&[Run]> = runs.iter().map(Vec::as_slice).collect();
    let titles: Vec<_> =
        std::iter::once("").chain(named.iter().map(|(name, _)| *name)).map(|name| (name, Left)).collect();
    let mut rows = Table::new(&titles);
    let mut row = |what: &str, of: &dyn Fn(&[Side]) -> String| {
        rows.row(std::iter::once(what.to_owned()).chain(named.iter().map(|(_, sides)| of(sides))).collect());
    };
    row("runs", &|sides| sides.len().to_string());
    row("engine", &|sides| each_once(sides, |run| Some(engine(run))));
    row("target", &|sides| each_once(sides, |run| Some(run.head.target.clone())));
    row("machine", &|sides| each_once(sides, comparable::machine));
    row("measured", &first_to_last);
    let differing = comparable::all_differences(&groups);
    if differing.is_empty() {
        html.push_str("<p>No setting, version, target or host differs.</p>\n");
    }
    let known = ["engine", "target"];
    for (name, values) in differing.into_iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        let values = values.into_iter().map(|value| value.unwrap_or_else(|| provenance::NOT_STATED.to_owned()));
        rows.row(std::iter::once(name).chain(values).collect());
    }
    html.push_str(&table(&rows));
    html.push_str("</section>\n");
}

fn each_once(sides: &[Side], of: impl Fn(&Run) -> Option<String>) -> String {
    let mut values: Vec<String> = sides.iter().filter_map(|(run, _)| of(run)).collect();
    values.sort();
    values.dedup();
    if values.is_empty() { provenance::NOT_STATED.to_owned() } else { values.join(" / ") }
}

/// When the first and the last of `sides` were measured.
fn first_to_last(sides: &[Side]) -> String {
    let dates = || sides.iter().map(|(run, _)| heading::date(run));
    match (dates().min(), dates().max()) {
        (Some(first), Some(last)) if first < last => format!("{first} to {last}"),
        (first, _) => first.unwrap_or_else(|| provenance::NOT_STATED.to_owned()),
    }
}

fn engine(run: &Run) -> String {
    let version = run.description.as_ref().map_or("", |description| description.engine_version.as_str());
    format!("{} {version}", run.head.engine).trim_end().to_owned()
}

/// The runs with the figure by which sides are compared, under one name for all limits, and the charts of all.
fn the_runs(html: &mut String, named: &[(&str, &[Side])], drawings: &[Drawing]) {
    let limit = |analysis| card::limit_of_best(analysis).unwrap_or_else(|| UNKNOWN.to_owned());
    let highest = |analysis: &Analysis| {
        analysis.summary.steps.iter().filter_map(|step| step.blocks_visited_per_s).reduce(f64::max)
    };
    let columns: [Column<(&str, &Analysis)>; 7] = [
        ("side", Left, &|(name, _)| (*name).to_owned()),
        ("run", Left, &|(_, analysis)| analysis.summary.id.clone()),
        ("validity", Left, &|(_, analysis)| analysis.summary.validity.name().to_owned()),
        ("steps", Right, &|(_, analysis)| analysis.steps.len().to_string()),
        ("highest blocks/s", Right, &|(_, analysis)| maybe(highest(analysis))),
        ("limited by", Left, &|(_, analysis)| limit(analysis).trim_start_matches("limited by ").to_owned()),
        ("tag", Left, &|(_, analysis)| analysis.summary.tag.clone().unwrap_or_default()),
    ];
    let is_one_a_run = named.iter().all(|(name, sides)| sides.iter().all(|(run, _)| run.head.id == *name));
    let shown = &columns[usize::from(is_one_a_run)..];
    let runs = named.iter().flat_map(|(name, sides)| sides.iter().map(move |(_, analysis)| (*name, *analysis)));
    html.push_str("<section>\n<h2>The runs</h2>\n");
    html.push_str(&table(&Table::of(&runs.collect::<Vec<_>>(), shown)));
    frame::add_figures(html, drawings);
    html.push_str("</section>\n");
}
