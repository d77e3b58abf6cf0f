//! The work of a session, from the refusal of an unsupported workload to the last commit.
//!
//! - `prepare` checks before sessions start; `access` sets how reads reach their blocks, and `plan_check` reads the server's
//!   query plans; `settle` finishes deferred work of an earlier step.
//! - `statement` writes the SQL of a session. `session` runs it in the server, one CALL a slice; `client_session` sends one
//!   statement an operation, as an application does.

pub(crate) mod access;
pub(crate) mod client_session;
pub(crate) mod fill;
pub(crate) mod plan_check;
pub(crate) mod prepare;
pub(crate) mod session;
pub(crate) mod settle;
pub(crate) mod statement;
