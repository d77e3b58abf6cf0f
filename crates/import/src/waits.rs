//! Single waits, as some formats hold them: exact to the microsecond, in groups, by what is reported of each.

mod distribution;
mod fields;
mod group;
mod wait;

pub use distribution::Distribution;
pub use fields::{Field, Filter};
pub use group::{Blocks, Group, Grouped, Kind};
pub use wait::Wait;
