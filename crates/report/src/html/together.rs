//! Several runs on one page: their differences, a table of the runs, and charts of all of them.

use std::fmt::Write as _;

use mindful_analyze::compare::{comparable, provenance};
use mindful_core::record::run::Run;
use mindful_core::result::Validity;
use mindful_core::result::ranking::{RankedGroup, RankingSummary};

use super::{heading, panels};
use crate::card;
use crate::charts::{self, Side, differences};
use crate::comparison::Differences;
use crate::comparison::ranking;
use crate::drawing::frame;
use crate::figure::{UNKNOWN, maybe};
use crate::markup::{escaped_text, paragraph};
use crate::panels::place;
use crate::table::Table;

pub(super) fn runs(html: &mut String, title: &str, sides: &[Side]) {
    let _ = writeln!(html, "<h1>{}</h1>", escaped_text(title));
    let names: Vec<&str> = sides.iter().map(|(run, _)| run.head.id.as_str()).collect();
    let by_id: Vec<(&str, &[Side])> = names.iter().copied().zip(sides.chunks(1)).collect();
    what_differs(html, &by_id);
    places(html, &by_id);
    html.push_str("<section>\n<h2>The runs</h2>\n");
    html.push_str(&frame::table(
        &RUN_TITLES.map(str::to_owned),
        &sides.iter().map(|side| run_cells(*side)).collect::<Vec<_>>(),
    ));
    frame::add_figures(html, &charts::page_charts(sides));
    html.push_str("</section>\n");
}

/// Two sides of a comparison: the verdict, their facts and differences, their runs and their charts.
pub(super) fn both(html: &mut String, title: &str, compared: &Differences, [baseline, candidate]: [&[Side]; 2]) {
    lead(html, title, &compared.sentences);
    let named = [(compared.names[0].as_str(), baseline), (compared.names[1].as_str(), candidate)];
    what_differs(html, &named);
    places(html, &named);
    let all = [baseline, candidate].concat();
    html.push_str("<section>\n<h2>Differences</h2>\n");
    frame::add_figures(html, differences::drawing(compared).as_slice());
    if let Some((titles, rows)) = differences::table(compared).split_first().filter(|(_, rows)| !rows.is_empty()) {
        html.push_str(&frame::table(titles, rows));
    }
    html.push_str("</section>\n<section>\n<h2>The runs</h2>\n");
    let titles: Vec<String> = std::iter::once("side").chain(RUN_TITLES).map(str::to_owned).collect();
    let roles = named.iter().flat_map(|(name, sides)| sides.iter().map(move |_| *name));
    let row = |(role, side): (&str, &Side)| [vec![role.to_owned()], run_cells(*side)].concat();
    html.push_str(&frame::table(&titles, &roles.zip(&all).map(row).collect::<Vec<_>>()));
    frame::add_figures(html, &curves_of(&named));
    html.push_str("</section>\n");
}

/// Where each of several sides was measured.
fn places(html: &mut String, named: &[(&str, &[Side])]) {
    let facts = named
        .iter()
        .map(|(name, sides)| ((*name).to_owned(), provenance::joined_provenance(sides.iter().map(|(run, _)| *run))));
    let facts: Vec<_> = facts.collect();
    let sides: Vec<_> = facts.iter().map(|(name, facts)| (name.clone(), facts.as_slice())).collect();
    let _ = write!(html, "<section>\n{}</section>\n", panels::panel_html(&place::of_sides(&sides)));
}

/// Several sides in order: the result, the ranks of each group, and the curves of all.
pub(super) fn ranked(html: &mut String, title: &str, summary: &RankingSummary, named: &[(&str, Vec<Side>)]) {
    lead(html, title, &summary.sentences);
    for (at, group) in summary.groups.iter().enumerate() {
        let _ = writeln!(html, "<section>\n<h2>{}</h2>", escaped_text(&ranking::heading(&group.measured)));
        order(html, summary, group);
        html.push_str(&panels::panel_html(&ranking::places(group)));
        if let Some(table) = ranking::differences_table(group) {
            html.push_str("<h3>What differs</h3>\n");
            table_of(html, &table);
        }
        let members = named.iter().filter(|(name, _)| group.sides.iter().any(|side| side.name == **name));
        let members: Vec<_> = members.map(|(name, sides)| (*name, sides.as_slice())).collect();
        let drawings: Vec<_> = charts::rank_charts(summary, at).chain(curves_of(&members)).collect();
        frame::add_figures(html, &drawings);
        html.push_str("</section>\n");
    }
}

/// The ranks of a group, and their basis.
pub(super) fn order(html: &mut String, summary: &RankingSummary, group: &RankedGroup) {
    table_of(html, &ranking::order_table(summary, group));
    for note in ranking::notes(summary, group) {
        html.push_str(&paragraph("", &note));
    }
}

fn lead(html: &mut String, title: &str, sentences: &[String]) {
    let _ = writeln!(html, "<h1>{}</h1>", escaped_text(title));
    for (at, line) in sentences.iter().enumerate() {
        html.push_str(&paragraph(if at == 0 { "lead" } else { "" }, line));
    }
}

fn table_of(html: &mut String, table: &Table) {
    if let Some((titles, rows)) = table.rows().split_first() {
        html.push_str(&frame::table(titles, rows));
    }
}

/// Curves over load, or the points of single steps.
fn curves_of(named: &[(&str, &[Side])]) -> Vec<frame::Drawing> {
    let several = named.iter().flat_map(|(_, sides)| *sides).any(|(run, _)| run.steps.len() > 1);
    let marked = named.iter().map(|(name, sides)| {
        let worst = sides.iter().map(|(_, analysis)| analysis.summary.validity).max();
        let mark = worst.filter(|worst| *worst > Validity::Valid).map(|worst| format!(" {}", worst.name()));
        (format!("{name}{}", mark.unwrap_or_default()), *sides)
    });
    let marked: Vec<_> = marked.collect();
    let groups: Vec<_> = marked.iter().map(|(name, sides)| (name.as_str(), *sides)).collect();
    let drawings = charts::group_charts(&groups);
    drawings.into_iter().filter(|drawing| several || drawing.name() == "latency-iops").collect()
}

/// The facts of each side, and every setting, version, target and host that differs.
fn what_differs(html: &mut String, named: &[(&str, &[Side])]) {
    html.push_str("<section>\n<h2>What is compared</h2>\n");
    let runs: Vec<Vec<Run>> =
        named.iter().map(|(_, sides)| sides.iter().map(|(run, _)| (*run).clone()).collect()).collect();
    let groups: Vec<&[Run]> = runs.iter().map(Vec::as_slice).collect();
    let titles: Vec<String> =
        std::iter::once("").chain(named.iter().map(|(name, _)| *name)).map(str::to_owned).collect();
    let mut rows = vec![labelled_row("runs", named, |runs| runs.len().to_string())];
    rows.push(labelled_row("engine", named, |runs| each_once(runs, |run| Some(engine(run)))));
    rows.push(labelled_row("target", named, |runs| each_once(runs, |run| Some(run.head.target.clone()))));
    rows.push(labelled_row("machine", named, |runs| each_once(runs, comparable::machine)));
    rows.push(labelled_row("measured", named, first_to_last));
    let differing = comparable::all_differences(&groups);
    if differing.is_empty() {
        html.push_str("<p>No setting, version, target or host differs.</p>\n");
    }
    let known = ["engine", "target"];
    for (name, values) in differing.into_iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        let values = values.into_iter().map(|value| value.unwrap_or_else(|| provenance::NOT_STATED.to_owned()));
        rows.push(std::iter::once(name).chain(values).collect());
    }
    html.push_str(&frame::table(&titles, &rows));
    html.push_str("</section>\n");
}

fn labelled_row(what: &str, named: &[(&str, &[Side])], of: impl Fn(&[Side]) -> String) -> Vec<String> {
    std::iter::once(what.to_owned()).chain(named.iter().map(|(_, sides)| of(sides))).collect()
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

const RUN_TITLES: [&str; 6] = ["run", "validity", "steps", "highest blocks/s", "limited by", "tag"];

/// The figure by which sides are compared, under one name for all limits.
fn run_cells((_, analysis): Side) -> Vec<String> {
    let summary = &analysis.summary;
    let limit = card::limit_of_best(analysis);
    let highest = summary.steps.iter().filter_map(|step| step.blocks_visited_per_s).reduce(f64::max);
    vec![
        summary.id.clone(),
        summary.validity.name().to_owned(),
        analysis.steps.len().to_string(),
        maybe(highest),
        limit.map_or_else(|| UNKNOWN.to_owned(), |limit| limit.trim_start_matches("limited by ").to_owned()),
        summary.tag.clone().unwrap_or_default(),
    ]
}
