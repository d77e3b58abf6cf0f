//! Several processes that share one run: which [`Rank`] a process is, where ranks meet ([`rendezvous`]), which targets and
//! sessions each has ([`TargetAssignment`]), and how their parts become one run ([`RankMerge`], [`sum_counters`]).

mod assignment;
mod rank;
mod rank_merge;
pub mod rendezvous;
mod target_totals;

pub(crate) use assignment::parse_weights;
pub use assignment::{MOST_TARGETS, TargetAssignment, split_urls};
pub(crate) use rank::MOST_RANKS;
pub use rank::Rank;
pub(crate) use rank_merge::add_counters;
pub use rank_merge::{KeptCounters, RankMerge};
pub use target_totals::sum_counters;
