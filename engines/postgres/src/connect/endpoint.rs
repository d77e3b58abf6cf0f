//! Endpoints: the places a URL names, each with its password and its TLS.

use std::fmt;
use std::path::PathBuf;

use mindful_core::{Error, Result};
use mindful_sql::connect::environment::Environment;

use super::given::Parameters;
use super::host::Host;
use super::passfile::{self, Wanted};
use super::require_auth::Methods;
use super::tls::Tls;
use super::url::show_host;

#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) host: Host,
    pub(super) port: u16,
    /// Never shown, so there is no `Debug`.
    pub(super) password: Option<Vec<u8>>,
    pub(super) tls: Tls,
    pub(super) methods: Methods,
    pub(super) passfile_remark: Option<String>,
}

impl Endpoint {
    /// A warning if the server can receive the password in clear text over a network.
    pub(super) fn exposure(&self) -> Option<String> {
        let exposed = self.password.is_some() && self.methods.accept_clear_text();
        (exposed && !self.host.is_local() && !self.tls.is_certain()).then(|| {
            format!(
                "without TLS {self} receives the password in clear text if it requests it: use sslmode=verify-full, or \
                 require_auth=scram-sha-256"
            )
        })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Unix(folder) => write!(f, "{}/.s.PGSQL.{}", folder.display(), self.port),
            Host::Tcp { name, .. } => f.write_str(&show_host(name, &self.port.to_string())),
        }
    }
}

/// The places that `host`, `hostaddr` and `port` name, in their order; remarks on them go to `notes`.
pub(super) fn places(parameters: &Parameters, notes: &mut Vec<String>) -> Result<Vec<(Host, u16)>> {
    let (hosts, addresses) = (list(parameters, "host")?, list(parameters, "hostaddr")?);
    let ports = list(parameters, "port")?;
    let count = hosts.len().max(addresses.len()).max(1);
    if !hosts.is_empty() && !addresses.is_empty() && hosts.len() != addresses.len() {
        let what = format!("{} hosts, but {} in {}", hosts.len(), addresses.len(), parameters.place("hostaddr"));
        return Err(Error::plan(what, "give an address for each host, or none"));
    }
    if ports.len() > 1 && ports.len() != count {
        let what = format!("{} ports in {}, but {count} hosts", ports.len(), parameters.place("port"));
        return Err(Error::plan(what, "give a port for each host, or one for all"));
    }
    (0..count)
        .map(|i| {
            let port = port(parameters, ports.get(i).or(ports.first()).copied().unwrap_or_default())?;
            let text = |of: &[&str]| of.get(i).copied().unwrap_or_default().to_owned();
            Ok((host(parameters, text(&hosts), &text(&addresses), port, notes)?, port))
        })
        .collect()
}

fn list<'a>(parameters: &'a Parameters, key: &str) -> Result<Vec<&'a str>> {
    Ok(parameters.text(key)?.map(|text| text.split(',').map(str::trim).collect()).unwrap_or_default())
}

fn port(parameters: &Parameters, text: &str) -> Result<u16> {
    match text {
        "" => Ok(5432),
        text => text.parse().ok().filter(|&port| port > 0).ok_or_else(|| {
            let place = parameters.place("port");
            Error::plan(format!("{place} is not a port"), "give a number from 1 to 65535")
        }),
    }
}

fn host(parameters: &Parameters, name: String, address: &str, port: u16, notes: &mut Vec<String>) -> Result<Host> {
    if !address.is_empty() {
        let ip = address.parse().map_err(|_| {
            let what = format!("{}: `{address}` is not an IP address", parameters.place("hostaddr"));
            Error::plan(what, "give names as host=…")
        })?;
        let name = if name.is_empty() || name.starts_with('/') { address.to_owned() } else { name };
        return Ok(Host::Tcp { name, address: Some(ip) });
    }
    if name.is_empty() {
        return Ok(Host::default_socket(port, notes));
    }
    if name.starts_with('@') {
        let what = format!("{}: sockets in the abstract namespace are not supported", parameters.place("host"));
        return Err(Error::plan(what, "name the folder of the socket"));
    }
    Ok(if name.starts_with('/') { Host::Unix(name.into()) } else { Host::Tcp { name, address: None } })
}

/// Passwords, from the parameters or else from the password file.
#[derive(Default)]
pub(super) struct Passwords {
    given: Option<Vec<u8>>,
    file: Vec<u8>,
    /// Why the password file is not used.
    pub(super) remark: Option<String>,
}

impl Passwords {
    pub(super) fn collect(parameters: &Parameters, environment: &Environment) -> Result<Self> {
        if let Some(password) = parameters.bytes("password") {
            return Ok(Self { given: Some(password.to_vec()), ..Self::default() });
        }
        let path = parameters.text("passfile")?.map(PathBuf::from).or_else(|| environment.in_home(".pgpass"));
        Ok(match path.map_or(Ok(Vec::new()), |path| passfile::read(&path)) {
            Ok(file) => Self { file, ..Self::default() },
            Err(remark) => Self { remark: Some(remark), ..Self::default() },
        })
    }

    pub(super) fn find(&self, host: &Host, port: u16, dbname: &str, user: &str) -> Option<Vec<u8>> {
        let wanted = Wanted { host: &host.passfile_name(), port, dbname, user };
        self.given.clone().or_else(|| passfile::find(&self.file, &wanted))
    }
}
