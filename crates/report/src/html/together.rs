//! Several runs on one page: what differs, a table of the runs, and charts of all of them.

use std::fmt::Write as _;

use mindful_analyze::compare::comparable;
use mindful_core::record::run::Run;

use super::panels;
use crate::card;
use crate::charts::{self, Side, differences};
use crate::comparison::difference::Differences;
use crate::drawing::frame;
use crate::markup::escaped_text;

/// Several runs: what differs, and their charts.
pub(super) fn runs(html: &mut String, title: &str, sides: &[Side], number: &mut usize) {
    let _ = writeln!(html, "<h1>{}</h1>", escaped_text(title));
    let (first, others) = sides.split_at(1);
    differing_facts(html, first, others, "The first run and the others differ");
    html.push_str("<section>\n<h2>The runs</h2>\n");
    html.push_str(&frame::table(
        &RUN_TITLES.map(str::to_owned),
        &sides.iter().map(|side| run_cells(*side)).collect::<Vec<_>>(),
    ));
    drawn(html, &charts::page_charts(sides), number);
    html.push_str("</section>\n");
}

/// Two sides of a comparison: the verdict, what differs, their runs and their charts.
pub(super) fn both(
    html: &mut String,
    title: &str,
    compared: &Differences,
    [baseline, candidate]: [&[Side]; 2],
    number: &mut usize,
) {
    let _ = writeln!(html, "<h1>{}</h1>", escaped_text(title));
    for (at, line) in compared.sentences.iter().enumerate() {
        let class = if at == 0 { " class=\"lead\"" } else { "" };
        let _ = writeln!(html, "<p{class}>{}</p>", escaped_text(line));
    }
    differing_facts(html, baseline, candidate, "Baseline and candidate differ");
    let all = [baseline, candidate].concat();
    html.push_str("<section>\n<h2>Differences</h2>\n");
    html.push_str("<div class=\"charts\">\n");
    if let Some(drawing) = differences::drawing(compared, charts::doubt(&all)) {
        *number += 1;
        html.push_str(&drawing.figure(*number));
    }
    if let Some((titles, rows)) = differences::table(compared).split_first().filter(|(_, rows)| !rows.is_empty()) {
        html.push_str(&frame::table(titles, rows));
    }
    html.push_str("</div>\n</section>\n<section>\n<h2>The runs</h2>\n");
    let titles: Vec<String> = std::iter::once("side").chain(RUN_TITLES).map(str::to_owned).collect();
    let roles = baseline.iter().map(|_| "baseline").chain(candidate.iter().map(|_| "candidate"));
    let row = |(role, side): (&str, &Side)| [vec![role.to_owned()], run_cells(*side)].concat();
    html.push_str(&frame::table(&titles, &roles.zip(&all).map(row).collect::<Vec<_>>()));
    let several = all.iter().any(|(run, _)| run.steps.len() > 1);
    let groups = [(compared.names[0].as_str(), baseline), (compared.names[1].as_str(), candidate)];
    let charts = charts::group_charts(groups);
    let charts: Vec<_> = charts.into_iter().filter(|drawing| several || drawing.name == "latency-iops").collect();
    drawn(html, &charts, number);
    html.push_str("</section>\n");
}

fn differing_facts(html: &mut String, baseline: &[Side], candidate: &[Side], which: &str) {
    let runs = |sides: &[Side]| sides.iter().map(|(run, _)| (*run).clone()).collect::<Vec<Run>>();
    let differences = comparable::differences(&runs(baseline), &runs(candidate));
    html.push_str("<section>\n<h2>What differs</h2>\n");
    if differences.is_empty() {
        html.push_str("<p>Nothing that the figures depend on: the runs are comparable.</p>\n");
    } else {
        let _ = writeln!(html, "<p>{which} in these facts, which also change the figures:</p>");
        let pairs: Vec<_> = differences.iter().map(|one| (one.fact.clone(), one.sides())).collect();
        html.push_str(&panels::list(&pairs));
    }
    let places = comparable::circumstances(&runs(baseline), &runs(candidate));
    if !places.is_empty() {
        html.push_str("<p>They were measured in different places or by different versions:</p>\n");
        html.push_str(&panels::list(&places.iter().map(|one| (one.fact.clone(), one.sides())).collect::<Vec<_>>()));
    }
    html.push_str("</section>\n");
}

fn drawn(html: &mut String, drawings: &[frame::Drawing], number: &mut usize) {
    html.push_str("<div class=\"charts\">\n");
    for drawing in drawings {
        *number += 1;
        html.push_str(&drawing.figure(*number));
    }
    html.push_str("</div>\n");
}

const RUN_TITLES: [&str; 6] = ["run", "validity", "steps", "highest figure", "what it counts", "tag"];

fn run_cells((_, analysis): Side) -> Vec<String> {
    let summary = &analysis.summary;
    let best = card::best(analysis).map(|(_, step)| card::step_card(step, None)).and_then(|card| card.headline);
    let (figure, label) = best.map(|best| (best.figure, best.label)).unwrap_or_default();
    vec![
        summary.id.clone(),
        card::word(summary.validity).to_owned(),
        analysis.steps.len().to_string(),
        figure,
        label,
        summary.tag.clone().unwrap_or_default(),
    ]
}
