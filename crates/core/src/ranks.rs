//! Several processes that share one run: which [`Rank`] a process is, where ranks meet ([`rendezvous`]), which targets and
//! sessions each has ([`TargetAssignment`]), and how their parts become one run ([`RankMerge`], [`sum_counters`]).

pub(crate) mod assignment;
pub(crate) mod rank;
pub(crate) mod rank_merge;
pub mod rendezvous;

pub use assignment::{MOST_TARGETS, TargetAssignment, split_urls};
pub use rank::Rank;
pub use rank_merge::{KeptCounters, RankMerge, sum_counters};
