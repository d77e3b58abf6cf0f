//! Runs that would claim more than they are, each caught: by its headline, its code, or both. It is compared with the
//! same run without the lie.

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
