//! The work of a session, from the refusal of an unsupported workload to the last commit.
//!
//! - `prepare` checks before sessions start; `switches` controls query plans, and `plan_check` reads them; `settle`
//!   finishes deferred work of an earlier step.
//! - `statement` writes the SQL of a session. `session` makes many reads in one statement, each timed in the server
//!   (`server_time`); `client_session` sends one statement an operation. `commit` decides when updates are committed.

pub(crate) mod client_session;
pub(crate) mod commit;
pub(crate) mod fill;
pub(crate) mod plan_check;
pub(crate) mod prepare;
pub(crate) mod server_time;
pub(crate) mod session;
pub(crate) mod settle;
pub(crate) mod statement;
pub(crate) mod switches;
