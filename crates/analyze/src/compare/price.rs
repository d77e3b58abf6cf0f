//! Comparisons for the same money: the price of an hour of each side.

use mindful_core::plan::Price;
use mindful_core::result::comparison::PriceRatio;
use mindful_core::{Error, Result};

use super::answer::{Comparison, Side};

/// The price of each side; `None` if a side has none.
///
/// # Errors
/// Runs of one side with different prices, and sides in different currencies.
pub(super) fn prices_of_sides(baseline: &Side, candidate: &Side) -> Result<Option<[Price; 2]>> {
    let (a, b) = (price_of_side("baseline", baseline)?, price_of_side("candidate", candidate)?);
    let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
    if a.currency == b.currency {
        return Ok(Some([a, b]));
    }
    Err(Error::plan(
        format!("the baseline costs {a} per hour, the candidate {b}: the currencies differ"),
        "use one currency for both prices",
    ))
}

fn price_of_side(name: &str, side: &Side) -> Result<Option<Price>> {
    let mut prices = side.iter().map(|(run, _)| run.head.plan.price.as_ref());
    let Some(first) = prices.next().flatten() else { return Ok(None) };
    match prices.find(|other| *other != Some(first)) {
        None => Ok(Some(first.clone())),
        Some(other) => {
            let other = other.map_or_else(|| "no price".to_owned(), Price::to_string);
            Err(Error::plan(
                format!("runs of the {name} have two prices, {first} and {other}"),
                "choose runs with the same --price on each side",
            ))
        }
    }
}

/// Work per unit of the currency, candidate by baseline.
pub fn price_ratio(comparison: &Comparison, [baseline, candidate]: &[Price; 2]) -> PriceRatio {
    let cheaper = baseline.per_hour / candidate.per_hour;
    PriceRatio {
        ratio: comparison.ratio * cheaper,
        interval: comparison.interval.map(|i| [i.low * cheaper, i.high * cheaper]),
    }
}
