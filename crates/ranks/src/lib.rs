//! Several identical processes, the ranks, share one run.
//!
//! A launcher such as `srun`, `mpirun` or a Kubernetes Job starts the ranks. They find each other at a
//! [`Rendezvous`](mindful_core::ranks::rendezvous::Rendezvous): rows with leases, chunks of bytes and one clock for
//! all. Rank 0 reads the rows of all; the others read only its row. So the load on the rendezvous grows with the ranks,
//! not with their square. Nothing is pushed: a database table or a shared folder can be the rendezvous, and no port has
//! to be opened between hosts.
//!
//! [`Ranked`] implements `mindful_runner::Coordination`. [`coordinator`] is the protocol, and [`heartbeat`] renews a
//! rank's row. [`run_merge`] merges the parts of all ranks into one run. [`local`] starts ranks on this host without a
//! launcher.

mod coordinator;
mod heartbeat;
mod join_request;
pub mod local;
mod merge;
mod peers;
mod plan_digest;
mod rank_state;
mod ranked;
mod run_merge;

pub use coordinator::RankCoordinator;
pub use join_request::JoinRequest;
pub use merge::{merge_folders, store_merged};
pub use plan_digest::{key_marks, plan_digest};
pub use rank_state::LEASE;
pub use ranked::Ranked;
pub use run_merge::{RunMerge, part_of};
