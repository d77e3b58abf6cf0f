//! What can fail in here, until it is reported as one line with the next move.

use mindful_core::Error;

/// The server or the road to it, or our own judgement.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The server, or the connection to it.
    #[error(transparent)]
    Server(#[from] mysql::Error),
    /// Judged already.
    #[error(transparent)]
    Ours(#[from] Error),
}

impl Failure {
    /// The error for the rest of mindful; `place` is what was being done and on what.
    pub fn at(self, place: &str) -> Error {
        match self {
            Self::Ours(error) => error,
            Self::Server(error) => explain(&error, place),
        }
    }
}

/// What the server or the driver said, in one line.
pub fn explain(error: &mysql::Error, place: &str) -> Error {
    match error {
        mysql::Error::MySqlError(said) => Error::run(format!("{place}: {} ({})", said.message, said.code), ""),
        mysql::Error::IoError(io) => Error::run(format!("{place}: the server is gone ({io})"), "see its error log"),
        other => Error::run(format!("{place}: {other}"), ""),
    }
}

/// The number of the server's error.
pub fn code(error: &mysql::Error) -> Option<u16> {
    match error {
        mysql::Error::MySqlError(said) => Some(said.code),
        _ => None,
    }
}

/// Whether the server said no for want of a right: `ER_DBACCESS_DENIED_ERROR`, `ER_ACCESS_DENIED_ERROR`,
/// `ER_TABLEACCESS_DENIED_ERROR`, `ER_COLUMNACCESS_DENIED_ERROR`, `ER_SPECIFIC_ACCESS_DENIED_ERROR`,
/// `ER_PROCACCESS_DENIED_ERROR`, `ER_KILL_DENIED_ERROR`, `ER_BINLOG_CREATE_ROUTINE_NEED_SUPER`.
pub fn lacks_right(error: &mysql::Error) -> bool {
    code(error).is_some_and(|code| [1044, 1045, 1142, 1143, 1227, 1370, 1095, 1419].contains(&code))
}
