//! Errors inside this engine, until they are reported as one line with the next step.

use mindful_core::Error;
use tokio_postgres::error::SqlState;

use crate::connect::{self, Connection};

/// A failure of the server or the network, or our own refusal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Server(#[from] tokio_postgres::Error),
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

    /// Like [`Failure::at`] for work on `connection`, which has the server's reason if it was closed.
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
