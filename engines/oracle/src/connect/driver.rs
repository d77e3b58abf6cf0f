//! The interface of the engine to a driver: four calls. The real one connects to a server; tests use another.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub trait Driver: Send + Sync {
    /// A connection to `login`; fails after `login.within` in any case.
    fn connect(&self, login: &Login) -> Result<Box<dyn Connection>, Failure>;
}

pub trait Connection: Send {
    /// Executes a statement other than a query; fails after `within`. Returned values are in the order of their binds.
    fn execute(&mut self, sql: &str, binds: &[(&'static str, Bind)], within: Duration) -> Result<Done, Failure>;

    /// All rows of a query, within `within`; NULL is `None`, numbers are their decimal digits.
    fn query(&mut self, sql: &str, binds: &[(&'static str, Bind)], within: Duration) -> Result<Vec<Row>, Failure>;

    fn commit(&mut self) -> Result<(), Failure>;
}

pub type Row = Vec<Option<String>>;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    pub rows: u64,
    /// Values of its [`Bind::Room`] binds after the call.
    pub out: Vec<Option<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bind {
    /// A NUMBER without fraction.
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
    /// Space for a VARCHAR2 of that many bytes, which returns filled. More than 4,000 bytes are returned only into a
    /// text of that length, so such a text is sent.
    Room(usize),
}

#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// EZConnect, alias of tnsnames.ora or descriptor.
    pub address: String,
    pub user: String,
    pub password: String,
    /// Folder of tnsnames.ora; `None`: the value of `TNS_ADMIN`.
    pub config: Option<PathBuf>,
    pub wallet: Option<PathBuf>,
    pub wallet_password: Option<String>,
    pub within: Duration,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.user, self.address)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// An error of the server, with number and text.
    Server {
        /// The number after `ORA-`.
        code: u32,
        text: String,
    },
    /// The listener refused, with the number of its error if it has one.
    Listener {
        /// The number after `ORA-`.
        code: Option<u32>,
        text: String,
    },
    /// Nothing came back in this time.
    Silent(Duration),
    /// The server requires an unsupported feature: the driver panicked with this message.
    Unable(String),
    Lost(String),
    /// The address is no address: an alias that is not there, a descriptor that cannot be read.
    Address(String),
    Tls(String),
    /// The answer cannot be parsed.
    Garbled(String),
    /// A stop was requested during the call: it is abandoned with its connection.
    Left,
}

impl Failure {
    /// The number after `ORA-`, if the server or its listener gave one.
    pub(crate) fn code(&self) -> Option<u32> {
        match self {
            Self::Server { code, .. } => Some(*code),
            Self::Listener { code, .. } => *code,
            _ => None,
        }
    }

    /// Whether the server reported a missing column.
    pub(crate) fn lacks_column(&self) -> bool {
        self.code() == Some(904)
    }

    /// Whether the connection is no longer usable.
    pub(crate) fn ends_connection(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Silent(_) | Self::Garbled(_) | Self::Unable(_) | Self::Left)
    }

    /// Whether the server reported that the account may not see or do this, or that the object does not exist for it.
    pub(crate) fn lacks_right(&self) -> bool {
        // No such table or view, no right, no such package, the same from PL/SQL, and in Autonomous a lockdown profile.
        matches!(self, Self::Server { code: 942 | 1031 | 6550 | 4043 | 41900, .. })
    }
}
