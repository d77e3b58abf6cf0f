//! Plain data and the contracts of mindful.
//!
//! Everything the other crates share stands here: what is to be done ([`plan`], [`workload`]),
//! who can do it ([`engine`]), what happens while it is done ([`event`], [`slice`], [`metric`])
//! and what came of it ([`result`]). Nothing in this crate touches a disk, a socket or a terminal.

pub mod bound;
pub mod client_loop;
pub mod clock;
pub mod dataset;
pub mod description;
pub mod draw;
pub mod engine;
pub mod error;
pub mod event;
pub mod fact;
pub mod file_reads;
pub mod finding;
pub mod gathered;
pub mod head;
pub mod joint;
pub mod latency;
pub mod load_queue;
pub mod meeting;
pub mod metric;
pub mod oracle;
pub mod over_targets;
pub mod pace;
pub mod plan;
pub mod price;
pub mod proof_sample;
pub mod published;
pub mod rank;
pub mod result;
pub mod rights;
pub mod run;
pub mod secret;
pub mod self_proof;
pub mod settings;
pub mod sharing;
pub mod slice;
pub mod spread;
pub mod sweep;
pub mod tables;
pub mod units;
pub mod wait;
pub mod workload;

pub use engine::{Capabilities, Engine, Session, Target};
pub use error::{Error, ErrorKind, Result};
