//! What the figures of a step mean: what they may be called, where they agree, and what limited them.

pub mod claims;
pub mod durability;
pub mod headline;
pub(crate) mod ladder_step;
pub mod ledger;
pub mod little;
pub mod residence;
pub(crate) mod subject;
pub mod verdict;
