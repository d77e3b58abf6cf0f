//! Runs that would claim more than they are, each caught: by its headline, its code, or both. The same run without the
//! lie is held beside it.

pub mod bench;
mod cache;
mod clock;
mod control_group;
mod ladder;
mod layers;
mod limits;
mod neighbours;
pub mod server;
mod stalls;
mod work;
