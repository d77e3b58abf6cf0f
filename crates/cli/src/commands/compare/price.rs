//! Comparisons for the money: what an hour of each side costs, as its plan tells.

use mindful_analyze::compare::Comparison;
use mindful_core::plan::price::Price;
use mindful_core::{Error, Result};
use mindful_runner::repetition::Side;

/// The price of each side; `None` where a side tells none.
///
/// # Errors
/// Runs of a side that cost differently, and sides whose prices are in different currencies.
pub fn of_sides(baseline: &Side, candidate: &Side) -> Result<Option<[Price; 2]>> {
    let (Some(a), Some(b)) = (of("baseline", baseline)?, of("candidate", candidate)?) else { return Ok(None) };
    if a.currency == b.currency {
        return Ok(Some([a, b]));
    }
    Err(Error::plan(
        format!("the baseline costs {a} per hour, the candidate {b}: the currencies differ"),
        "use one currency for both prices",
    ))
}

fn of(name: &str, side: &Side) -> Result<Option<Price>> {
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

/// Candidate by baseline of what one unit of the currency buys, by the ratio of what each does in a second.
pub fn for_the_money(comparison: &Comparison, [a, b]: &[Price; 2]) -> (f64, Option<[f64; 2]>) {
    let cheaper = a.per_hour / b.per_hour;
    (comparison.ratio * cheaper, comparison.interval.map(|i| [i.low * cheaper, i.high * cheaper]))
}
