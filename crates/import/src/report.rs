//! What an AWR or Statspack report tells, whatever its version and dress.

mod contents;
mod extract;
pub mod histogram;
mod identity;
mod snapshots;
mod waited;
mod waits;

pub use contents::{EventLine, EventList, Identity, Report, Scope, Snapshots, Statistic};
pub use extract::of_tables;
pub use histogram::Histogram;
pub(crate) use snapshots::clock;
pub use waited::Waited;
