//! Connections to PostgreSQL: the URLs, variables and files of libpq, TLS, and errors a person can act on.
//!
//! A URL may name several hosts. To libpq they stand in for one another; here each is an endpoint of its own, and
//! sessions are placed on them by number.

pub(crate) mod abort;
mod backend;
mod begin;
mod connection;
mod endpoint;
mod explain;
mod given;
mod host;
pub(crate) mod link;
mod parameter;
mod passfile;
pub(crate) mod pooler;
mod secret;
mod service;
mod session;
mod tls;
mod url;
mod verifier;

use std::env;
use std::path::Path;
use std::time::Duration;

use mindful_core::{Error, Result};
use mindful_sql::connect::url::encode;
use tokio_postgres::Config;

pub use backend::{Backend, pooled};
pub use connection::{Canceller, Connection};
pub use explain::explain;
pub use mindful_sql::connect::environment::Environment;
pub use url::redact;

use endpoint::{Endpoint, Passwords};
use given::Parameters;
use host::Host;
use tls::Tls;

const EXPOSED: &str = "a password on the command line stands in the process list: put it in PGPASSWORD or ~/.pgpass";

/// Where to connect and as whom: a URL, completed from the surroundings. Shows no secret, however it is printed.
#[derive(Debug, Clone)]
pub struct Server {
    endpoints: Vec<Endpoint>,
    user: String,
    dbname: String,
    /// All that every session shares; holds no password.
    config: Config,
    connect_timeout: Option<Duration>,
    /// Whether the user chose the role that sessions work as, apart from the one they log in as.
    role_is_given: bool,
    notes: Vec<String>,
}

impl Server {
    /// What `url` names in this process's surroundings.
    ///
    /// # Errors
    /// [`mindful_core::ErrorKind::Plan`] for anything that is misspelt, contradicts itself or asks for what cannot be
    /// had, and for certificate files that cannot be used. Nothing is connected yet.
    pub fn parse(url: &str) -> Result<Self> {
        let mut server = Self::parse_in(url, &Environment::of_process(&["PG"]))?;
        let on_display = env::args_os().any(|argument| argument.to_string_lossy().contains(url));
        if on_display && url::split(url)?.names_password() {
            server.notes.push(EXPOSED.to_owned());
        }
        Ok(server)
    }

    /// What `url` names in the given surroundings.
    pub fn parse_in(url: &str, environment: &Environment) -> Result<Self> {
        let parameters = Parameters::collect(&url::split(url)?, environment)?;
        let user = parameters.text("user")?.or(environment.user()).ok_or_else(|| {
            Error::plan("this process's user has no name", "name the role to connect as: postgres://role@host/dbname")
        })?;
        let dbname = parameters.text("dbname")?.unwrap_or(user);
        let (passwords, note) = Passwords::collect(&parameters, environment)?;
        let mut notes: Vec<String> = note.into_iter().collect();
        let mut tls = tls::Maker::new(&parameters, environment)?;
        let mut config = session::config(user, dbname);
        session::apply(&mut config, &parameters)?;
        let endpoints = endpoint::places(&parameters, &mut notes)?
            .into_iter()
            .map(|(host, port)| {
                let password = passwords.find(&host, port, dbname, user);
                Ok(Endpoint { tls: tls.endpoint(&host)?, host, port, password })
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            endpoints,
            user: user.to_owned(),
            dbname: dbname.to_owned(),
            config,
            connect_timeout: session::connect_timeout(&parameters)?,
            role_is_given: parameters.text("options")?.is_some_and(begin::chooses_role),
            notes,
        })
    }

    /// The server whose socket is in `folder`, which trusts whoever can reach it.
    pub fn from_socket(folder: &Path, port: u16, user: &str, dbname: &str) -> Self {
        let endpoint = Endpoint { host: Host::Unix(folder.to_owned()), port, password: None, tls: Tls::OFF };
        Self {
            endpoints: vec![endpoint],
            user: user.to_owned(),
            dbname: dbname.to_owned(),
            config: session::config(user, dbname),
            connect_timeout: Some(session::CONNECT_TIMEOUT),
            role_is_given: false,
            notes: Vec::new(),
        }
    }

    /// How many endpoints there are; at least 1.
    pub fn endpoints(&self) -> u32 {
        self.endpoints.len() as u32
    }

    /// Whether `endpoint` (from 0) is reached by a socket or a loopback address.
    pub fn host_is_local(&self, endpoint: u32) -> bool {
        self.endpoints.get(endpoint as usize).is_some_and(|endpoint| endpoint.host.is_local())
    }

    /// Remarks for the user, such as a password file that is not used.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How messages name `endpoint` (from 0): `role@host:port/dbname`.
    pub fn place(&self, endpoint: u32) -> String {
        match self.endpoints.get(endpoint as usize) {
            Some(endpoint) => format!("{}@{endpoint}/{}", self.user, self.dbname),
            None => format!("endpoint {endpoint}"),
        }
    }

    /// A URL of the same endpoints, role and database, without any secret.
    pub fn redacted(&self) -> String {
        let hosts: Vec<_> = self.endpoints.iter().map(|endpoint| endpoint.host.in_url(endpoint.port)).collect();
        format!("postgres://{}@{}/{}", encode(&self.user), hosts.join(","), encode(&self.dbname))
    }

    /// Connects to `endpoint` (from 0); names mean what the server itself made, whatever settings of database and role say.
    /// The task that drives the connection runs on the current tokio runtime.
    ///
    /// # Errors
    /// [`mindful_core::ErrorKind::Target`], on one line: who was asked, what was said, what to do.
    pub async fn connect(&self, endpoint: u32) -> Result<Connection> {
        let place = self.place(endpoint);
        let endpoint = self.endpoints.get(endpoint as usize).ok_or_else(|| {
            Error::target(format!("there is no {place}"), format!("the URL names {}", self.endpoints()))
        })?;
        let mut connection = connection::connect(endpoint, &self.config, self.connect_timeout, place.clone()).await?;
        let begun = begin::begin(&connection, self.role_is_given).await.map_err(|error| connection.explain(&error))?;
        if let Some(refusal) = begun.refusal {
            return Err(refusal.at(place));
        }
        connection.backend = begun.backend;
        Ok(connection)
    }
}
