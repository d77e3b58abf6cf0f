//! Converts old configurations to mindful plans, and results of other tools to runs. Nothing in a file is ever
//! executed.
//!
//! A file is recognised by its content ([`recognised`]). Its [`Format`] parses it into [`OldStep`]s for every verb, so
//! that all verbs show the same figures. [`runs`] groups steps that belong to one run. Missing figures are unknown,
//! never 0. A release with figures that cannot all be read correctly is refused with its name.

mod configuration;
mod date;
mod formats;
mod input;
mod number;
mod old_step;
mod report;
pub mod rows;
mod runs;
mod source;
mod tables;
mod unknown;
pub mod waits;

pub use configuration::{ImportedPlan, import_configuration};
pub use formats::orion::LatencyUnit;
pub use formats::{FORMATS, Format};
pub use old_step::{MOST_SESSIONS, OldStep};
pub use runs::{OldRun, runs};
pub use source::{Source, recognised};
