//! The sampling loop, its clock, and the sources of the host.
//!
//! [`Observer`] reads samplers at the boundaries of slices; [`host_samplers`] finds those of this host, with one source
//! of `/proc` a file.

mod block_trace;
mod cgroup;
mod client;
mod clocks;
mod cpu;
mod data_devices;
mod diskstats;
mod doctor;
mod environment;
mod host;
mod http;
mod named_values;
mod neighbours;
mod network;
mod node_exporter;
mod observer;
mod pressure;
mod processes;
mod schedule;
mod volume_caps;
mod watch;

pub use doctor::{host_checks, log_in_memory};
pub use environment::environment;
pub use host::host_samplers;
pub use node_exporter::node_exporter;
pub use observer::{Observer, Sources, Watching};
pub use schedule::Boundaries;
pub use watch::host_watches;
