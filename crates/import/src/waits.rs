//! Single waits, exact to the microsecond, in groups by their fields. Traces contain them.

mod distribution;
mod fields;
mod group;
mod wait;

pub use fields::{Field, Filter};
pub use group::Grouped;
pub(crate) use group::{Blocks, WaitKind};
pub use wait::Wait;
