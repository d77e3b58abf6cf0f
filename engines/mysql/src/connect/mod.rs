//! Where to connect, and as whom.

use std::path::Path;

use mindful_core::Result;
use mysql::{Conn, Opts, OptsBuilder};

use crate::error::Failure;

/// A server, and who connects to it. Shows no secret, however it is printed.
#[derive(Clone)]
pub struct Server {
    options: Opts,
    /// How messages name it.
    place: String,
    local: bool,
}

impl Server {
    /// The server behind a socket, for a user without a password.
    pub fn from_socket(socket: &Path, user: &str) -> Self {
        let options = common().socket(Some(socket.display().to_string())).user(Some(user)).into();
        Self { options, place: socket.display().to_string(), local: true }
    }

    /// A new connection.
    pub fn connect(&self) -> Result<Conn> {
        Conn::new(self.options.clone()).map_err(|error| Failure::from(error).at(&self.place))
    }

    /// How messages name it.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Whether its address is one of this host.
    pub fn is_local(&self) -> bool {
        self.local
    }
}

/// What every connection is told first: whatever the server's defaults, statements mean the same.
const INIT: [&str; 2] = [
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO'",
    "SET SESSION autocommit = 1, SESSION time_zone = '+00:00', NAMES utf8mb4",
];

fn common() -> OptsBuilder {
    // Nothing looks for a socket by itself, and a statement is prepared where somebody asks for it.
    OptsBuilder::new().prefer_socket(false).tcp_nodelay(true).init(INIT.to_vec())
}
