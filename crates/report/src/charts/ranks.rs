//! Several sides relative to the best: a bar each with its interval, sides that share their ranks on one ground.

use mindful_core::result::ranking::{RankedSide, RankingSummary};

use crate::comparison::ranking::{name, rank, ratio};
use crate::drawing::bars::{Bar, Bars};
use crate::drawing::frame::{Drawing, Heading};
use crate::drawing::scale::{Unit, drawable};
use crate::figure::number;

pub(crate) const NAME: &str = "ranks";

/// The chart of one group of sides; `None` if fewer than two have a rank.
pub(crate) fn drawing(ranking: &RankingSummary, group: usize) -> Option<Drawing> {
    let is_drawn = |side: &&RankedSide| side.rank.is_some() && side.by_best.is_some_and(drawable);
    let sides: Vec<&RankedSide> = ranking.groups.get(group)?.sides.iter().filter(is_drawn).collect();
    if sides.len() < 2 {
        return None;
    }
    let grounds = sides.chunk_by(|a, b| a.rank == b.rank).enumerate();
    let rows = grounds.flat_map(|(at, sides)| sides.iter().map(move |side| bar(side, at % 2 == 0))).collect();
    let better = if ranking.higher_is_better { "longer" } else { "shorter" };
    let heading = Heading::new(
        NAME,
        "Sides relative to the best",
        format!("{} by the best side. A {better} bar is better; the rank is before the name.", ranking.unit),
        "A whisker is the 95 % interval of the ratio, which holds for all sides together. Sides on one ground have the \
         same ranks: they cannot be told apart from each other.",
    );
    let bars = Bars::from_left(heading, rows, Unit::Number, [""; 3]);
    Some(Bars { guide: Some((1.0, "")), table: table(ranking, &sides), ..bars }.drawing())
}

fn bar(side: &RankedSide, shaded: bool) -> Bar {
    Bar {
        name: format!("{}  {}", rank(side), name(side)),
        span: side.by_best.map(|value| [0.0, value]),
        interval: side.by_best_interval,
        value: side.by_best.map_or_else(String::new, |value| format!("{} x", ratio(value))),
        shaded,
        ..Bar::default()
    }
}

fn table(ranking: &RankingSummary, sides: &[&RankedSide]) -> Vec<Vec<String>> {
    let titles = ["rank", "side", ranking.unit.as_str(), "by best", "interval"].map(str::to_owned).to_vec();
    let row = |side: &&RankedSide| {
        let between = |[low, high]: [f64; 2]| format!("{} to {}", ratio(low), ratio(high));
        let interval = side.by_best_interval.map_or_else(String::new, between);
        let [value, by_best] = [side.value.map(number), side.by_best.map(ratio)].map(Option::unwrap_or_default);
        vec![rank(side), name(side), value, by_best, interval]
    };
    std::iter::once(titles).chain(sides.iter().map(row)).collect()
}
