//! Why TLS failed, as one line with the next step, in terms of the engine's own connection parameters.

use mindful_core::Error;
use rustls::{AlertDescription, CertificateError};

/// Names of a database and its client for the parts of TLS.
#[derive(Debug)]
pub struct Words {
    pub product: &'static str,
    /// The parameter for the mode, and its values: no TLS, no verification, verification of the CA only.
    pub mode: &'static str,
    pub off: &'static str,
    pub unverified: &'static str,
    pub verify_ca: &'static str,
    pub ca: &'static str,
    pub certificate: &'static str,
    pub key: &'static str,
    /// The server's setting for the CA of its clients.
    pub server_ca: &'static str,
}

impl Words {
    pub fn explain(&self, fault: &rustls::Error) -> Error {
        match fault {
            rustls::Error::InvalidCertificate(fault) => self.certificate_fault(fault),
            rustls::Error::AlertReceived(alert) => self.refusal(*alert),
            rustls::Error::InvalidMessage(_) => Error::target(
                format!("answered, but not as {} with TLS", self.product),
                format!(
                    "check that host and port are those of a {} server, or set {}",
                    self.product,
                    self.without_tls()
                ),
            ),
            rustls::Error::PeerIncompatible(why) => {
                let what = format!("no TLS version or cipher in common ({why:?})");
                Error::target(what, "enable TLS 1.2 or 1.3 with an ECDHE cipher on the server")
            }
            other => self.failed(other),
        }
    }

    fn failed(&self, fault: &dyn std::fmt::Display) -> Error {
        Error::target(format!("TLS failed ({fault})"), format!("see the server's log, or set {}", self.without_tls()))
    }

    fn without_tls(&self) -> String {
        format!("{}={}", self.mode, self.off)
    }

    fn certificate_fault(&self, fault: &CertificateError) -> Error {
        let Self { mode, verify_ca, ca, .. } = self;
        let or_unverified = format!("or encrypt without verifying: {mode}={}", self.unverified);
        let (what, next) = match fault {
            CertificateError::UnknownIssuer => {
                ("is not signed by a trusted CA".to_owned(), format!("name its CA with {ca}=FILE, {or_unverified}"))
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => (
                format!("is for {}, not for the host in the URL", names(fault)),
                format!("connect by a name in its subjectAltName, or verify the CA alone with {mode}={verify_ca}"),
            ),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                ("has expired".to_owned(), format!("renew it on the server, {or_unverified}"))
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                ("is not valid yet".to_owned(), format!("check the clocks of both hosts, {or_unverified}"))
            }
            CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => (
                "is a CA's own".to_owned(),
                format!("name that very certificate with {ca}=FILE, give the server one of its own, {or_unverified}"),
            ),
            other => (format!("cannot be verified ({other})"), format!("replace it on the server, {or_unverified}")),
        };
        Error::target(format!("the server's certificate {what}"), next)
    }

    fn refusal(&self, alert: AlertDescription) -> Error {
        use AlertDescription as Alert;
        let files = format!("{}=FILE and {}=FILE", self.certificate, self.key);
        match alert {
            Alert::CertificateRequired => {
                Error::target("the server asks for a client certificate", format!("name it with {files}"))
            }
            Alert::UnknownCA | Alert::BadCertificate | Alert::CertificateUnknown | Alert::CertificateExpired => {
                let what = format!("the server does not accept the client certificate ({alert:?})");
                Error::target(what, format!("name one signed by its {} with {files}", self.server_ca))
            }
            other => Error::target(format!("the server broke off TLS ({other:?})"), "see the server's log"),
        }
    }
}

fn names(fault: &CertificateError) -> String {
    match fault {
        CertificateError::NotValidForNameContext { presented, .. } if !presented.is_empty() => presented.join(", "),
        _ => "no host by subjectAltName".to_owned(),
    }
}
