//! The index: all runs in one table, with filters. There is no script: the style sheet filters by the chosen options.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mindful_analyze::compare::{OrderedBy, RunTable, table};
use mindful_core::Result;
use mindful_core::result::comparison::NamedFact;
use mindful_core::result::ranking::{RankedGroup, RankedSide};

use super::site::{Found, IndexedRun};
use crate::comparison::ranking::{efficient, heading, money, or_unknown, ratio};
use crate::drawing::scale::drawable;
use crate::escape::escape_to;
use crate::figure::{self, format_counted};
use crate::html::{self, together};
use crate::list::minute;
use crate::markup::escaped_text;

const STYLE: &str = include_str!("site.css");
/// Longest text in a cell and in an option, characters.
const LONGEST: usize = 48;
/// Largest number of differing facts that a row shows without unfolding.
const FEW_DIFFERENCES: usize = 2;

/// A filter of runs: its name, and its value in a row.
type Filter = (&'static str, fn(&IndexedRun) -> Option<&str>);
const FILTERS: [Filter; 6] = [
    ("validity", |run| Some(run.validity)),
    ("engine", |run| measured(run, "engine")),
    ("machine", |run| place(run, "machine")),
    ("mix", |run| measured(run, "mix")),
    ("kind", |run| Some(run.kind)),
    ("tag", |run| Some(&run.tag)),
];

fn measured<'a>(run: &'a IndexedRun, name: &str) -> Option<&'a str> {
    let Found::Row(row) = &run.found else { return None };
    row.measured.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
}

fn place<'a>(run: &'a IndexedRun, name: &str) -> Option<&'a str> {
    let Found::Row(row) = &run.found else { return None };
    row.place().iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
}

/// The values of one filter with their numbers, the most frequent first.
struct Choices {
    name: &'static str,
    value: fn(&IndexedRun) -> Option<&str>,
    /// Each value and the number of its runs, most first.
    values: Vec<(String, usize)>,
    /// The number of each value, from 1 in that order.
    numbers: BTreeMap<String, usize>,
}

impl Choices {
    fn of_runs(runs: &[IndexedRun], (name, value): Filter) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for choice in runs.iter().filter_map(value).filter(|choice| !choice.is_empty()) {
            *counts.entry(choice).or_default() += 1;
        }
        let mut values: Vec<(String, usize)> =
            counts.into_iter().map(|(value, runs)| (value.to_owned(), runs)).collect();
        values.sort_by_key(|(_, runs)| std::cmp::Reverse(*runs));
        let numbers = (1..).zip(&values).map(|(number, (value, _))| (value.clone(), number)).collect();
        Self { name, value, values, numbers }
    }

    fn number(&self, run: &IndexedRun) -> Option<usize> {
        self.numbers.get((self.value)(run)?).copied()
    }

    fn select(&self) -> String {
        let name = self.name;
        let mut html = format!("<label>{name} <select id=\"{name}\">\n<option value=\"0\" selected>all</option>\n");
        for (at, (value, runs)) in (1..).zip(&self.values) {
            let value = escaped_text(&escape_to(value, LONGEST));
            let _ = writeln!(html, "<option value=\"{at}\">{value} ({runs})</option>");
        }
        html.push_str("</select></label>\n");
        html
    }

    /// Rules that hide the rows of other values. A rule contains the number of a value, never its text.
    fn rules(&self) -> String {
        let name = self.name;
        let rule = |at: usize| {
            let (chosen, with) =
                (format!("main:has(#{name} option[value=\"{at}\"]:checked)"), format!("[data-{name}=\"{at}\"]"));
            format!("{chosen} tr.row:not({with}), {chosen} .runs tbody:not(:has({with})) {{ display: none; }}\n")
        };
        (1..=self.values.len()).map(rule).collect()
    }
}

/// The page of all runs: the order of the sides, then a row a run. Both are in groups that measured the same, ordered by `by`;
/// differences of sides up to `margin` (a share) do not matter.
///
/// # Errors
/// A figure that has no ratio.
pub fn index(mut runs: Vec<IndexedRun>, by: OrderedBy, margin: f64) -> Result<String> {
    let filters: Vec<Choices> = FILTERS.iter().map(|filter| Choices::of_runs(&runs, *filter)).collect();
    let shown: Vec<&Choices> = filters.iter().filter(|choices| choices.values.len() > 1).collect();
    let rows = runs.iter().filter_map(|run| match &run.found {
        Found::Row(row) => Some((**row).clone()),
        Found::Fault(_) => None,
    });
    let table = table(rows.collect(), by, margin)?;
    let groups = &table.runs;
    let rules: String = shown.iter().map(|choices| choices.rules()).collect();
    let mut html = html::head("mindful: all runs", &format!("{STYLE}{rules}"));
    let _ = writeln!(html, "<h1>{}</h1>", format_counted(runs.len(), "run"));
    html.push_str(INTRODUCTION);
    sides_in_order(&mut html, &table);
    html.push_str("<form>\n");
    html.extend(shown.iter().map(|choices| choices.select()));
    html.push_str("<label><input type=\"checkbox\" id=\"chosen\"> only chosen runs</label>\n</form>\n");
    html.push_str("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table of the runs\">");
    let columns = Columns::of_groups(groups, by);
    let _ = write!(html, "<table class=\"runs\">\n{}", columns.header());
    let faults = runs.extract_if(.., |run| !run.is_readable()).collect::<Vec<_>>();
    let by_id: BTreeMap<&str, &IndexedRun> = runs.iter().map(|run| (run.id.as_str(), run)).collect();
    for group in groups {
        let _ = write!(html, "<tbody>\n{}", columns.heading(&heading(&group.measured)));
        for side in &group.sides {
            if let Some(run) = by_id.get(side.name.as_str()) {
                html.push_str(&row(run, Some(side), &shown, &columns));
            }
        }
        html.push_str("</tbody>\n");
    }
    if !faults.is_empty() {
        let _ = write!(html, "<tbody>\n{}", columns.heading("cannot be read"));
        html.extend(faults.iter().map(|run| row(run, None, &shown, &columns)));
        html.push_str("</tbody>\n");
    }
    html.push_str("</table></div>\n</main>\n</body>\n</html>\n");
    Ok(html)
}

/// The sides in their order, as `mindful compare` shows them.
fn sides_in_order(html: &mut String, table: &RunTable) {
    if table.sides.groups.is_empty() && table.not_ranked.is_empty() {
        return;
    }
    html.push_str(SIDES);
    for sentence in &table.sides.sentences {
        let _ = writeln!(html, "<p class=\"lead\">{}</p>", escaped_text(sentence));
    }
    for group in &table.sides.groups {
        let _ = writeln!(html, "<section>\n<h3>{}</h3>", escaped_text(&heading(&group.measured)));
        together::order(html, &table.sides, group);
        html.push_str("</section>\n");
    }
    for (measured, sides) in &table.not_ranked {
        let _ = writeln!(
            html,
            "<p>{}: {sides} sides are too many for ranks. Name those to compare: <code>mindful compare SIDE SIDE \
             \u{2026}</code>.</p>",
            escaped_text(&heading(measured))
        );
    }
    html.push_str("<h2>All runs</h2>\n");
}

const SIDES: &str = "<h2>Sides in order</h2>\n<p>A side is the runs of one tag, two or more. Sides that cannot be told apart \
share a rank.</p>\n";

const INTRODUCTION: &str = "<p>mindful derived all figures from the records of the runs. The runs are not audited: a record does \
not prove that it was measured. Runs are in groups that measured the same, best first. Nearby figures of single runs cannot be \
told apart: measure each set-up several times under one tag.</p>\n";

/// The columns of the table; some are there only if a run has a value for them.
struct Columns {
    titles: Vec<String>,
    priced: bool,
    zoned: bool,
}

impl Columns {
    fn of_groups(groups: &[RankedGroup], by: OrderedBy) -> Self {
        let mut sides = groups.iter().flat_map(|group| &group.sides);
        let priced = sides.clone().any(|side| side.price.is_some());
        let zoned = sides.any(|side| side.place.iter().any(|fact| fact.name == "zone" && fact.value != "not stated"));
        let mut titles = ["run", "tag", "validity", "machine", "sessions"].map(str::to_owned).to_vec();
        titles.extend([by.unit().to_owned(), "by best".to_owned(), "p99".to_owned()]);
        if priced {
            titles.extend(["a month", "million reads", "efficient"].map(str::to_owned));
        }
        titles.extend(["highest figure", "over time", "kind", "began", "target"].map(str::to_owned));
        let places = ["zone", "data device", "version"].into_iter().filter(|title| zoned || *title != "zone");
        titles.extend(places.map(str::to_owned));
        titles.push("unlike most".to_owned());
        Self { titles, priced, zoned }
    }

    fn header(&self) -> String {
        let cells = self.titles.iter().map(|title| format!("<th scope=\"col\">{}</th>", escaped_text(title)));
        format!("<thead><tr>{}</tr></thead>\n", cells.collect::<String>())
    }

    fn heading(&self, text: &str) -> String {
        let text = escaped_text(text);
        format!(
            "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{}\"><span>{text}</span></th></tr>\n",
            self.titles.len()
        )
    }
}

fn row(run: &IndexedRun, side: Option<&RankedSide>, filters: &[&Choices], columns: &Columns) -> String {
    let mut html = String::from("<tr class=\"row\"");
    for choices in filters {
        if let Some(at) = choices.number(run) {
            let _ = write!(html, " data-{}=\"{at}\"", choices.name);
        }
    }
    let id = escaped_text(&run.id);
    let _ = match &run.found {
        Found::Row(_) => write!(
            html,
            "><th scope=\"row\"><input type=\"checkbox\" aria-label=\"choose run {id}\"> <a href=\"{id}.html\">{id}</a></th>"
        ),
        Found::Fault(why) => {
            write!(html, "><th scope=\"row\">{id}<br><span class=\"place\">{}</span></th>", escaped_text(why))
        }
    };
    html.push_str(&text_cell(&run.tag));
    let class = run.validity.to_lowercase();
    let why = side.and_then(|side| side.no_rank.as_ref());
    let why = why.map_or_else(String::new, |why| format!("<br><span class=\"place\">{}</span>", text(why)));
    let _ = write!(html, "<td><span class=\"{class}\">{}</span>{why}</td>", run.validity);
    html.push_str(&text_cell(place(run, "machine").unwrap_or(figure::UNKNOWN)));
    let ratio = or_unknown(side.and_then(|side| side.by_best), ratio);
    let value = or_unknown(side.and_then(|side| side.value), figure::amount);
    for cell in [&run.sessions, &value, &ratio, &run.p99] {
        let _ = write!(html, "<td class=\"number\">{}</td>", escaped_text(cell));
    }
    if columns.priced {
        html.push_str(&price_cells(side));
    }
    let began = minute(&run.started_at);
    let shown = escaped_text(&escape_to(&run.figure, 2 * LONGEST));
    let _ = write!(html, "<td><span class=\"place\">{shown}</span></td><td>{}</td>", spark(run));
    for cell in [run.kind, &began, &run.target] {
        html.push_str(&text_cell(cell));
    }
    for name in ["zone", "data device", "version"].into_iter().filter(|name| columns.zoned || *name != "zone") {
        html.push_str(&text_cell(place(run, name).unwrap_or(figure::UNKNOWN)));
    }
    if let Some(side) = side {
        html.push_str(&difference_cell(side));
    }
    html.push_str("</tr>\n");
    html
}

fn text(text: &str) -> String {
    escaped_text(&escape_to(text, LONGEST))
}

fn text_cell(content: &str) -> String {
    format!("<td>{}</td>", text(content))
}

fn price_cells(side: Option<&RankedSide>) -> String {
    let amounts = side.map_or([None; 2], |side| [side.per_month, side.per_million_reads]);
    let cell = |amount| side.map_or_else(|| figure::UNKNOWN.to_owned(), |side| money(side, amount));
    let amounts = amounts.map(|amount| format!("<td class=\"number\">{}</td>", escaped_text(&cell(amount))));
    format!("{}<td>{}</td>", amounts.concat(), side.and_then(efficient).unwrap_or(figure::UNKNOWN))
}

/// Facts that differ from those of most runs of the group; many are folded.
fn difference_cell(side: &RankedSide) -> String {
    let line = |fact: &NamedFact| escaped_text(&escape_to(&format!("{} {}", fact.name, fact.value), 2 * LONGEST));
    let lines: Vec<String> = side.differs.iter().map(line).collect();
    if lines.len() <= FEW_DIFFERENCES {
        return format!("<td>{}</td>", lines.join("<br>"));
    }
    format!(
        "<td><details><summary>{}</summary>{}</details></td>",
        format_counted(lines.len(), "fact"),
        lines.join("<br>")
    )
}

/// A small line from 0 up: the course of a figure, without numbers.
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
