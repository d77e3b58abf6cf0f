//! Time limits of work on a server that serves other clients meanwhile. A server that serves no client is abandoned
//! sooner.

use std::time::Duration;

use mindful_core::Error;

/// Timeouts of a connection that a question may take.
const QUESTION: u32 = 30;
/// Limit for a load, a proof or a removal of tables.
const TABLES: Duration = Duration::from_hours(7 * 24);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    Question,
    /// Its time grows with the size of tables.
    Tables,
}

impl Patience {
    /// The limit on a connection with this timeout.
    pub fn limit(self, timeout: Duration) -> Duration {
        match self {
            Self::Question => QUESTION * timeout,
            Self::Tables => TABLES,
        }
    }
}

/// `timeout` is the parameter that extends the limit.
pub fn not_ended(limit: Duration, timeout: &str) -> Error {
    let what = format!("no end of a statement after {} s, although the server answers others", limit.as_secs());
    Error::target(what, format!("see what it waits for on the server, such as a lock; {timeout}=SECONDS waits longer"))
}
