//! Single waits, exact to the microsecond, in groups by their fields. Traces contain them.

mod distribution;
mod fields;
mod group;
mod wait;

pub use distribution::Distribution;
pub use fields::{Field, Filter};
pub use group::{Blocks, Group, Grouped, WaitKind};
pub use wait::Wait;
