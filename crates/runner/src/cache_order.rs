//! In which order the blocks of a working set lie in the database's cache, as a run describes it.

use mindful_core::contract::description::CacheFill;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;

/// The fact that a comparison holds fixed.
pub(crate) const ORDER: &str = "cache_order";
/// The share of the working set that was brought in in this order.
pub(crate) const FILLED: &str = "cache_filled_in_order";

/// The order, and the share of the blocks that are known to be in it.
pub(crate) fn in_words(fill: Option<CacheFill>) -> (&'static str, String) {
    let share = fill.map_or_else(|| "unknown".to_owned(), |fill| format!("{:.1} %", 100.0 * fill.share()));
    (if fill.is_some_and(|fill| fill.is_whole()) { "by block" } else { "unknown" }, share)
}

pub(crate) fn finding(fill: Option<CacheFill>, share: &str) -> Option<Finding> {
    match fill {
        Some(fill) if fill.is_whole() => None,
        Some(_) => Some(codes::CACHE_ORDER.finding(
            "The database's cache held a part of the working set before mindful could fill it in block order. Figures of \
             cached runs depend on this order, up to a factor of two. Restart the server and run again.",
            format!("{share} of the blocks filled in block order"),
        )),
        None => Some(codes::CACHE_ORDER.finding(
            "mindful cannot fill this database's cache in block order. Figures of cached runs depend on this order, up \
             to a factor of two. Compare runs only if their caches were filled in the same way.",
            "filled by the operations, a load or others",
        )),
    }
}
