//! Several sides in one order: panels for every form, CSV, and JUnit XML.

use std::fmt::Write as _;

use mindful_analyze::compare::{Gate, GateOutcome};
use mindful_core::result::Validity;
use mindful_core::result::comparison::{Basis, NamedFact};
use mindful_core::result::ranking::{RankedGroup, RankedSide, RankingSummary};

use super::junit::{Case, PLAIN, gate_ending, suite};
use crate::export::csv;
use crate::figure::{UNKNOWN, amount, percent};
use crate::panels::{Panel, place};
use crate::style::Style;
use crate::table::Side::{Left, Right};
use crate::table::{Column, Table};
use crate::{escape, grouped, markdown};

pub fn ranking_text(ranking: &RankingSummary, style: &Style) -> String {
    panels(ranking).iter().map(|panel| panel.to_text(style)).collect()
}

pub fn ranking_markdown(ranking: &RankingSummary) -> String {
    panels(ranking).iter().map(markdown::panel_markdown).collect()
}

fn panels(ranking: &RankingSummary) -> Vec<Panel> {
    let mut first = Panel::default();
    for sentence in &ranking.sentences {
        first.wrapped(0, sentence);
    }
    std::iter::once(first).chain(ranking.groups.iter().flat_map(|group| group_panels(ranking, group))).collect()
}

/// The order of a group, where each side was measured, and what differs.
pub(crate) fn group_panels(ranking: &RankingSummary, group: &RankedGroup) -> [Panel; 3] {
    let mut differences = Panel::default();
    if let Some(table) = differences_table(group) {
        differences.heading("What differs");
        differences.table(table);
    }
    let places: Vec<_> = group.sides.iter().map(|side| (name(side), side.place.clone())).collect();
    [order_panel(ranking, group), place::of_sides(&places), differences]
}

/// The ranks of a group, and their basis.
pub(crate) fn order_panel(ranking: &RankingSummary, group: &RankedGroup) -> Panel {
    let mut panel = Panel::default();
    panel.heading(&heading(&group.measured));
    panel.table(order_table(ranking, group));
    for note in notes(ranking, group) {
        panel.wrapped(2, &note);
    }
    panel
}

/// The workload of a group's sides.
pub(crate) fn heading(measured: &[NamedFact]) -> String {
    measured.iter().map(|fact| format!("{} {}", fact.name, fact.value)).collect::<Vec<_>>().join(", ")
}

/// Its name, marked if it may not be quoted.
pub(crate) fn name(side: &RankedSide) -> String {
    match side.validity {
        Validity::Valid => side.name.clone(),
        doubted => format!("{} {doubted}", side.name),
    }
}

/// `1`, or `2-3`; `-` for a side without a rank.
pub(crate) fn rank(side: &RankedSide) -> String {
    match side.rank {
        Some([high, low]) if high == low => high.to_string(),
        Some([high, low]) => format!("{high}-{low}"),
        None => UNKNOWN.to_owned(),
    }
}

pub(crate) fn order_table(ranking: &RankingSummary, group: &RankedGroup) -> Table {
    let interval = |ends: Option<[f64; 2]>, in_words: fn(f64) -> String| {
        ends.map_or_else(|| "no interval".to_owned(), |[low, high]| format!("{} to {}", in_words(low), in_words(high)))
    };
    let of_ratio = |side: &RankedSide| match side.basis {
        None => UNKNOWN.to_owned(),
        Some(_) => interval(side.by_best_interval, ratio),
    };
    let columns: [Column<&RankedSide>; 10] = [
        ("rank", Right, &|side| rank(side)),
        ("side", Left, &|side| escape(&name(side))),
        ("runs", Right, &|side| side.runs.len().to_string()),
        (&ranking.unit, Right, &|side| or_unknown(side.value, amount)),
        ("95 % interval", Right, &|side| interval(side.interval, amount)),
        ("by best", Right, &|side| or_unknown(side.by_best, ratio)),
        ("interval of it", Right, &|side| of_ratio(side)),
        ("a month", Right, &|side| money(side, side.per_month)),
        ("million reads", Right, &|side| money(side, side.per_million_reads)),
        ("efficient", Right, &|side| efficient(side).unwrap_or(UNKNOWN).to_owned()),
    ];
    let shown = if group.sides.iter().any(|side| side.price.is_some()) { 10 } else { 7 };
    Table::of(&group.sides.iter().filter(|side| side.rank.is_some()).collect::<Vec<_>>(), &columns[..shown])
}

pub(crate) fn or_unknown(value: Option<f64>, in_words: fn(f64) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), in_words)
}

/// An amount in the currency of the side.
pub(crate) fn money(side: &RankedSide, price: Option<f64>) -> String {
    let currency = side.price.as_ref().map_or("", |price| price.currency.as_str());
    price.map_or_else(|| UNKNOWN.to_owned(), |price| format!("{} {currency}", amount(price)))
}

pub(crate) fn efficient(side: &RankedSide) -> Option<&'static str> {
    side.efficient.map(|efficient| if efficient { "yes" } else { "no" })
}

/// A ratio to a hundredth.
pub(crate) fn ratio(ratio: f64) -> String {
    format!("{ratio:.2}")
}

fn notes(ranking: &RankingSummary, group: &RankedGroup) -> Vec<String> {
    let mut notes: Vec<String> = group.doubts.iter().map(|doubt| escape(doubt)).collect();
    for side in &group.sides {
        if let Some(why) = &side.no_rank {
            notes.push(format!("no rank: {}, {}", name(side), escape(why)));
        }
        if side.basis == Some(Basis::WithinRun) || (side.rank.is_some() && side.interval.is_none()) {
            notes.push(format!(
                "{} has one run and this platform no noise floor: it cannot be told apart; `mindful run --repeat 5` \
                 measures the floor",
                side.name
            ));
        }
        if let Some(machines) = &side.machines {
            let within =
                machines.within.map_or_else(String::new, |share| format!(", {} within one", percent(Some(share))));
            notes.push(format!(
                "{}: {} machines, which differ by {}{within} (standard deviations)",
                side.name,
                machines.machines,
                percent(Some(machines.between))
            ));
            if let Some(outlier) = &machines.outlier {
                let (machine, by) = (&outlier.machine, ratio(outlier.by_others));
                notes.push(format!("{}: {machine} is unlike the others: {by} of their median", side.name));
            }
        }
        if let Some(price) = &side.price {
            notes.push(format!("price of {} an hour: {}", side.name, price.in_full()));
        }
        if side.validity == Validity::Suspect {
            let mut codes: Vec<&str> = side.runs.iter().flat_map(|run| &run.because).map(String::as_str).collect();
            codes.sort_unstable();
            codes.dedup();
            notes.push(format!("{} is SUSPECT: {}", side.name, codes.join(", ")));
        }
    }
    if group.sides.iter().filter(|side| side.rank.is_some()).count() > 1 {
        notes.push(format!(
            "intervals of the ratio hold for all sides together (95 %); differences up to {:.1} % do not matter here",
            ranking.margin * 100.0
        ));
    }
    if let Some(variation) = group.variation.filter(|_| !group.runs_to_see.is_empty()) {
        let needed = group.runs_to_see.iter().map(|seen| {
            let runs = seen.runs.map_or_else(|| "more than 500".to_owned(), |runs| runs.to_string());
            format!("{:.0} % takes {runs}", seen.difference * 100.0)
        });
        notes.push(format!(
            "runs of one side differ by {} (standard deviation); runs a side to see a difference: {}",
            percent(Some(variation)),
            needed.collect::<Vec<_>>().join(", ")
        ));
    }
    notes
}

/// A row for each value of a fact in which the sides differ, with the sides that have it; `None` if they do not differ.
fn differences_table(group: &RankedGroup) -> Option<Table> {
    let first = group.sides.first().filter(|side| !side.differs.is_empty())?;
    let mut table = Table::new(&[("fact", Left), ("value", Left), ("sides", Left)]);
    for (at, fact) in first.differs.iter().enumerate() {
        let value = |side: &RankedSide| side.differs.get(at).map_or_else(String::new, |fact| fact.value.clone());
        let values = grouped(group.sides.iter().map(|side| (value(side), side.name.as_str())));
        for (number, (value, sides)) in values.into_iter().enumerate() {
            let name = if number == 0 { fact.name.clone() } else { String::new() };
            table.row(vec![name, escape(&value), escape(&sides.join(", "))]);
        }
    }
    Some(table)
}

/// A line a side with all digits, as in the JSON.
pub fn ranking_csv(ranking: &RankingSummary) -> String {
    let mut text = "group,side,rank_high,rank_low,no_rank,validity,runs,by,unit,value,value_low,value_high,by_best,\
                    by_best_low,by_best_high,per_month,per_million_reads,currency,price,efficient,"
        .to_owned();
    let places = ranking.groups.iter().flat_map(|group| &group.sides).map(|side| &side.place).next();
    for fact in places.into_iter().flatten() {
        text.push_str(&fact.name.replace(' ', "_"));
        text.push(',');
    }
    text.push_str("differs\n");
    let plain = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let pair = |ends: Option<[f64; 2]>| [0, 1].map(|at| plain(ends.map(|ends| ends[at])));
    for group in &ranking.groups {
        for side in &group.sides {
            let ranks = [0, 1].map(|at| side.rank.map_or_else(String::new, |rank| rank[at].to_string()));
            let ([low, high], [ratio_low, ratio_high]) = (pair(side.interval), pair(side.by_best_interval));
            let mut cells = vec![heading(&group.measured), side.name.clone()];
            cells.extend(ranks);
            cells.extend([
                side.no_rank.clone().unwrap_or_default(),
                format!("{:?}", side.validity).to_lowercase(),
                side.runs.len().to_string(),
                ranking.by.clone(),
                ranking.unit.clone(),
                plain(side.value),
                low,
                high,
                plain(side.by_best),
                ratio_low,
                ratio_high,
                plain(side.per_month),
                plain(side.per_million_reads),
                side.price.as_ref().map(|price| price.currency.clone()).unwrap_or_default(),
                side.price.as_ref().map(mindful_core::plan::Price::in_full).unwrap_or_default(),
                efficient(side).unwrap_or_default().to_owned(),
            ]);
            cells.extend(side.place.iter().map(|fact| fact.value.clone()));
            let differs = side.differs.iter().map(|fact| format!("{}={}", fact.name, fact.value));
            cells.push(differs.collect::<Vec<_>>().join("; "));
            let cells: Vec<String> = cells.iter().map(|cell| csv::field(cell)).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", cells.join(","));
        }
    }
    text
}

/// The outcome of `gate` for the last side as JUnit XML with one case.
pub fn ranking_suite(ranking: &RankingSummary, gate: &Gate, outcome: GateOutcome) -> String {
    let case = Case {
        name: format!("last side by {}", ranking.by),
        ending: gate_ending(gate, outcome, &ranking.sentences.join(" ")),
    };
    let properties = [("gate", gate.condition.clone()), ("figure", ranking.unit.clone())];
    suite("ranks", &properties, &[case], &ranking_text(ranking, &PLAIN))
}
