//! Single waits, exact to the microsecond, in groups by their fields. Traces contain them.

mod distribution;
mod fields;
mod group;

pub use fields::{Field, Filter, Wait};
pub use group::Grouped;
pub(crate) use group::{Blocks, WaitKind};
