//! What can fail in here, until it is reported as one line with the next step.

use mindful_core::Error;
use tokio_postgres::error::SqlState;

use crate::connect::{self, Connection};

/// The server or the road to it, or our own judgement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Server(#[from] tokio_postgres::Error),
    #[error(transparent)]
    Ours(#[from] Error),
}

impl Failure {
    /// The error for the rest of mindful; `place` is what was being done and on what.
    pub(crate) fn at(self, place: &str) -> Error {
        match self {
            Self::Ours(error) => error,
            Self::Server(error) => connect::explain(&error, place),
        }
    }

    /// The same for work on `connection`, which knows why the server closed it.
    pub(crate) fn on(self, connection: &Connection, place: &str) -> Error {
        match self {
            Self::Ours(error) => error,
            Self::Server(error) => connection.explain(&error).at(place),
        }
    }
}

pub(crate) fn lacks_right(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE)
}
