//! Old configurations as mindful plans, and results of other tools as runs. Nothing in a file is ever executed.
//!
//! A file is recognised by its content ([`recognised`]). Its [`Format`] reads it into [`OldStep`]s, whichever verb asked, so that
//! all verbs show the same figures. [`runs`] puts steps together that belong to one run. What a file does not show is
//! unknown, never 0. A release whose figures cannot all be read right is refused with its name.

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
