//! What several runs on a page say together, before any of them.

use std::fmt::Write as _;

use mindful_analyze::compare::comparable;
use mindful_core::record::run::Run;

use super::panels;
use crate::card;
use crate::charts::{self, Side, differences};
use crate::compared::Compared;
use crate::drawing::frame;
use crate::markup::text;

/// Runs beside each other: what they are not alike in, and their charts.
pub fn runs(html: &mut String, sides: &[Side], number: &mut usize) {
    let _ = writeln!(html, "<h1>{} runs</h1>", sides.len());
    let (first, others) = sides.split_at(1);
    not_alike(html, first, others, "The first run against the others");
    html.push_str("<section>\n<h2>Beside each other</h2>\n");
    html.push_str(&frame::table(
        &BESIDE.map(str::to_owned),
        &sides.iter().map(|side| beside(*side)).collect::<Vec<_>>(),
    ));
    drawn(html, &charts::of_page(sides), number);
    html.push_str("</section>\n");
}

/// The two sides of a comparison: what they are not alike in, their differences, their runs and their charts.
pub fn both(html: &mut String, compared: &Compared, [baseline, candidate]: [&[Side]; 2], number: &mut usize) {
    let [before, after] = compared.names.each_ref().map(|name| text(name));
    let _ = writeln!(html, "<h1>{after} against {before}</h1>");
    not_alike(html, baseline, candidate, "The baseline against the candidate");
    let all = [baseline, candidate].concat();
    html.push_str("<section>\n<h2>Differences</h2>\n");
    for (at, line) in compared.said.iter().enumerate() {
        let (open, close) = if at == 0 { ("<strong>", "</strong>") } else { ("", "") };
        let _ = writeln!(html, "<p>{open}{}{close}</p>", text(line));
    }
    drawn(html, &Vec::from_iter(differences::drawing(compared, charts::doubt(&all))), number);
    if let Some((titles, rows)) = differences::table(compared).split_first().filter(|(_, rows)| !rows.is_empty()) {
        html.push_str(&frame::table(titles, rows));
    }
    html.push_str("</section>\n<section>\n<h2>Beside each other</h2>\n");
    let titles: Vec<String> = std::iter::once("side").chain(BESIDE).map(str::to_owned).collect();
    let roles = baseline.iter().map(|_| "baseline").chain(candidate.iter().map(|_| "candidate"));
    let row = |(role, side): (&str, &Side)| [vec![role.to_owned()], beside(*side)].concat();
    html.push_str(&frame::table(&titles, &roles.zip(&all).map(row).collect::<Vec<_>>()));
    let several = all.iter().any(|(run, _)| run.steps.len() > 1);
    let groups = [(compared.names[0].as_str(), baseline), (compared.names[1].as_str(), candidate)];
    let charts = charts::of_groups(groups);
    let charts: Vec<_> = charts.into_iter().filter(|drawing| several || drawing.name == "latency-iops").collect();
    drawn(html, &charts, number);
    html.push_str("</section>\n");
}

fn not_alike(html: &mut String, baseline: &[Side], candidate: &[Side], which: &str) {
    let runs = |sides: &[Side]| sides.iter().map(|(run, _)| (*run).clone()).collect::<Vec<Run>>();
    let differences = comparable::differences(&runs(baseline), &runs(candidate));
    html.push_str("<section>\n<h2>What is not alike</h2>\n");
    if differences.is_empty() {
        html.push_str("<p>Nothing that their figures depend on: the runs may be compared.</p>\n");
    } else {
        let _ = writeln!(html, "<p>{which}: their figures differ for these reasons, too.</p>");
        let pairs: Vec<_> = differences.iter().map(|one| (one.fact.clone(), one.sides())).collect();
        html.push_str(&panels::list(&pairs));
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

const BESIDE: [&str; 6] = ["run", "validity", "steps", "most", "what it counts", "tag"];

fn beside((_, analysis): Side) -> Vec<String> {
    let summary = &analysis.summary;
    let best = card::best(analysis).map(|(_, step)| card::of_step(step, None)).and_then(|card| card.headline);
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
