//! Meaning of the figures of a step: their permitted names, their consistency, and the limit of the step.

pub mod claims;
pub(crate) mod commit_path;
pub(crate) mod durability;
pub mod headline;
pub mod ledger;
pub(crate) mod limit;
pub(crate) mod little;
pub(crate) mod residence;
pub(crate) mod subject;
pub mod verdict;
