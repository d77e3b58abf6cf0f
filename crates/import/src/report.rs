//! What an AWR or Statspack report shows, whatever its version and form.

mod contents;
mod extract;
pub mod histogram;
mod identity;
mod snapshots;
mod waited;
mod waits;

pub use contents::{EventLine, EventList, Report, Scope, Statistic};
pub use extract::of_tables;
pub use snapshots::clock;
pub use waited::Waited;
