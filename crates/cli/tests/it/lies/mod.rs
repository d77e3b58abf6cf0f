//! Runs that would claim more than they are, each caught: by its headline, its code, or both. The same run without the
//! lie is held beside it.

mod cache;
mod caps;
mod clock;
mod control_group;
#[cfg(feature = "mysql")]
mod innodb;
mod ladder;
mod layers;
mod levels;
mod limits;
mod log_volume;
mod meanwhile;
pub(crate) mod neighbours;
#[cfg(feature = "mysql")]
mod siblings;
mod stalls;
mod work;
