//! The common parts of the engines for SQL databases, independent of the driver.
//!
//! The folders are those of the engines. `connect` splits URLs, reads the environment, sets up TLS, keeps the control
//! connection and the request to abort. `dataset` reads a registry of tables, runs the streams of a load, locks a namespace
//! and collects a proof. In `meeting` the ranks of a run meet. `work` decides when updates commit and how long a session
//! thinks. `observe` samples wait events.
//!
//! A generic `Link` over a trait of drivers was rejected. One driver is asynchronous, one blocks, and one needs a
//! thread for each call, so the trait would be larger than the code it saves. An engine keeps its own `Link`, built
//! from these parts.

pub mod connect;
pub mod dataset;
pub mod meeting;
pub mod observe;
pub mod work;

use mindful_core::Capabilities;

/// Capabilities of an engine for any SQL database.
pub const CAPABILITIES: Capabilities = Capabilities { server_side_loop: true, ..Capabilities::CLIENT_LOOP };
