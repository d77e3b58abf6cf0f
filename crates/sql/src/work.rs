//! The work of a session: when its updates commit, how it thinks between operations, and how it warms up.

pub mod commit_policy;
pub mod pause;
pub mod warm_up;
