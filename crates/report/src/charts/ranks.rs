//! Several sides relative to the best: a bar each with its interval, sides that share their ranks on one ground.

use std::fmt::Write as _;

use mindful_core::result::ranking::{RankedSide, RankingSummary};

use crate::comparison::ranking::{name, rank, ratio};
use crate::drawing::frame::{CHARACTER, Drawing, WIDTH, lines_of, write_lines};
use crate::drawing::scale::{Scale, Unit, drawable};
use crate::figure::{maybe, number};
use crate::markup::escaped_text;

pub(crate) const NAME: &str = "ranks";

const ROW: f64 = 30.0;
const THICK: f64 = 13.0;
const TOP: f64 = 8.0;
const RIGHT: f64 = 64.0;
/// Longest line of a name, characters; a row has room for two.
const NAME_COLUMNS: usize = 30;

/// The chart of one group of sides; `None` if fewer than two have a rank.
pub(crate) fn drawing(ranking: &RankingSummary, group: usize) -> Option<Drawing> {
    let sides: Vec<&RankedSide> = ranking.groups.get(group)?.sides.iter().filter(|side| is_drawn(side)).collect();
    if sides.len() < 2 {
        return None;
    }
    let ends = |side: &&RankedSide| [side.by_best.unwrap_or(1.0), side.by_best_interval.map_or(1.0, |ends| ends[1])];
    let scale = Scale::linear(sides.iter().flat_map(ends), Unit::Number, 6);
    let label = |side: &RankedSide| format!("{}  {}", rank(side), name(side));
    let longest = sides.iter().map(|side| label(side).chars().count().min(NAME_COLUMNS)).max().unwrap_or(0);
    let left = 22.0 + CHARACTER * longest as f64;
    let x = |value: f64| left + (WIDTH - left - RIGHT) * scale.share(value);
    let bottom = TOP + ROW * sides.len() as f64;
    let mut svg = grounds(&sides);
    for (value, name) in &scale.ticks {
        let x = x(*value);
        let _ = writeln!(svg, "<path class=\"rule\" d=\"M{x:.1} {TOP}V{bottom}\"/>");
        let _ = writeln!(svg, "<text class=\"at-middle\" x=\"{x:.1}\" y=\"{}\">{name}</text>", bottom + 16.0);
    }
    for (at, side) in sides.iter().enumerate() {
        let (top, value) = (TOP + ROW * at as f64, side.by_best.unwrap_or(1.0));
        let middle = top + ROW / 2.0;
        write_lines(&mut svg, "axis-name at-end", [left - 8.0, middle + 4.0], &lines_of(&label(side), NAME_COLUMNS));
        let _ = writeln!(
            svg,
            "<rect class=\"bar c1\" fill-opacity=\".6\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{THICK}\"/>",
            middle - THICK / 2.0,
            x(value) - left
        );
        let mut end = x(value);
        if let Some([low, high]) = side.by_best_interval {
            end = x(high);
            let _ = writeln!(
                svg,
                "<path class=\"edge\" d=\"M{0:.1} {middle}H{end:.1}M{0:.1} {1:.1}v8M{end:.1} {1:.1}v8\"/>",
                x(low),
                middle - 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<text class=\"near\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            end + 6.0,
            middle + 4.0,
            escaped_text(&format!("{} x", ratio(value)))
        );
    }
    let _ = writeln!(svg, "<path class=\"guide\" d=\"M{0:.1} {TOP}V{bottom}\"/>", x(1.0));
    let better = if ranking.higher_is_better { "longer" } else { "shorter" };
    Some(Drawing {
        name: NAME,
        title: "Sides relative to the best".into(),
        caption: format!("{} by the best side. A {better} bar is better; the rank is before the name.", ranking.unit),
        notes: "A whisker is the 95 % interval of the ratio, which holds for all sides together. Sides on one ground \
                have the same ranks: they cannot be told apart from each other."
            .into(),
        content: svg,
        height: bottom + 24.0,
        rows: rows(ranking, &sides),
        doubt: None,
    })
}

fn is_drawn(side: &RankedSide) -> bool {
    side.rank.is_some() && side.by_best.is_some_and(drawable)
}

fn grounds(sides: &[&RankedSide]) -> String {
    let (mut svg, mut shaded) = (String::new(), true);
    for (at, side) in sides.iter().enumerate() {
        if at > 0 && side.rank != sides[at - 1].rank {
            shaded = !shaded;
        }
        if shaded {
            let y = TOP + ROW * at as f64;
            let _ =
                writeln!(svg, "<rect class=\"band\" x=\"4\" y=\"{y}\" width=\"{}\" height=\"{ROW}\"/>", WIDTH - 8.0);
        }
    }
    svg
}

fn rows(ranking: &RankingSummary, sides: &[&RankedSide]) -> Vec<Vec<String>> {
    let titles = ["rank", "side", ranking.unit.as_str(), "by best", "interval"].map(str::to_owned).to_vec();
    let row = |side: &&RankedSide| {
        let between = |[low, high]: [f64; 2]| format!("{} to {}", ratio(low), ratio(high));
        let interval = side.by_best_interval.map_or_else(String::new, between);
        let by_best = side.by_best.map_or_else(|| maybe(None), |value| format!("{value:.2}"));
        vec![rank(side), name(side), side.value.map(number).unwrap_or_default(), by_best, interval]
    };
    std::iter::once(titles).chain(sides.iter().map(row)).collect()
}
