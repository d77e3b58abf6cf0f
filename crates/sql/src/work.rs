//! The work of a session: the commits of its updates, its think time, and its warm-up.

pub mod commit_policy;
pub mod pause;
pub mod warm_up;
