//! The server process of a connection. A pooler may assign another one for each transaction or statement.

use mindful_core::Error;

/// The identity of a server process, unique also among processes of other servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Backend {
    pub pid: i32,
    /// When its server was started, us since the epoch by that server's clock.
    pub(super) server_started_us: i64,
}

/// The refusal of a connection with a changing server process.
pub(crate) fn pooled() -> Error {
    Error::target(
        "the server process of the connection changes between statements, as with a pooler in transaction or statement \
         mode",
        "set the pooler to session mode (PgBouncer: pool_mode = session), or name the server's own port",
    )
}
