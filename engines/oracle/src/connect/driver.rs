//! What the engine asks of a driver: four calls. The real one speaks to a server; tests put another in its place.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub trait Driver: Send + Sync {
    /// A connection to `login`; given up once `login.within` is over, whatever the other side does.
    fn connect(&self, login: &Login) -> Result<Box<dyn Connection>, Failure>;
}

pub trait Connection: Send {
    /// Executes what is no query; given up after `within`. Returned values are in the order of their binds.
    fn execute(&mut self, sql: &str, binds: &[(&str, Bind)], within: Duration) -> Result<Done, Failure>;

    /// All rows of a query, given up after `within`; NULL is `None`, numbers are their decimal digits.
    fn query(&mut self, sql: &str, binds: &[(&str, Bind)], within: Duration) -> Result<Vec<Row>, Failure>;

    fn commit(&mut self) -> Result<(), Failure>;
}

pub type Row = Vec<Option<String>>;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    pub rows: u64,
    /// What its binds hold now: those of [`Bind::Room`].
    pub out: Vec<Option<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bind {
    /// A NUMBER without fraction.
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
    /// Room for a VARCHAR2 of so many bytes, which comes back filled. More than 4,000 come back only into a text of that
    /// length, so that is what is sent.
    Room(usize),
}

#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// EZConnect, alias of tnsnames.ora or descriptor.
    pub address: String,
    pub user: String,
    pub password: String,
    /// Folder of tnsnames.ora; `None`: as `TNS_ADMIN` says.
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
    /// The server says no: number and text of its error.
    Server {
        /// The number after `ORA-`.
        code: u32,
        text: String,
    },
    /// The listener refused, with the number of its error where it gives one.
    Listener {
        /// The number after `ORA-`.
        code: Option<u32>,
        text: String,
    },
    /// Nothing came back in this time.
    Silent(Duration),
    /// The server asks for what the driver cannot do: it gave up by a panic, with these words.
    Unable(String),
    Lost(String),
    /// The address is no address: an alias that is not there, a descriptor that cannot be read.
    Address(String),
    Tls(String),
    /// What came back cannot be read.
    Garbled(String),
    /// Someone asked to stop while the call was under way: it is left to itself, and its connection with it.
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

    /// Whether the server said that something it was asked for has no column of that name.
    pub(crate) fn lacks_column(&self) -> bool {
        self.code() == Some(904)
    }

    /// Whether nothing more can be said over the connection.
    pub(crate) fn ends_connection(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Silent(_) | Self::Garbled(_) | Self::Unable(_) | Self::Left)
    }

    /// Whether the server said that the account may not see or do this, or that there is no such thing for it.
    pub(crate) fn lacks_right(&self) -> bool {
        // No such table or view, no right, no such package, the same from PL/SQL, and in Autonomous a lockdown profile.
        matches!(self, Self::Server { code: 942 | 1031 | 6550 | 4043 | 41900, .. })
    }
}
