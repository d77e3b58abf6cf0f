//! Contents of an AWR or Statspack report, in any version and form.

mod consistency;
mod contents;
mod extract;
pub(crate) mod histogram;
mod identity;
pub(crate) mod step;
mod waited;
mod waits;

pub(crate) use contents::{EventList, Report, Scope, Statistic};
pub(crate) use extract::of_tables;
pub(crate) use identity::clock;
pub(crate) use waited::{EventLine, Waited};
