//! TLS as libpq's `sslmode` names it, and safer than libpq if no mode is given.
//!
//! | where | without sslmode |
//! |---|---|
//! | a unix socket | no TLS, whatever the mode |
//! | a loopback address | `prefer`: encrypted if the server offers it |
//! | any other host | `verify-full`, by `sslrootcert`, `~/.postgresql/root.crt` or the system's authorities |

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mindful_core::{Error, Result};
use mindful_sql::connect::environment::Environment;
use mindful_sql::connect::read_bounded;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ALL_VERSIONS, ClientConfig, RootCertStore, SupportedProtocolVersion, crypto, version};
use tokio_postgres::config::{SslMode as Attempt, SslNegotiation};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::given::Parameters;
use super::host::Host;
use super::verifier::{Trust, Verifier};

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

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.mode)
    }
}

/// Makes the TLS of endpoints; files are read once for each mode.
pub(super) struct Maker<'a> {
    parameters: &'a Parameters,
    environment: &'a Environment,
    given: Option<SslMode>,
    made: Vec<(SslMode, Tls)>,
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
        Ok(Self { parameters, environment, given, made: Vec::new() })
    }

    pub(super) fn endpoint(&mut self, host: &Host) -> Result<Tls> {
        if matches!(host, Host::Unix(_)) {
            return Ok(Tls::OFF);
        }
        let trusted = host.is_local() && !system_roots(self.parameters)?;
        let mode = self.given.unwrap_or(if trusted { SslMode::Prefer } else { SslMode::VerifyFull });
        if let Some((_, tls)) = self.made.iter().find(|(made, _)| *made == mode) {
            return Ok(tls.clone());
        }
        let connector = (mode != SslMode::Disable).then(|| self.connector(mode)).transpose()?;
        let tls = Tls { mode, by_default: self.given.is_none(), connector };
        self.made.push((mode, tls.clone()));
        Ok(tls)
    }

    fn connector(&self, mode: SslMode) -> Result<MakeRustlsConnect> {
        let provider = Arc::new(crypto::ring::default_provider());
        let verifier = Verifier {
            trust: self.trust(mode)?,
            check_name: mode == SslMode::VerifyFull,
            algorithms: provider.signature_verification_algorithms,
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(self.versions()?)
            .map_err(|error| Error::plan(format!("no TLS: {error}"), "use sslmode=disable"))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match self.client_certificate()? {
            Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(|error| {
                Error::plan(format!("the client certificate cannot be used: {error}"), "check sslcert and sslkey")
            })?,
            None => builder.with_no_client_auth(),
        };
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
        match (file, mode) {
            (Some(file), _) => trust_file(&file).map(Some),
            (None, SslMode::VerifyFull) => trust_system().map(Some),
            (None, SslMode::VerifyCa) => {
                let what = "sslmode=verify-ca needs to know which CA";
                Err(Error::plan(what, "name its certificate with sslrootcert=FILE, or use sslmode=verify-full"))
            }
            (None, _) => Ok(None),
        }
    }

    fn client_certificate(&self) -> Result<Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>> {
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
        check_key_mode(&key)?;
        let refused = |error: &dyn fmt::Display| {
            unreadable("client key", &key, error, "name an unencrypted PEM key with sslkey=FILE")
        };
        let bytes = read_bounded(&key).map_err(|error| refused(&error))?;
        let parsed = PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| refused(&error))?;
        Ok(Some((certificates(&certificate, "sslcert")?, parsed)))
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

fn trust_file(path: &Path) -> Result<Trust> {
    let certificates = certificates(path, "sslrootcert")?;
    let mut roots = RootCertStore::empty();
    for certificate in &certificates {
        roots.add(certificate.clone()).map_err(|error| {
            let what = format!("a root certificate in {} cannot be used: {error}", path.display());
            Error::plan(what, "name a PEM file of CA certificates with sslrootcert=FILE")
        })?;
    }
    Ok(Trust { roots, certificates })
}

fn trust_system() -> Result<Trust> {
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if added == 0 {
        let what = "this host has no root certificates to verify the server by";
        return Err(Error::plan(
            what,
            "install ca-certificates, name a CA with sslrootcert=FILE, or set sslmode=require",
        ));
    }
    Ok(Trust { roots, certificates: Vec::new() })
}

fn certificates(path: &Path, key: &str) -> Result<Vec<CertificateDer<'static>>> {
    let next = format!("name a PEM file with {key}=FILE");
    let refused = |error: &dyn fmt::Display| unreadable("certificate", path, error, &next);
    let bytes = read_bounded(path).map_err(|error| refused(&error))?;
    let certificates = CertificateDer::pem_slice_iter(&bytes).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| refused(&error))?;
    if certificates.is_empty() {
        return Err(Error::plan(format!("{} does not contain a certificate", path.display()), next));
    }
    Ok(certificates)
}

/// A key that others may read is not secret: libpq's rule is 0600, or 0640 if root owns it.
fn check_key_mode(path: &Path) -> Result<()> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
    let forbidden = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    if metadata.mode() & forbidden != 0 {
        let what = format!("the client key {} can be read by others", path.display());
        return Err(Error::plan(what, "`chmod 600` it"));
    }
    Ok(())
}

fn unreadable(kind: &str, path: &Path, error: &dyn fmt::Display, next: &str) -> Error {
    Error::plan(format!("cannot read the {kind} {}: {error}", path.display()), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_file_without_an_end_is_refused() {
        let error = certificates(Path::new("/dev/zero"), "sslrootcert").unwrap_err();
        assert!(error.what.contains("longer than"), "{error}");
    }
}
