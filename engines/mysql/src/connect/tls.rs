//! TLS by the ssl-mode of the mysql client.

use std::path::PathBuf;
use std::sync::Arc;

use mindful_core::{Error, Result};
use mindful_sql::connect::tls::{self, Trust, read_identity};
use rustls::{ALL_VERSIONS, ClientConfig, RootCertStore};

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
        let identity = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => Some(read_identity((certificate, "ssl-cert"), (key, "ssl-key"), true)?),
            (None, None) => None,
            (None, Some(_)) => return Err(Error::plan("ssl-key without ssl-cert", "name both")),
            (Some(_), None) => return Err(Error::plan("ssl-cert without ssl-key", "name both")),
        };
        // Servers make certificates of version 1 for themselves, which cannot be read here.
        let config = tls::config(self.trust()?, true, ALL_VERSIONS, identity);
        let config = config.map_err(|error| Error::plan(format!("no TLS: {error}"), "check ssl-cert and ssl-key"))?;
        Ok(Some(Arc::new(config)))
    }

    /// `None` if any server is accepted.
    fn trust(&self) -> Result<Option<Trust>> {
        if matches!(self.mode, Mode::Preferred | Mode::Required) {
            return Ok(None);
        }
        let roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
        let mut trust = Trust::new(roots, self.mode == Mode::VerifyIdentity);
        self.ca.as_ref().map_or(Ok(()), |ca| trust.add_file(ca, "ssl-ca"))?;
        Ok(Some(trust))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_verifies_as_much_as_it_promises() {
        assert!(Tls::OFF.config().unwrap().is_none());
        for (mode, checks_name) in [
            (Mode::Preferred, None),
            (Mode::Required, None),
            (Mode::VerifyCa, Some(false)),
            (Mode::VerifyIdentity, Some(true)),
        ] {
            let trust = Tls { mode, ..Tls::OFF }.trust().unwrap();
            assert_eq!(trust.map(|trust| trust.check_name), checks_name, "{mode:?}");
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
