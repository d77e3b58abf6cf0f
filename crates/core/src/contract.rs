//! What an engine promises and what happens while it works.
//!
//! An [`engine`] opens a target; a target gives sessions, samplers and a dataset. Each session does a [`slice`](self::slice) of
//! about a second and reports it. Samplers read a [`metric`]. All of it becomes an [`event`], which is shown, stored and read
//! back as the same value. Time comes from a [`clock`] alone, so that a simulated clock can replace that of the host.

pub mod clock;
pub(crate) mod dataset_store;
pub mod description;
pub mod engine;
pub mod error;
pub mod event;
pub mod fact;
pub mod file_read;
pub mod metric;
pub(crate) mod own_folder;
pub(crate) mod resolved;
pub(crate) mod self_proof;
pub mod session;
pub mod slice;
pub mod stop_flag;
pub mod target;
pub mod wait;
pub mod watch;

pub use dataset_store::{DatasetStore, OwnedObject};
pub use own_folder::{BARE_WRITES_FILE, MARK_FILE};
pub use resolved::Resolved;
pub use self_proof::{Proven, SelfProof, StoredProof};
