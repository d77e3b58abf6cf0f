//! What the money buys, where the plan tells a price.

use mindful_core::contract::metric::shared;

use super::figure::{Figure, Unit};

/// Operations for one unit of the price's currency.
pub const OPERATIONS_PER_PRICE: Figure = Figure::of_step(
    "per_price.operations",
    Unit::PerCurrency,
    "operations per second x 3600 / price per hour",
    &[],
    |s| s.summary.per_price.operations,
);

pub(super) const FIGURES: &[Figure] = &[
    OPERATIONS_PER_PRICE,
    Figure::of_step(
        "per_price.logical_reads",
        Unit::PerCurrency,
        "logical reads per second x 3600 / price per hour",
        &[shared::LOGICAL_READS],
        |s| s.summary.per_price.logical_reads,
    ),
    Figure::of_step(
        "per_price.physical_reads",
        Unit::PerCurrency,
        "physical reads per second x 3600 / price per hour",
        &[shared::PHYSICAL_READS],
        |s| s.summary.per_price.physical_reads,
    ),
];
