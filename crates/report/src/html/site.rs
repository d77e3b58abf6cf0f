//! Many runs as a folder of pages: an index with filters and a small picture a run, and a page each. No script: what is
//! filtered is so by the style sheet.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mindful_analyze::Analysis;
use mindful_analyze::figures::columns::columns;
use mindful_core::record::run::Run;

use crate::drawing::scale::drawable;
use crate::figure::{self, format_counted};
use crate::html::{self, Subject};
use crate::markup::escaped_text;
use crate::{card, list};

const STYLE: &str = include_str!("site.css");
/// Columns of time in the small picture of a step.
const COLUMNS: usize = 40;
/// So many values of a filter can be chosen; those of most runs.
const MOST_CHOICES: usize = 12;
type Value = fn(&IndexedRun) -> &str;
/// What can be filtered by: the name of it, and how a row says it.
const FILTERS: [(&str, Value); 4] = [
    ("validity", |row| row.validity),
    ("engine", |row| &row.engine),
    ("kind", |row| row.kind),
    ("tag", |row| &row.tag),
];

#[derive(Debug, Clone)]
pub struct IndexedRun {
    id: String,
    started_at: String,
    validity: &'static str,
    engine: String,
    kind: &'static str,
    tag: String,
    target: String,
    figure: String,
    label: String,
    p99: String,
    over_time: Vec<f64>,
    over_time_of: String,
    fault: Option<String>,
}

impl IndexedRun {
    pub fn from_run(run: &Run, analysis: &Analysis) -> Self {
        let summary = &analysis.summary;
        let best = card::best(analysis).map(|(_, step)| step);
        let headline = best.map(|step| card::step_card(step, None)).and_then(|card| card.headline);
        let p99 = best.and_then(|step| step.summary.ops.main()).and_then(|op| op.p99_us);
        let (over_time, over_time_of) = over_time(run, analysis);
        let (figure, label) = if let Some(contrast) = &summary.contrast {
            (contrast.eta.map(|ratio| format!("{ratio:.3}")), "ratio of database to raw".to_owned())
        } else if let Some(commits) = &summary.commits {
            (commits.ratio.map(|ratio| format!("{ratio:.3}")), "ratio of commits to bare writes".to_owned())
        } else {
            headline.map_or_else(Default::default, |headline| (Some(headline.figure), headline.label))
        };
        Self {
            id: summary.id.clone(),
            started_at: summary.started_at.clone(),
            validity: card::word(summary.validity),
            engine: summary.engine.clone(),
            kind: list::kind(&run.head, Some(summary)),
            tag: summary.tag.clone().unwrap_or_default(),
            target: summary.target.clone(),
            figure: figure.unwrap_or_else(|| figure::UNKNOWN.to_owned()),
            label,
            p99: p99.map_or_else(|| figure::UNKNOWN.to_owned(), figure::time_us),
            over_time,
            over_time_of,
            fault: None,
        }
    }

    pub fn unreadable(id: &str, why: &str) -> Self {
        Self {
            id: id.to_owned(),
            started_at: String::new(),
            validity: card::word(mindful_core::result::Validity::Invalid),
            engine: String::new(),
            kind: "",
            tag: String::new(),
            target: String::new(),
            figure: figure::UNKNOWN.to_owned(),
            label: String::new(),
            p99: figure::UNKNOWN.to_owned(),
            over_time: Vec::new(),
            over_time_of: String::new(),
            fault: Some(why.to_owned()),
        }
    }

    pub fn is_readable(&self) -> bool {
        self.fault.is_none()
    }

    pub fn file(id: &str) -> String {
        format!("{id}.html")
    }
}

/// The page of one run, with the way back to all of them.
pub fn page(subject: Subject) -> String {
    html::page(&[subject]).replacen("<main>\n", "<main>\n<p><a href=\"index.html\">all runs</a></p>\n", 1)
}

pub fn index(rows: &[IndexedRun]) -> String {
    let filters = FILTERS.map(|(name, value)| (name, value, choices(rows, value)));
    let mut html = html::head("mindful: all runs", &format!("{STYLE}{}", rules(&filters)));
    let _ = writeln!(html, "<h1>{}</h1>", format_counted(rows.len(), "run"));
    html.push_str("<form>\n");
    for (name, _, choices) in filters.iter().filter(|(_, _, choices)| choices.len() > 1) {
        let _ = write!(html, "<fieldset>\n<legend>{name}</legend>\n{}", radio(name, 0, "all", true));
        for (at, choice) in (1..).zip(choices) {
            html.push_str(&radio(name, at, choice, false));
        }
        html.push_str("</fieldset>\n");
    }
    html.push_str("</form>\n<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table of the runs\"><table class=\"runs\">\n<thead><tr>");
    for title in ["run", "began", "validity", "kind", "most", "what it counts", "p99", "over time", "tag", "target"] {
        let _ = write!(html, "<th scope=\"col\">{title}</th>");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str(&table_row(row, &filters));
    }
    html.push_str("</tbody>\n</table></div>\n</main>\n</body>\n</html>\n");
    html
}

type Filter = (&'static str, Value, Vec<String>);

/// The values of a filter, that of most runs first.
fn choices(rows: &[IndexedRun], value: Value) -> Vec<String> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows.iter().map(value).filter(|value| !value.is_empty()) {
        *count.entry(row).or_default() += 1;
    }
    let mut all: Vec<_> = count.into_iter().collect();
    all.sort_by_key(|(_, runs)| std::cmp::Reverse(*runs));
    all.into_iter().take(MOST_CHOICES).map(|(value, _)| value.to_owned()).collect()
}

/// What hides the rows that a filter leaves out. Values stand for themselves by their number: none becomes part of a rule.
fn rules(filters: &[Filter]) -> String {
    let mut css = String::new();
    for (name, _, choices) in filters {
        for at in 1..=choices.len() {
            let others = format!("tbody tr:not([data-{name}=\"{at}\"])");
            let _ = writeln!(css, "main:has(#{name}-{at}:checked) {others} {{ display: none; }}");
        }
    }
    css
}

fn radio(name: &str, at: usize, choice: &str, chosen: bool) -> String {
    let checked = if chosen { " checked" } else { "" };
    format!(
        "<label><input type=\"radio\" name=\"{name}\" id=\"{name}-{at}\"{checked}> {}</label>\n",
        escaped_text(&crate::escape::escape_to(choice, 40))
    )
}

fn table_row(row: &IndexedRun, filters: &[Filter]) -> String {
    let mut html = String::from("<tr");
    for (name, value, choices) in filters {
        if let Some(at) = choices.iter().position(|choice| choice == value(row)) {
            let _ = write!(html, " data-{name}=\"{}\"", at + 1);
        }
    }
    let id = escaped_text(&row.id);
    let _ = match &row.fault {
        None => write!(html, "><th scope=\"row\"><a href=\"{id}.html\">{id}</a></th>"),
        Some(fault) => {
            write!(html, "><th scope=\"row\">{id}<br><span class=\"place\">{}</span></th>", escaped_text(fault))
        }
    };
    let began = row.started_at.get(..16).unwrap_or(&row.started_at).replace('T', " ");
    let class = row.validity.to_lowercase();
    let _ = write!(html, "<td>{}</td><td><span class=\"{class}\">{}</span></td>", escaped_text(&began), row.validity);
    for cell in [row.kind, &row.figure, &row.label, &row.p99] {
        let _ = write!(html, "<td>{}</td>", escaped_text(cell));
    }
    let _ = write!(html, "<td>{}</td>", spark(row));
    for cell in [&row.tag, &row.target] {
        let _ = write!(html, "<td>{}</td>", escaped_text(&crate::escape::escape_to(cell, 40)));
    }
    html.push_str("</tr>\n");
    html
}

/// Throughput over the seconds of a single step, or over the steps of several.
fn over_time(run: &Run, analysis: &Analysis) -> (Vec<f64>, String) {
    if let ([record], [step]) = (run.steps.as_slice(), analysis.steps.as_slice()) {
        let all = step.window.as_ref().map(|window| columns(record, window, COLUMNS)).unwrap_or_default();
        return (all.iter().filter_map(|column| column.blocks_per_s).collect(), "throughput over time".to_owned());
    }
    let per_s = analysis.steps.iter().filter_map(|step| step.headline.as_ref()).map(|headline| headline.per_s);
    (per_s.collect(), format!("throughput of {}", format_counted(analysis.steps.len(), "step")))
}

/// A small line from 0 up: how it went, without figures.
fn spark(row: &IndexedRun) -> String {
    const WIDE: f64 = 120.0;
    const HIGH: f64 = 26.0;
    let values: Vec<f64> = row.over_time.iter().copied().filter(|value| drawable(*value) && *value >= 0.0).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    if values.len() < 2 || most <= 0.0 {
        return figure::UNKNOWN.to_owned();
    }
    let step = WIDE / (values.len() - 1) as f64;
    let mut path = String::new();
    for (at, value) in values.iter().enumerate() {
        let letter = if at == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{letter}{:.1} {:.1}", 1.0 + step * at as f64, 1.0 + HIGH * (1.0 - value / most));
    }
    format!(
        "<svg class=\"spark\" viewBox=\"0 0 122 28\" width=\"122\" height=\"28\" role=\"img\" aria-label=\"{}\">\
         <path class=\"line c1\" d=\"{path}\"/></svg>",
        escaped_text(&row.over_time_of)
    )
}
