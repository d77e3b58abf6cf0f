//! Cost of a month against work for the price, with the sides that no cheaper side beats.

use mindful_core::result::ranking::{RankedSide, RankingSummary};

use crate::comparison::ranking::name;
use crate::drawing::frame::{Drawing, Heading};
use crate::drawing::plot::{Axis, Look, Plot, Point, Series};
use crate::drawing::scale::Unit;

pub(crate) const NAME: &str = "prices";

/// The chart of one group of sides; `None` if fewer than two have a price in one currency.
pub(crate) fn drawing(ranking: &RankingSummary, group: usize) -> Option<Drawing> {
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
        NAME,
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
        guides: Vec::new(),
    };
    Some(plot.drawing())
}
