//! Errors inside this engine, until they are reported as one line with the next step.

use mindful_core::Error;

use crate::connect::{self, code};

/// A failure of the server or the network, or our own refusal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Server(#[from] mysql::Error),
    #[error(transparent)]
    Ours(#[from] Error),
}

impl Failure {
    /// The error for other crates; `place` names the activity and its object.
    pub(crate) fn at(self, place: &str) -> Error {
        match self {
            Self::Ours(error) => error,
            Self::Server(error) => connect::explain(&error, place),
        }
    }
}

/// Whether the server refused because a privilege is missing: `ER_DBACCESS_DENIED_ERROR`, `ER_ACCESS_DENIED_ERROR`,
/// `ER_TABLEACCESS_DENIED_ERROR`, `ER_COLUMNACCESS_DENIED_ERROR`, `ER_SPECIFIC_ACCESS_DENIED_ERROR`,
/// `ER_PROCACCESS_DENIED_ERROR`, `ER_KILL_DENIED_ERROR`, `ER_BINLOG_CREATE_ROUTINE_NEED_SUPER`.
pub(crate) fn lacks_right(error: &mysql::Error) -> bool {
    code(error).is_some_and(|code| [1044, 1045, 1142, 1143, 1227, 1370, 1095, 1419].contains(&code))
}
