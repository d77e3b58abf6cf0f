//! TLS by the ssl-mode of the mysql client.

use std::fmt::Display;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mindful_core::{Error, Result};
use mindful_sql::connect::read_bounded;
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::{self, CryptoProvider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::verifier::Verifier;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Disabled,
    /// Where the server has it, unverified.
    Preferred,
    /// Always, unverified.
    Required,
    /// The server's certificate is signed by an authority that is trusted.
    VerifyCa,
    /// And it is for the host that was named.
    VerifyIdentity,
}

impl Mode {
    pub(super) const NAMES: [(&'static str, Self); 5] = [
        ("DISABLED", Self::Disabled),
        ("PREFERRED", Self::Preferred),
        ("REQUIRED", Self::Required),
        ("VERIFY_CA", Self::VerifyCa),
        ("VERIFY_IDENTITY", Self::VerifyIdentity),
    ];
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tls {
    pub mode: Mode,
    /// Authorities that are trusted besides the public ones.
    pub ca: Option<PathBuf>,
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
}

impl Tls {
    pub(super) const OFF: Self = Self { mode: Mode::Disabled, ca: None, certificate: None, key: None };

    pub(super) fn remark(&self) -> Option<String> {
        (self.mode == Mode::VerifyCa).then(|| {
            "ssl-mode=VERIFY_CA trusts the public authorities and ssl-ca, and does not check the host name: VERIFY_IDENTITY does"
                .to_owned()
        })
    }

    /// `None` without TLS.
    pub(super) fn config(&self) -> Result<Option<Arc<ClientConfig>>> {
        if self.mode == Mode::Disabled {
            return Ok(None);
        }
        let provider = Arc::new(crypto::ring::default_provider());
        let verifier = Arc::new(self.verifier(&provider)?);
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| no_tls(&error))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let (certificate, key) = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => (certificate, key),
            (None, None) => return Ok(Some(Arc::new(builder.with_no_client_auth()))),
            (None, Some(_)) => return Err(Error::plan("ssl-key without ssl-cert", "name both")),
            (Some(_), None) => return Err(Error::plan("ssl-cert without ssl-key", "name both")),
        };
        check(certificate, "ssl-cert")?;
        check(key, "ssl-key")?;
        check_private(key)?;
        let bytes = read_bounded(key).map_err(|error| unusable(key, &error))?;
        let secret = PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| unusable(key, &error))?;
        let config = builder.with_client_auth_cert(certificates(certificate)?, secret);
        Ok(Some(Arc::new(config.map_err(|error| unusable(certificate, &error))?)))
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Verifier> {
        let accepts_all = matches!(self.mode, Mode::Preferred | Mode::Required);
        let mut roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
        if let Some(ca) = self.ca.as_ref().filter(|_| !accepts_all) {
            check(ca, "ssl-ca")?;
            for certificate in certificates(ca)? {
                roots.add(certificate).map_err(|error| unusable(ca, &error))?;
            }
        }
        let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
        let chain = chain.map_err(|error| no_tls(&error))?;
        Ok(Verifier { chain, accepts_all, any_name: self.mode == Mode::VerifyCa })
    }
}

fn no_tls(why: &dyn Display) -> Error {
    Error::plan(format!("no TLS: {why}"), "use ssl-mode=DISABLED")
}

fn unusable(path: &Path, why: &dyn Display) -> Error {
    Error::plan(format!("{}: {why}", path.display()), "name a file in PEM: ssl-ca, ssl-cert, ssl-key")
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let bytes = read_bounded(path).map_err(|error| unusable(path, &error))?;
    let read: std::result::Result<_, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    read.map_err(|error| unusable(path, &error))
}

fn check(path: &Path, name: &str) -> Result<()> {
    let unusable = |why: String| Error::plan(format!("{name} {}: {why}", path.display()), "name a file in PEM");
    let metadata = fs::metadata(path).map_err(|error| unusable(error.to_string()))?;
    if !metadata.is_file() {
        return Err(unusable("it is not a plain file".to_owned()));
    }
    fs::File::open(path).map(drop).map_err(|error| unusable(error.to_string()))
}

fn check_private(key: &Path) -> Result<()> {
    let open = fs::metadata(key).is_ok_and(|metadata| metadata.mode() & 0o007 != 0);
    if open {
        return Err(Error::plan(format!("ssl-key {}: everybody may read it", key.display()), "`chmod 600` it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_verifies_as_much_as_it_promises() {
        let provider = Arc::new(crypto::ring::default_provider());
        assert!(Tls::OFF.config().unwrap().is_none());
        for (mode, accepts, skips) in [
            (Mode::Preferred, true, false),
            (Mode::Required, true, false),
            (Mode::VerifyCa, false, true),
            (Mode::VerifyIdentity, false, false),
        ] {
            let verifier = Tls { mode, ..Tls::OFF }.verifier(&provider).unwrap();
            assert_eq!((verifier.accepts_all, verifier.any_name), (accepts, skips), "{mode:?}");
        }
    }

    #[test]
    fn files_that_cannot_be_used_are_named() {
        let nowhere = Some(PathBuf::from("/nowhere/ca.pem"));
        let tls = Tls { mode: Mode::VerifyIdentity, ca: nowhere.clone(), ..Tls::OFF };
        assert!(tls.config().err().unwrap().to_string().contains("ssl-ca /nowhere/ca.pem"));
        let tls = Tls { mode: Mode::Required, key: nowhere, ..Tls::OFF };
        assert!(tls.config().err().unwrap().to_string().contains("ssl-cert"));
    }
}
