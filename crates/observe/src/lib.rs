//! Watching: one sampling loop, one clock, and the sources of the host.
//!
//! [`Observer`] reads samplers at the borders of slices; [`host_samplers`] finds those of this host, one source of
//! `/proc` a file.

mod client;
mod cpu;
mod device;
mod diskstats;
mod host;
mod kernel;
mod mounts;
mod observer;
mod proc_file;
mod processes;
mod schedule;

pub use host::host_samplers;
pub use observer::Observer;
pub use schedule::Borders;
