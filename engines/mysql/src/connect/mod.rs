//! Connections to MariaDB and MySQL: the URLs, variables and files of their client, TLS, the login, and statements.

pub(crate) mod abort;
pub(crate) mod client;
mod environment;
mod given;
pub(crate) mod link;
mod login;
mod option_file;
mod packets;
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
use mindful_sql::connect::abort::Patience;
use mindful_sql::connect::driver_panic::caught;
use rustls::ClientConfig;

pub(crate) use client::Conn;
pub(crate) use url::redact;

use crate::error::{DENIED, Failure, no_mysql};
use environment::Environment;
use given::{Given, Road};
use login::Login;
use packets::{Probe, Waiting};
use tls::{Mode, Tls};
use wire::Wire;

const EXPOSED: &str = "a password on the command line is visible in the process list: put it in MYSQL_PWD or ~/.my.cnf";

/// Where to connect and as which user: a URL, completed from the surroundings. Shows no secret, however it is printed.
#[derive(Clone)]
pub(crate) struct Server {
    given: Given,
    tls: Option<Arc<ClientConfig>>,
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

    /// A new connection. A server that is silent for a while, and answers no other connection either, is abandoned.
    pub(crate) fn connect(&self) -> Result<Conn> {
        let mut conn = self.connect_within(self.given.connect_timeout)?;
        let server = self.clone();
        let probe = Probe {
            after: SILENCE * self.given.connect_timeout,
            answers_another: Box::new(move || server.answers_another()),
        };
        let waiting = Waiting { limit: self.limit(Patience::Question), probe: Some(probe) };
        conn.wait(Some(waiting)).map_err(|failure| failure.at(&self.place()))?;
        Ok(conn)
    }

    /// The limit for an answer to work of this kind.
    pub(crate) fn limit(&self, patience: Patience) -> Duration {
        patience.limit(self.given.connect_timeout)
    }

    /// Whether the server still answers on `conn`, in the time that it has to let somebody in.
    pub(crate) fn answers(&self, conn: &mut Conn) -> bool {
        conn.answers(self.given.connect_timeout)
    }

    /// A new connection, which waits for each answer no longer than this.
    pub(crate) fn connect_within(&self, within: Duration) -> Result<Conn> {
        let place = self.place();
        let known = self.given.password.clone().or_else(|| typed::password_for(&place));
        let connected = match self.log_in(known.as_deref(), within) {
            Err(refused) if known.is_none() && refused.code() == Some(DENIED) => match typed::ask(&place)? {
                Some(password) => {
                    let connected = self.log_in(Some(&password), within);
                    connected.inspect(|_| typed::keep(&place, password))
                }
                None => Err(refused),
            },
            other => other,
        };
        connected.map_err(|failure| {
            let is_denied = failure.code() == Some(DENIED);
            let mut refusal = failure.at(&place);
            if is_denied && self.given.tls.mode == Mode::Disabled && matches!(self.given.road, Road::Tcp(..)) {
                refusal.next += "; ssl-mode=REQUIRED for an account that accepts only encrypted connections";
            }
            refusal
        })
    }

    /// Whether the server answers another client; a refusal is an answer.
    fn answers_another(&self) -> Result<()> {
        let known = self.given.password.clone().or_else(|| typed::password_for(&self.place()));
        let connected = self.log_in(known.as_deref(), self.given.connect_timeout);
        match connected.and_then(|mut conn| conn.query_drop("SELECT 1")) {
            Err(failure) if failure.code().is_none() => Err(failure.at(&self.place())),
            _ => Ok(()),
        }
    }

    fn log_in(&self, password: Option<&str>, within: Duration) -> Result<Conn, Failure> {
        let (wire, name) = match &self.given.road {
            Road::Socket(path) => (Wire::to_socket(path)?, None),
            Road::Tcp(host, port) => {
                (Wire::to_addresses((host.as_str(), *port).to_socket_addrs()?, within)?, Some(host.as_str()))
            }
        };
        let login = Login {
            user: &self.given.user,
            password,
            tls: self.tls.as_ref().zip(name),
            may_be_clear: self.given.tls.mode == Mode::Preferred,
            is_socket: name.is_none(),
            is_local: self.is_local(),
        };
        let connected = caught(|| {
            let mut conn = login::log_in(wire, &login, within)?;
            INIT.iter().try_for_each(|statement| conn.query_drop(statement)).map(|()| conn)
        });
        connected.unwrap_or_else(|words| Err(Failure::Lost(no_mysql(&format!(" ({words})")))))
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())
    }
}

/// Number of timeouts that a server is silent before it is probed by another connection.
const SILENCE: u32 = 3;

/// Sent first on every connection, so that statements have the same meaning under any defaults of the server.
const INIT: [&str; 3] = [
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO'",
    include_str!("../../sql/begin.sql"),
    "SET SESSION TRANSACTION READ WRITE",
];
