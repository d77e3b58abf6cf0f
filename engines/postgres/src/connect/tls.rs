//! TLS as libpq's `sslmode` names it, and safer than libpq if no mode is given.
//!
//! | where | without sslmode |
//! |---|---|
//! | a unix socket | no TLS, whatever the mode |
//! | a loopback address | `prefer`: encrypted if the server offers it |
//! | any other host | `verify-full`, by `sslrootcert`, `~/.postgresql/root.crt` or the system's authorities |

use std::path::PathBuf;

use mindful_core::{Error, Result};
use mindful_sql::connect::environment::Environment;
use mindful_sql::connect::tls::{self, Trust, read_identity};
use rustls::{ALL_VERSIONS, RootCertStore, SupportedProtocolVersion, version};
use tokio_postgres::config::{SslMode as Attempt, SslNegotiation};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::given::Parameters;
use super::host::Host;

/// libpq's modes, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SslMode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

const MODES: [(&str, SslMode); 6] = [
    ("disable", SslMode::Disable),
    ("allow", SslMode::Allow),
    ("prefer", SslMode::Prefer),
    ("require", SslMode::Require),
    ("verify-ca", SslMode::VerifyCa),
    ("verify-full", SslMode::VerifyFull),
];

#[derive(Clone)]
pub(super) struct Tls {
    mode: SslMode,
    /// The mode is not given.
    by_default: bool,
    pub(super) connector: Option<MakeRustlsConnect>,
}

impl Tls {
    pub(super) const OFF: Self = Self { mode: SslMode::Disable, by_default: true, connector: None };

    /// Whether the server has to prove its identity by default; errors then name the option against it.
    pub(super) fn verifies_by_default(&self) -> bool {
        self.by_default && self.mode == SslMode::VerifyFull
    }

    pub(super) fn is_certain(&self) -> bool {
        self.mode >= SslMode::Require
    }

    /// The attempts in order; a later one only if the server or the handshake refused the one before.
    pub(super) fn attempts(&self) -> &'static [Attempt] {
        match self.mode {
            SslMode::Disable => &[Attempt::Disable],
            SslMode::Allow => &[Attempt::Disable, Attempt::Require],
            SslMode::Prefer => &[Attempt::Prefer, Attempt::Disable],
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => &[Attempt::Require],
        }
    }
}

/// Makes the TLS of endpoints.
pub(super) struct Maker<'a> {
    parameters: &'a Parameters,
    environment: &'a Environment,
    given: Option<SslMode>,
}

impl<'a> Maker<'a> {
    pub(super) fn new(parameters: &'a Parameters, environment: &'a Environment) -> Result<Self> {
        let given = parameters.choice("sslmode", &MODES)?;
        if let (true, Some(weak)) = (system_roots(parameters)?, given.filter(|mode| *mode < SslMode::VerifyFull)) {
            let what = format!("sslrootcert=system with {weak:?} verifies nothing: anyone can get such a certificate");
            return Err(Error::plan(what, "use sslmode=verify-full, or sslrootcert=FILE"));
        }
        if parameters.choice("gssencmode", &[("disable", false), ("prefer", false), ("require", true)])? == Some(true) {
            let what = format!("{}: GSSAPI encryption is not supported", parameters.place("gssencmode"));
            return Err(Error::plan(what, "use gssencmode=disable and sslmode=verify-full"));
        }
        if parameters.given("sslpassword") {
            let what = format!("{}: encrypted keys are not supported", parameters.place("sslpassword"));
            return Err(Error::plan(what, "store the key unencrypted in a file of mode 0600"));
        }
        Ok(Self { parameters, environment, given })
    }

    pub(super) fn endpoint(&self, host: &Host) -> Result<Tls> {
        if matches!(host, Host::Unix(_)) {
            return Ok(Tls::OFF);
        }
        let trusted = host.is_local() && !system_roots(self.parameters)?;
        let mode = self.given.unwrap_or(if trusted { SslMode::Prefer } else { SslMode::VerifyFull });
        let connector = (mode != SslMode::Disable).then(|| self.connector(mode)).transpose()?;
        Ok(Tls { mode, by_default: self.given.is_none(), connector })
    }

    fn connector(&self, mode: SslMode) -> Result<MakeRustlsConnect> {
        let files = self.client_certificate()?;
        let identity = files.map(|[own, key]| read_identity((&own, "sslcert"), (&key, "sslkey"), false)).transpose()?;
        let config = tls::config(self.trust(mode)?, false, self.versions()?, identity);
        let mut config = config.map_err(|error| Error::plan(format!("no TLS: {error}"), "check sslcert and sslkey"))?;
        config.enable_sni = self.parameters.choice("sslsni", &[("1", true), ("0", false)])?.unwrap_or(true);
        if negotiation(self.parameters)? == SslNegotiation::Direct {
            if mode < SslMode::Require {
                let what = "sslnegotiation=direct leaves no way back to an unencrypted connection";
                return Err(Error::plan(what, "use sslmode=require or stronger with it"));
            }
            config.alpn_protocols = vec![b"postgresql".to_vec()];
        }
        Ok(MakeRustlsConnect::new(config))
    }

    fn versions(&self) -> Result<&'static [&'static SupportedProtocolVersion]> {
        const NEWEST: &[&SupportedProtocolVersion] = &[&version::TLS13];
        let choices =
            [("TLSv1", ALL_VERSIONS), ("TLSv1.1", ALL_VERSIONS), ("TLSv1.2", ALL_VERSIONS), ("TLSv1.3", NEWEST)];
        Ok(self.parameters.choice("ssl_min_protocol_version", &choices)?.unwrap_or(ALL_VERSIONS))
    }

    /// The trusted certificates in `mode`; `None` trusts any server.
    fn trust(&self, mode: SslMode) -> Result<Option<Trust>> {
        let named = self.parameters.text("sslrootcert")?.map(PathBuf::from);
        let file = match named {
            Some(_) if system_roots(self.parameters)? => None,
            Some(file) => Some(file),
            None => self.own_file("root.crt"),
        };
        let mut trust = Trust::new(RootCertStore::empty(), mode == SslMode::VerifyFull);
        match (file, mode) {
            (Some(file), _) => trust.add_file(&file, "sslrootcert").map(|()| Some(trust)),
            (None, SslMode::VerifyFull) => {
                let certificates = rustls_native_certs::load_native_certs().certs;
                let (added, _) = trust.roots.add_parsable_certificates(certificates);
                (added > 0).then_some(Some(trust)).ok_or_else(|| {
                    Error::plan(
                        "this host has no root certificates to verify the server by",
                        "install ca-certificates, name a CA with sslrootcert=FILE, or set sslmode=require",
                    )
                })
            }
            (None, SslMode::VerifyCa) => {
                let what = "sslmode=verify-ca needs to know which CA";
                Err(Error::plan(what, "name its certificate with sslrootcert=FILE, or use sslmode=verify-full"))
            }
            (None, _) => Ok(None),
        }
    }

    /// The files of the client's certificate and of its key.
    fn client_certificate(&self) -> Result<Option<[PathBuf; 2]>> {
        let mode = self.parameters.choice("sslcertmode", &[("disable", 0), ("allow", 1), ("require", 2)])?.unwrap_or(1);
        let path = |key, name| Ok(self.parameters.text(key)?.map(PathBuf::from).or_else(|| self.own_file(name)));
        let Some(certificate) = path("sslcert", "postgresql.crt")?.filter(|_| mode > 0) else {
            return match mode {
                2 => Err(Error::plan("sslcertmode=require without a client certificate", "name it with sslcert=FILE")),
                _ => Ok(None),
            };
        };
        let key = path("sslkey", "postgresql.key")?.ok_or_else(|| {
            let what = format!("the client certificate {} has no key", certificate.display());
            Error::plan(what, "name it with sslkey=FILE")
        })?;
        Ok(Some([certificate, key]))
    }

    /// A file in `~/.postgresql`, if it is there.
    fn own_file(&self, name: &str) -> Option<PathBuf> {
        self.environment.in_home(".postgresql").map(|folder| folder.join(name)).filter(|path| path.exists())
    }
}

pub(super) fn negotiation(parameters: &Parameters) -> Result<SslNegotiation> {
    let choices = [("postgres", SslNegotiation::Postgres), ("direct", SslNegotiation::Direct)];
    Ok(parameters.choice("sslnegotiation", &choices)?.unwrap_or_default())
}

fn system_roots(parameters: &Parameters) -> Result<bool> {
    Ok(parameters.text("sslrootcert")? == Some("system"))
}
