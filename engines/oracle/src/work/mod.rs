//! The work of a session, from the refusal of an unsupported workload to the last commit.
//!
//! - `prepare` checks before sessions start.
//! - `statement` renders every SQL and PL/SQL text. `session` runs a PL/SQL block a slice, which takes its operations from
//!   `ops` and counts latencies by `bucket`; `client_session` sends one statement an operation, as an application does.

pub mod bucket;
pub(crate) mod client_session;
pub(crate) mod ops;
pub(crate) mod prepare;
pub(crate) mod session;
pub mod statement;
