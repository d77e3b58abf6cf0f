//! The contract of an engine, and the events of a run.
//!
//! An [`engine`] opens a target. A target opens sessions and samplers and manages a dataset. A session does one
//! [`slice`](self::slice) of about a second at a time and reports it. Samplers read [`metric`]s. All results become
//! [`event`]s, which are shown, stored and read back as the same values. All time comes from a [`clock`], so that a
//! simulated clock can replace the host's.

pub mod clock;
pub(crate) mod dataset_store;
pub mod description;
pub mod engine;
pub mod error;
pub mod event;
pub mod fact;
pub mod file_read;
pub mod metric;
pub(crate) mod resolved;
pub mod session;
pub mod slice;
pub mod stop_flag;
pub mod target;
pub mod wait;
pub mod watch;

pub use dataset_store::{BARE_WRITES_FILE, DatasetStore, MARK_FILE, OwnedObject};
pub use resolved::Resolved;
pub use target::{Proven, SelfProof, StoredProof};
