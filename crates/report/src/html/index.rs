//! The index: all runs in one table, with filters. There is no script: the style sheet filters by the chosen options.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mindful_analyze::compare::{OrderedBy, RunTable, table};
use mindful_core::Result;
use mindful_core::result::comparison::NamedFact;
use mindful_core::result::ranking::{RankedGroup, RankedSide};

use super::site::IndexedRun;
use crate::comparison::ranking::{self, efficient, money, or_unknown, ratio};
use crate::drawing::scale::drawable;
use crate::escape::escape_to;
use crate::figure::{self, format_counted};
use crate::html::{self, panels};
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
    run.row.as_ref()?.measured.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
}

fn place<'a>(run: &'a IndexedRun, name: &str) -> Option<&'a str> {
    run.row.as_ref()?.place().iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
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
    let rows = runs.iter().filter_map(|run| run.row.as_deref().cloned());
    let table = table(&rows.collect::<Vec<_>>(), by, margin)?;
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
    let columns = columns(groups, by);
    let titles = columns.iter().map(|column| format!("<th scope=\"col\">{}</th>", escaped_text(column.title)));
    let _ = writeln!(
        html,
        "<table class=\"runs\">\n<thead><tr><th scope=\"col\">run</th>{}</tr></thead>",
        titles.collect::<String>()
    );
    let heading = |text: &str| {
        let (wide, text) = (columns.len() + 1, escaped_text(text));
        format!("<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{wide}\"><span>{text}</span></th></tr>\n")
    };
    let faults = runs.extract_if(.., |run| !run.is_readable()).collect::<Vec<_>>();
    let by_id: BTreeMap<&str, &IndexedRun> = runs.iter().map(|run| (run.id.as_str(), run)).collect();
    for group in groups {
        let _ = write!(html, "<tbody>\n{}", heading(&ranking::heading(&group.measured)));
        for side in &group.sides {
            if let Some(run) = by_id.get(side.name.as_str()) {
                html.push_str(&row(run, Some(side), &shown, &columns));
            }
        }
        html.push_str("</tbody>\n");
    }
    if !faults.is_empty() {
        let _ = write!(html, "<tbody>\n{}", heading("cannot be read"));
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
        let order = panels::panel_html(&ranking::order_panel(&table.sides, group));
        let _ = write!(html, "<section>\n{order}</section>\n");
    }
    for (measured, sides) in &table.not_ranked {
        let _ = writeln!(
            html,
            "<p>{}: {sides} sides are too many for ranks. Name those to compare: <code>mindful compare SIDE SIDE \
             \u{2026}</code>.</p>",
            escaped_text(&ranking::heading(measured))
        );
    }
    html.push_str("<h2>All runs</h2>\n");
}

const SIDES: &str = "<h2>Sides in order</h2>\n<p>A side is the runs of one tag, two or more. Sides that cannot be told apart \
share a rank.</p>\n";

const INTRODUCTION: &str = "<p>mindful derived all figures from the records of the runs. The runs are not audited: a record does \
not prove that it was measured. Runs are in groups that measured the same, best first. Nearby figures of single runs cannot be \
told apart: measure each set-up several times under one tag.</p>\n";

/// A column of the table: its title, the class of its cells, and its cell of a run with its place in the order.
struct Column {
    title: &'static str,
    class: &'static str,
    cell: fn(&IndexedRun, Option<&RankedSide>) -> String,
}

/// The columns; some are there only if a run has a value for them.
fn columns(groups: &[RankedGroup], by: OrderedBy) -> Vec<Column> {
    let text = |title, cell| Column { title, class: "", cell };
    let number = |title, cell| Column { title, class: " class=\"number\"", cell };
    let all = vec![
        text("tag", |run, _| cut_text(&run.tag)),
        text("validity", validity),
        text("machine", |run, _| known_place(run, "machine")),
        number("sessions", |run, _| escaped_text(&run.sessions)),
        number(by.unit(), |_, side| escaped_text(&or_unknown(side.and_then(|side| side.value), figure::amount))),
        number("by best", |_, side| escaped_text(&or_unknown(side.and_then(|side| side.by_best), ratio))),
        number("p99", |run, _| escaped_text(&run.p99)),
        number("a month", |_, side| side_cell(side, |side| money(side, side.per_month))),
        number("million reads", |_, side| side_cell(side, |side| money(side, side.per_million_reads))),
        text("efficient", |_, side| side_cell(side, |side| efficient(side).unwrap_or(figure::UNKNOWN).to_owned())),
        text("highest figure", |run, _| {
            format!("<span class=\"place\">{}</span>", escaped_text(&escape_to(&run.figure, 2 * LONGEST)))
        }),
        text("over time", |run, _| spark(run)),
        text("kind", |run, _| cut_text(run.kind)),
        text("began", |run, _| cut_text(&minute(&run.started_at))),
        text("target", |run, _| cut_text(&run.target)),
        text("zone", |run, _| known_place(run, "zone")),
        text("data device", |run, _| known_place(run, "data device")),
        text("version", |run, _| known_place(run, "version")),
        text("unlike most", |_, side| side.map_or_else(String::new, difference_cell)),
    ];
    let mut sides = groups.iter().flat_map(|group| &group.sides);
    let priced = sides.clone().any(|side| side.price.is_some());
    let zoned = sides.any(|side| side.place.iter().any(|fact| fact.name == "zone" && fact.value != "not stated"));
    let is_shown = |column: &Column| match column.title {
        "a month" | "million reads" | "efficient" => priced,
        "zone" => zoned,
        _ => true,
    };
    all.into_iter().filter(is_shown).collect()
}

fn row(run: &IndexedRun, side: Option<&RankedSide>, filters: &[&Choices], columns: &[Column]) -> String {
    let numbers = filters.iter().filter_map(|choices| Some((choices.name, choices.number(run)?)));
    let numbers: Vec<_> = numbers.map(|(name, number)| format!(" data-{name}=\"{number}\"")).collect();
    let id = escaped_text(&run.id);
    let head = if run.is_readable() {
        format!("<input type=\"checkbox\" aria-label=\"choose run {id}\"> <a href=\"{id}.html\">{id}</a>")
    } else {
        format!("{id}<br><span class=\"place\">{}</span>", escaped_text(&run.fault))
    };
    let cells = columns.iter().map(|column| format!("<td{}>{}</td>", column.class, (column.cell)(run, side)));
    format!("<tr class=\"row\"{}><th scope=\"row\">{head}</th>{}</tr>\n", numbers.concat(), cells.collect::<String>())
}

fn cut_text(text: &str) -> String {
    escaped_text(&escape_to(text, LONGEST))
}

fn known_place(run: &IndexedRun, name: &str) -> String {
    cut_text(place(run, name).unwrap_or(figure::UNKNOWN))
}

fn side_cell(side: Option<&RankedSide>, cell: fn(&RankedSide) -> String) -> String {
    escaped_text(&side.map_or_else(|| figure::UNKNOWN.to_owned(), cell))
}

fn validity(run: &IndexedRun, side: Option<&RankedSide>) -> String {
    let why = side.and_then(|side| side.no_rank.as_ref());
    let why = why.map_or_else(String::new, |why| format!("<br><span class=\"place\">{}</span>", cut_text(why)));
    format!("<span class=\"{}\">{}</span>{why}", run.validity.to_lowercase(), run.validity)
}

/// Facts that differ from those of most runs of the group; many are folded.
fn difference_cell(side: &RankedSide) -> String {
    let line = |fact: &NamedFact| escaped_text(&escape_to(&format!("{} {}", fact.name, fact.value), 2 * LONGEST));
    let lines: Vec<String> = side.differs.iter().map(line).collect();
    if lines.len() <= FEW_DIFFERENCES {
        return lines.join("<br>");
    }
    format!("<details><summary>{}</summary>{}</details>", format_counted(lines.len(), "fact"), lines.join("<br>"))
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
