//! Several sides: relative to the best, and by price.

use mindful_core::result::ranking::{RankedSide, RankingSummary};

use crate::comparison::ranking::{name, order_table, rank, ratio};
use crate::drawing::bars::{Bar, Bars};
use crate::drawing::frame::{Drawing, Heading};
use crate::drawing::plot::{Axis, Look, Plot, Point, Series};
use crate::drawing::scale::{Unit, drawable};

pub(crate) const RANKS: &str = "ranks";

/// The chart of one group of sides; `None` if fewer than two have a rank.
pub(crate) fn ranks(ranking: &RankingSummary, group: usize) -> Option<Drawing> {
    let is_drawn = |side: &&RankedSide| side.rank.is_some() && side.by_best.is_some_and(drawable);
    let group = ranking.groups.get(group)?;
    let sides: Vec<&RankedSide> = group.sides.iter().filter(is_drawn).collect();
    if sides.len() < 2 {
        return None;
    }
    let grounds = sides.chunk_by(|a, b| a.rank == b.rank).enumerate();
    let rows = grounds.flat_map(|(at, sides)| sides.iter().map(move |side| bar(side, at % 2 == 0))).collect();
    let better = if ranking.higher_is_better { "longer" } else { "shorter" };
    let heading = Heading::new(
        RANKS,
        "Sides relative to the best",
        format!("{} by the best side. A {better} bar is better; the rank is before the name.", ranking.unit),
        "A whisker is the 95 % interval of the ratio, which holds for all sides together. Sides on one ground have the \
         same ranks: they cannot be told apart from each other.",
    );
    let bars = Bars::from_left(heading, rows, Unit::Number, [""; 3]);
    Some(Bars { guide: Some((1.0, "")), table: order_table(ranking, group), ..bars }.drawing())
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

pub(crate) const PRICES: &str = "prices";

/// The chart of one group of sides; `None` if fewer than two have a price in one currency.
pub(crate) fn prices(ranking: &RankingSummary, group: usize) -> Option<Drawing> {
    let sides = &ranking.groups.get(group)?.sides;
    let currency = sides.iter().find_map(|side| Some(side.price.as_ref()?.currency.clone()))?;
    let by_price = ranking.by == "price";
    let buys = |side: &RankedSide| if by_price { side.reads_per_s } else { side.value };
    let priced = |side: &&RankedSide| side.price.as_ref().is_some_and(|price| price.currency == currency);
    let points: Vec<(&RankedSide, f64, f64)> = sides
        .iter()
        .filter(priced)
        .filter_map(|side| Some((side, side.per_month?, buys(side).filter(|_| side.rank.is_some())?)))
        .collect();
    if points.len() < 2 {
        return None;
    }
    let of_side = |(side, price, figure): &(&RankedSide, f64, f64)| Series {
        name: String::new(),
        look: Look::Curve,
        points: vec![Point {
            label: name(side),
            high: side.interval.filter(|_| !by_price),
            ..Point::new(*price, *figure)
        }],
    };
    let mut efficient: Vec<_> = points.iter().filter(|(side, ..)| side.efficient == Some(true)).collect();
    efficient.sort_by(|a, b| a.1.total_cmp(&b.1));
    let frontier = Series {
        name: "efficient: no side that costs less is better".to_owned(),
        look: Look::Guide,
        points: efficient.iter().map(|(_, price, figure)| Point::new(*price, *figure)).collect(),
    };
    let unit = if by_price { "reads/s" } else { ranking.unit.as_str() };
    let heading = Heading::new(
        PRICES,
        "Price against work for it",
        format!("Price of a month of 730 hours in {currency}, and {unit}."),
        "A side below the line costs more than another one that is at least as good.",
    );
    let plot = Plot {
        heading,
        x: Axis::linear(&format!("{currency} a month"), Unit::Number),
        y: Axis::linear(unit, Unit::Number),
        labels: "side",
        series: points.iter().map(of_side).chain(std::iter::once(frontier)).collect(),
        ..Plot::default()
    };
    Some(plot.drawing())
}
