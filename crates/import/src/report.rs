//! Contents of an AWR or Statspack report, in any version and form.

mod consistency;
mod contents;
mod extract;
pub(crate) mod histogram;
mod identity;
mod snapshots;
pub(crate) mod step;
mod waited;
mod waits;

pub(crate) use contents::{EventList, Report, Scope, Statistic};
pub(crate) use extract::of_tables;
pub(crate) use snapshots::clock;
pub(crate) use waited::{EventLine, Waited};
