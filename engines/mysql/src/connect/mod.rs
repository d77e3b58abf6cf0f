//! Connections to MariaDB and MySQL: the URLs, variables and files of their client, TLS, and errors a person can act on.

pub(crate) mod abort;
mod environment;
mod explain;
mod given;
mod greeting;
pub(crate) mod link;
mod option_file;
mod socket;
mod tls;
mod typed;
mod url;

use std::env;
use std::fmt;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mindful_core::Result;
use mysql::{Conn, DriverError, OptsBuilder, SslOpts};

pub(crate) use explain::{code, explain};
pub(crate) use socket::Socket;
pub(crate) use url::redact;

use environment::Environment;
use given::{Given, Road};
use tls::{Mode, Tls};

const EXPOSED: &str = "a password on the command line stands in the process list: put it in MYSQL_PWD or ~/.my.cnf";

/// Where to connect and as whom: a URL, completed from the surroundings. Shows no secret, however it is printed.
#[derive(Clone)]
pub(crate) struct Server {
    given: Given,
    tls: Option<SslOpts>,
    /// Something answered there once, and it was a server of ours.
    greeted: Arc<AtomicBool>,
}

impl Server {
    /// What `url` names in this process's surroundings. Nothing is connected yet.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let parts = url::split(url)?;
        let mut given = Given::collect(&parts, &Environment::of_process())?;
        if parts.password.is_some() && env::args_os().any(|argument| argument.to_string_lossy().contains(url)) {
            given.notes.push(EXPOSED.to_owned());
        }
        Ok(Self { tls: given.tls.options()?, given, greeted: Arc::default() })
    }

    /// The server behind a socket, for a user without a password.
    pub(crate) fn from_socket(socket: &Path, user: &str) -> Self {
        let given = Given {
            road: Road::Socket(socket.to_owned()),
            user: user.to_owned(),
            password: None,
            database: None,
            tls: Tls::OFF,
            connect_timeout: Duration::from_secs(10),
            notes: Vec::new(),
        };
        Self { given, tls: None, greeted: Arc::default() }
    }

    pub(crate) fn database(&self) -> Option<&str> {
        self.given.database.as_deref()
    }

    pub(crate) fn notes(&self) -> &[String] {
        &self.given.notes
    }

    /// How messages name it: `user@host:port`.
    pub(crate) fn place(&self) -> String {
        match &self.given.road {
            Road::Socket(path) => format!("{}@{}", self.given.user, path.display()),
            Road::Tcp(host, port) if host.contains(':') => format!("{}@[{host}]:{port}", self.given.user),
            Road::Tcp(host, port) => format!("{}@{host}:{port}", self.given.user),
        }
    }

    /// Whether it is reached by a socket or a loopback address.
    pub(crate) fn is_local(&self) -> bool {
        match &self.given.road {
            Road::Socket(_) => true,
            Road::Tcp(host, _) if host == "localhost" => true,
            Road::Tcp(host, _) => host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
        }
    }

    /// A new connection, which waits for answers as long as it takes once it is let in.
    pub(crate) fn connect(&self) -> Result<Conn> {
        let connection = self.connect_within(self.given.connect_timeout)?;
        Socket::from_connection(&connection).wait(None).map_err(|error| explain::io_fault(&error).at(self.place()))?;
        Ok(connection)
    }

    /// Whether the server still answers on `connection`, in the time that it has to let somebody in.
    pub(crate) fn answers(&self, connection: &mut Conn) -> bool {
        let socket = Socket::from_connection(connection);
        socket.wait(Some(self.given.connect_timeout)).is_ok() && connection.ping().is_ok() && socket.wait(None).is_ok()
    }

    /// The same as [`Self::connect`], which waits for each answer no longer than this.
    pub(crate) fn connect_within(&self, within: Duration) -> Result<Conn> {
        let place = self.place();
        // Of the first connection it is known by that whether a server of ours is there at all.
        if !self.greeted.load(Ordering::Relaxed) {
            self.greet(within).map_err(|error| error.at(&place))?;
            self.greeted.store(true, Ordering::Relaxed);
        }
        let password = self.given.password.clone().or_else(|| typed::password_for(&place));
        let connected = match self.log_in(password.as_deref(), within) {
            Err(error) if password.is_none() && code(&error) == Some(explain::DENIED) => match typed::ask(&place)? {
                Some(password) => {
                    let connected = self.log_in(Some(&password), within);
                    connected.inspect(|_| typed::keep(&place, password))
                }
                None => Err(error),
            },
            other => other,
        };
        connected.map_err(|error| match &self.given.road {
            Road::Socket(_) => explain(&error, &place),
            Road::Tcp(..) => explain::not_let_in(&error, &place, self.given.tls.mode == Mode::Disabled),
        })
    }

    fn log_in(&self, password: Option<&str>, within: Duration) -> mysql::Result<Conn> {
        let with = |tls| Conn::new(self.options(tls, within).pass(password));
        match with(self.tls.clone()) {
            Err(mysql::Error::DriverError(DriverError::TlsNotSupported)) if self.given.tls.mode == Mode::Preferred => {
                with(None)
            }
            other => other,
        }
    }

    fn greet(&self, within: Duration) -> Result<()> {
        match &self.given.road {
            Road::Socket(path) => greeting::of_socket(path, within),
            Road::Tcp(host, port) => match (host.as_str(), *port).to_socket_addrs() {
                Ok(addresses) => greeting::of_addresses(addresses, within),
                Err(error) => Err(explain::io_fault(&error)),
            },
        }
    }

    fn options(&self, tls: Option<SslOpts>, within: Duration) -> OptsBuilder {
        let unencrypted = tls.is_none() && !self.is_local();
        let common = OptsBuilder::new()
            // Nothing looks for a socket by itself.
            .prefer_socket(false)
            .tcp_nodelay(true)
            // A network that is cut is noticed within a minute, whoever was to say something.
            .tcp_keepalive_time_ms(Some(30_000))
            .tcp_keepalive_probe_interval_secs(Some(10))
            .tcp_keepalive_probe_count(Some(3))
            .tcp_user_timeout_ms(Some(60_000))
            .tcp_connect_timeout(Some(within))
            .read_timeout(Some(within))
            .write_timeout(Some(within))
            .init(INIT.to_vec())
            .user(Some(self.given.user.clone()))
            // Whoever stands between would hand out a key of its own and read the password.
            .server_key_path(unencrypted.then(|| NO_KEY.into()));
        match &self.given.road {
            Road::Socket(path) => common.socket(Some(path.display().to_string())),
            Road::Tcp(host, port) => common.ip_or_hostname(Some(host.clone())).tcp_port(*port).ssl_opts(tls),
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())
    }
}

/// A file that is nowhere: without encryption no password is sent by a key that came the same way.
const NO_KEY: &str = "/a server that asks for the password itself needs ssl-mode=REQUIRED";

/// What every connection is given first: whatever the server's defaults, statements mean the same.
const INIT: [&str; 2] = [
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO'",
    "SET SESSION autocommit = 1, SESSION time_zone = '+00:00', NAMES utf8mb4",
];
