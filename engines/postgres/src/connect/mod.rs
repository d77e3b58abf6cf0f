//! Connections to PostgreSQL: the URLs, variables and files of libpq, TLS, and errors a person can act on.
//!
//! A URL may name several hosts: which of them a session uses is decided in `choice`.

pub(crate) mod abort;
mod backend;
mod choice;
mod connection;
mod endpoint;
mod explain;
mod given;
mod host;
mod limits;
pub(crate) mod link;
mod parameter;
mod passfile;
pub(crate) mod pooler;
mod require_auth;
mod service;
mod session;
mod tls;
mod transport;
mod url;

use std::env;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use mindful_core::{Error, Result};
use mindful_sql::connect::url::encode;
use tokio_postgres::Config;

pub(crate) use backend::{Backend, pooled};
pub use connection::{Canceller, Connection};
pub(crate) use explain::explain;
pub use mindful_sql::connect::environment::Environment;
pub use url::redact;

use choice::Wanted;
use connection::Refusal;
use endpoint::{Endpoint, Passwords};
use given::Parameters;
use host::Host;
use require_auth::Methods;
use tls::Tls;

const EXPOSED: &str =
    "a password on the command line is visible in the process list: put it in PGPASSWORD or ~/.pgpass";

/// Where to connect and as which user: a URL, completed from the surroundings. Shows no secret, however it is printed.
#[derive(Clone)]
pub struct Server {
    /// The hosts, in the order of the URL.
    hosts: Vec<Endpoint>,
    /// Whether sessions are spread over the hosts; otherwise these are alternatives.
    balanced: bool,
    wanted: Wanted,
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
    /// The server of `url` in this process's environment.
    ///
    /// # Errors
    /// [`mindful_core::ErrorKind::Plan`] for misspelt, contradictory or unsupported parameters, and for unusable
    /// certificate files. Nothing is connected yet.
    pub fn parse(url: &str) -> Result<Self> {
        let mut server = Self::parse_in(url, &Environment::of_process(&["PG"]))?;
        let on_display = env::args_os().any(|argument| argument.to_string_lossy().contains(url));
        if on_display && url::split(url)?.names_password() {
            server.notes.push(EXPOSED.to_owned());
        }
        Ok(server)
    }

    pub fn parse_in(url: &str, environment: &Environment) -> Result<Self> {
        let parameters = Parameters::collect(&url::split(url)?, environment)?;
        let user = parameters.text("user")?.or(environment.user()).ok_or_else(|| {
            Error::plan("this process's user has no name", "name the role to connect as: postgres://role@host/dbname")
        })?;
        let dbname = parameters.text("dbname")?.unwrap_or(user);
        let passwords = Passwords::collect(&parameters, environment)?;
        let mut notes: Vec<String> = passwords.remark.iter().cloned().collect();
        let tls = tls::Maker::new(&parameters, environment)?;
        let mut config = session::config(user, dbname);
        session::apply(&mut config, &parameters)?;
        let methods = Methods::in_parameters(&parameters)?;
        let hosts: Vec<Endpoint> = endpoint::places(&parameters, &mut notes)?
            .into_iter()
            .map(|(host, port)| {
                let password = passwords.find(&host, port, dbname, user);
                let passfile_remark = passwords.remark.clone();
                Ok(Endpoint { tls: tls.endpoint(&host)?, host, port, password, methods, passfile_remark })
            })
            .collect::<Result<_>>()?;
        notes.extend(hosts.iter().find_map(Endpoint::exposure));
        Ok(Self {
            hosts,
            balanced: choice::is_balanced(&parameters)?,
            wanted: Wanted::in_parameters(&parameters)?,
            user: user.to_owned(),
            dbname: dbname.to_owned(),
            config,
            connect_timeout: session::connect_timeout(&parameters)?,
            role_is_given: parameters.text("options")?.is_some_and(backend::chooses_role),
            notes,
        })
    }

    /// The server with a socket in `folder`, which trusts every user that can reach it.
    pub fn from_socket(folder: &Path, port: u16, user: &str, dbname: &str) -> Self {
        let endpoint = Endpoint {
            host: Host::Unix(folder.to_owned()),
            port,
            password: None,
            tls: Tls::OFF,
            methods: Methods::ANY,
            passfile_remark: None,
        };
        Self {
            hosts: vec![endpoint],
            balanced: false,
            wanted: Wanted::Any,
            user: user.to_owned(),
            dbname: dbname.to_owned(),
            config: session::config(user, dbname),
            connect_timeout: Some(session::CONNECT_TIMEOUT),
            role_is_given: false,
            notes: Vec::new(),
        }
    }

    /// Number of endpoints; at least 1.
    pub fn endpoints(&self) -> u32 {
        if self.balanced { self.hosts.len() as u32 } else { 1 }
    }

    /// The hosts of `endpoint` (from 0), in the order of attempts; empty if there is no such endpoint.
    fn hosts_of(&self, endpoint: u32) -> impl Iterator<Item = &Endpoint> {
        let known = if endpoint < self.endpoints() { self.hosts.len() } else { 0 };
        self.hosts.iter().cycle().skip(endpoint as usize).take(known)
    }

    /// Whether every host of `endpoint` (from 0) is reached by a socket or a loopback address.
    pub fn host_is_local(&self, endpoint: u32) -> bool {
        let tried = if self.balanced { 1 } else { self.hosts.len() };
        let mut hosts = self.hosts_of(endpoint).take(tried).peekable();
        hosts.peek().is_some() && hosts.all(|host| host.host.is_local())
    }

    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    pub(crate) fn dbname(&self) -> &str {
        &self.dbname
    }

    /// Remarks for the user, such as a password file that is not used.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How messages name `endpoint` (from 0): `role@host:port/dbname`.
    pub fn place(&self, endpoint: u32) -> String {
        let tried = if self.balanced { 1 } else { self.hosts.len() };
        let hosts: Vec<_> = self.hosts_of(endpoint).take(tried).map(ToString::to_string).collect();
        if hosts.is_empty() {
            return format!("endpoint {endpoint}");
        }
        format!("{}@{}/{}", self.user, hosts.join(","), self.dbname)
    }

    /// A URL of the same endpoints, role and database, without any secret.
    pub fn redacted(&self) -> String {
        let hosts: Vec<_> = self.hosts.iter().map(|endpoint| endpoint.host.in_url(endpoint.port)).collect();
        let wanted = Some(self.wanted).filter(|wanted| *wanted != Wanted::Any);
        let choices = [
            self.balanced.then(|| "load_balance_hosts=random".to_owned()),
            wanted.map(|wanted| format!("target_session_attrs={}", wanted.name())),
        ];
        let choices: Vec<_> = choices.into_iter().flatten().collect();
        let mark = if choices.is_empty() { "" } else { "?" };
        let (user, dbname) = (encode(&self.user), encode(&self.dbname));
        format!("postgres://{user}@{}/{dbname}{mark}{}", hosts.join(","), choices.join("&"))
    }

    /// Connects to `endpoint` (from 0). Names resolve to the server's own objects, under any settings of database and
    /// role. The task that drives the connection runs on the current tokio runtime.
    ///
    /// # Errors
    /// [`mindful_core::ErrorKind::Target`], on one line: the server, its answer, and the next step.
    pub async fn connect(&self, endpoint: u32) -> Result<Connection> {
        if endpoint >= self.endpoints() {
            let next = format!("the URL names {}", self.endpoints());
            return Err(Error::target(format!("endpoint {endpoint} does not exist"), next));
        }
        let mut refused = Vec::new();
        for wanted in self.wanted.passes() {
            for host in self.hosts_of(endpoint) {
                match self.connect_to(host, *wanted).await {
                    Ok(connection) => return Ok(connection),
                    Err(Refusal { error, is_final: true }) => return Err(error),
                    Err(Refusal { error, is_final: false }) => refused.push(error),
                }
            }
        }
        Err(choice::no_host(refused))
    }

    /// Whether a server answers another session, even with a refusal; its error if none does.
    async fn answers(&self) -> Result<()> {
        let mut silent = Error::target("the URL names no host", "name one");
        for host in &self.hosts {
            let place = format!("{}@{host}/{}", self.user, self.dbname);
            let asked = async {
                let session = self.begin_session(host, Wanted::Any, &place).await?;
                session.refuse_if_moved().await.map_err(|error| Refusal { error, is_final: true })
            };
            match tokio::time::timeout(self.patience(), asked).await {
                Ok(Err(Refusal { error, is_final: false })) => silent = error,
                Ok(_) => return Ok(()),
                Err(_) => silent = connection::no_answer(&place, self.patience()),
            }
        }
        Err(silent)
    }

    /// Time that a server may be silent before it is probed.
    fn patience(&self) -> Duration {
        self.connect_timeout.unwrap_or(session::CONNECT_TIMEOUT)
    }

    async fn connect_to(&self, host: &Endpoint, wanted: Wanted) -> Result<Connection, Refusal> {
        let place = format!("{}@{host}/{}", self.user, self.dbname);
        let session = self.begin_session(host, wanted, &place);
        match self.connect_timeout {
            None => session.await,
            Some(limit) => tokio::time::timeout(limit, session)
                .await
                .unwrap_or_else(|_| Err(Refusal { error: connection::no_answer(&place, limit), is_final: false })),
        }
    }

    async fn begin_session(&self, host: &Endpoint, wanted: Wanted, place: &str) -> Result<Connection, Refusal> {
        let of_session = |error: Error| Refusal { error, is_final: true };
        let mut connection = connection::connect(host, &self.config, place).await?;
        let begun = backend::begin_session(&connection, self.role_is_given).await;
        let begun = begun.map_err(|error| of_session(connection.explain(&error)))?;
        if let Some(refusal) = begun.refusal {
            return Err(of_session(refusal.at(place)));
        }
        connection.backend = begun.backend;
        let suits = wanted.check(&connection, place).await;
        suits.map(|()| connection).map_err(|error| Refusal { error, is_final: false })
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted())
    }
}
