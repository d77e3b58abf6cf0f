//! What the figures of a step mean: what they may be called, where they agree, and what limited them.

pub mod claims;
pub mod commit_path;
pub mod durability;
pub mod headline;
pub(crate) mod ladder_step;
pub mod ledger;
pub(crate) mod limit;
pub mod little;
pub(crate) mod log_ledger;
pub mod residence;
pub(crate) mod subject;
pub mod verdict;
