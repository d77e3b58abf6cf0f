//! Connections to MariaDB and MySQL: the URLs, variables and files of their client, TLS, and errors a person can act on.

pub(crate) mod abort;
pub(crate) mod direct;
mod environment;
mod explain;
mod given;
pub(crate) mod link;
mod option_file;
mod packets;
mod relay;
mod socket;
pub(crate) mod thread;
mod tls;
mod typed;
mod url;
mod wire;

use std::env;
use std::fmt;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mindful_core::Result;
use mindful_sql::connect::driver_panic::caught;
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use rustls::ClientConfig;

use explain::is_not_ended;
pub(crate) use explain::{code, explain};
pub(crate) use socket::Socket;
pub(crate) use url::redact;

use environment::Environment;
use explain::{no_mysql, no_tls};
use given::{Given, Road};
use relay::{Address, Handle, Probe, Relay};
use tls::{Mode, Tls};
use wire::Wire;

const EXPOSED: &str = "a password on the command line is visible in the process list: put it in MYSQL_PWD or ~/.my.cnf";

/// Where to connect and as which user: a URL, completed from the surroundings. Shows no secret, however it is printed.
#[derive(Clone)]
pub(crate) struct Server {
    given: Given,
    tls: Option<Arc<ClientConfig>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Session,
    Other,
}

impl Server {
    /// The server of `url` in this process's environment. Nothing is connected yet.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let parts = url::split(url)?;
        let mut given = Given::collect(&parts, &Environment::of_process())?;
        if parts.password.is_some() && env::args_os().any(|argument| argument.to_string_lossy().contains(url)) {
            given.notes.push(EXPOSED.to_owned());
        }
        Ok(Self { tls: given.tls.config()?, given })
    }

    /// The server at a socket, for a user without a password.
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
        Self { given, tls: None }
    }

    pub(crate) fn user(&self) -> &str {
        &self.given.user
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

    /// A new connection, with its relay. A server that is silent for a while, and answers no other connection either,
    /// is abandoned.
    pub(crate) fn connect(&self, what: Use) -> Result<(Conn, Handle)> {
        let (connection, relay) = self.connect_by(self.given.connect_timeout, Some(what))?;
        Socket::from_connection(&connection).wait(None).map_err(|error| explain::io_fault(&error).at(self.place()))?;
        Ok((connection, relay))
    }

    /// Time that a session waits for an answer before the measurement.
    pub(crate) fn patience(&self) -> Duration {
        PATIENCE * self.given.connect_timeout
    }

    /// Whether the server still answers on `connection`, in the time that it has to let somebody in.
    pub(crate) fn answers(&self, connection: &mut Conn) -> bool {
        let socket = Socket::from_connection(connection);
        socket.wait(Some(self.given.connect_timeout)).is_ok() && connection.ping().is_ok() && socket.wait(None).is_ok()
    }

    /// A new connection, which waits for each answer no longer than this.
    pub(crate) fn connect_within(&self, within: Duration) -> Result<Conn> {
        self.connect_by(within, None).map(|(connection, _)| connection)
    }

    /// Whether the server answers another client; a refusal is an answer.
    fn answers_another(&self) -> Result<()> {
        let within = self.given.connect_timeout;
        let password = self.given.password.clone().or_else(|| typed::password_for(&self.place()));
        match self.log_in(password.as_deref(), within, None)? {
            Ok((mut connection, _)) => match caught(|| connection.query_drop("SELECT 1")) {
                Ok(Err(error)) => self.has_said(&error),
                _ => Ok(()),
            },
            Err(error) => self.has_said(&error),
        }
    }

    fn has_said(&self, error: &mysql::Error) -> Result<()> {
        let said = code(error).is_some_and(|code| code != packets::REFUSED);
        if said { Ok(()) } else { Err(explain(error, &self.place())) }
    }

    /// A connection without a use only probes whether the server answers, and is not probed itself.
    fn connect_by(&self, within: Duration, what: Option<Use>) -> Result<(Conn, Handle)> {
        let place = self.place();
        let password = self.given.password.clone().or_else(|| typed::password_for(&place));
        let log_in = |password| self.log_in(password, within, what).map_err(|error| error.at(&place));
        let connected = match log_in(password.as_deref())? {
            Err(error) if password.is_none() && code(&error) == Some(explain::DENIED) => match typed::ask(&place)? {
                Some(password) => {
                    let connected = log_in(Some(&password))?;
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

    fn log_in(
        &self,
        password: Option<&str>,
        within: Duration,
        what: Option<Use>,
    ) -> Result<mysql::Result<(Conn, Handle)>> {
        let (address, relay) = self.relay(within, what.is_some())?;
        // A session of many schemas prepares more statements than the driver caches, and the driver closes the evicted
        // ones.
        let statements = (what == Some(Use::Session)).then_some(0);
        let options = self.options(&address, within).pass(password).stmt_cache_size(statements);
        let connected = caught(|| Conn::new(options)).map_err(|words| no_mysql(&format!(" ({words})")))?;
        Ok(connected.map(|connection| (connection, relay)))
    }

    /// Starts a relay, which checks incoming packets. With `probes` it probes a silent server.
    fn relay(&self, within: Duration, probes: bool) -> Result<(Address, Handle)> {
        let (wire, name) = match &self.given.road {
            Road::Socket(path) => (Wire::to_socket(path, within)?, None),
            Road::Tcp(host, port) => {
                let addresses = (host.as_str(), *port).to_socket_addrs().map_err(|error| explain::io_fault(&error))?;
                (Wire::to_addresses(addresses, within)?, Some(host.clone()))
            }
        };
        let server = self.clone();
        let probe: Option<Probe> = probes.then(|| Arc::new(move || server.answers_another()) as Probe);
        let relay = Relay::greet(wire, self.tls.clone().zip(name), within, probe)?;
        if self.tls.is_none() || relay.offers_tls() || relay.refuses() {
            return relay.start();
        }
        if self.given.tls.mode != Mode::Preferred {
            return Err(no_tls().at(self.place()));
        }
        relay.without_tls().start()
    }

    fn options(&self, relay: &Address, within: Duration) -> OptsBuilder {
        let options = OptsBuilder::new()
            // A socket is not searched for.
            .prefer_socket(false)
            .read_timeout(Some(within))
            .write_timeout(Some(within))
            .max_allowed_packet(Some(LONGEST_PACKET))
            .init(INIT.to_vec())
            .user(Some(self.given.user.clone()));
        match relay {
            Address::Socket(path) => options.socket(Some(path.display().to_string())),
            Address::Port(port) => options
                .ip_or_hostname(Some("127.0.0.1"))
                .tcp_port(*port)
                .tcp_nodelay(true)
                .tcp_connect_timeout(Some(within))
                // An attacker in between could send a different key and read the password.
                .server_key_path((!self.is_local()).then(|| NO_KEY.into())),
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())
    }
}

/// Number of timeouts that a session waits for an answer outside of the measurement.
const PATIENCE: u32 = 3;

/// Longest packet that is read or sent, bytes: one that no other continues.
const LONGEST_PACKET: usize = (16 << 20) - 2;

/// A file that is nowhere: without encryption no password is sent by a key that came the same way.
const NO_KEY: &str = "/a server that asks for the password itself needs ssl-mode=REQUIRED";

/// Sent first on every connection, so that statements have the same meaning under any defaults of the server.
const INIT: [&str; 3] = [
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO'",
    include_str!("../../sql/begin.sql"),
    "SET SESSION TRANSACTION READ WRITE",
];
