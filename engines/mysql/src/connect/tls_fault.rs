//! Why TLS failed, as one line with the next move.

use mindful_core::Error;
use rustls::{AlertDescription, CertificateError};

const UNVERIFIED: &str = "or encrypt without verifying: ssl-mode=REQUIRED";

/// What goes without it.
pub const WITHOUT: &str = "see the server's log, or say ssl-mode=DISABLED";

/// The error for a person, without its place.
pub fn explain(fault: &rustls::Error) -> Error {
    match fault {
        rustls::Error::InvalidCertificate(fault) => certificate(fault),
        rustls::Error::AlertReceived(alert) => refused(*alert),
        rustls::Error::InvalidMessage(_) => {
            let what = "answered, but not as MariaDB or MySQL with TLS";
            Error::target(
                what,
                "check that host and port are those of a MariaDB or MySQL server, or say ssl-mode=DISABLED",
            )
        }
        rustls::Error::PeerIncompatible(why) => {
            let what = format!("no TLS both sides speak ({why:?})");
            Error::target(what, "enable TLS 1.2 or 1.3 with an ECDHE cipher on the server")
        }
        other => Error::target(format!("TLS failed ({other})"), WITHOUT),
    }
}

fn certificate(fault: &CertificateError) -> Error {
    let (what, next) = match fault {
        CertificateError::UnknownIssuer => {
            ("is not signed by a trusted CA".to_owned(), format!("name its CA with ssl-ca=FILE, {UNVERIFIED}"))
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => (
            format!("is for {}, not for the host in the URL", names(fault)),
            "connect by a name in its subjectAltName, or verify the CA alone with ssl-mode=VERIFY_CA".to_owned(),
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            ("has expired".to_owned(), format!("renew it on the server, {UNVERIFIED}"))
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            ("is not valid yet".to_owned(), format!("check the clocks of both hosts, {UNVERIFIED}"))
        }
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => (
            "is a CA's own".to_owned(),
            format!("name that very certificate with ssl-ca=FILE, give the server one of its own, {UNVERIFIED}"),
        ),
        other => (format!("cannot be verified ({other})"), format!("replace it on the server, {UNVERIFIED}")),
    };
    Error::target(format!("the server's certificate {what}"), next)
}

fn names(fault: &CertificateError) -> String {
    match fault {
        CertificateError::NotValidForNameContext { presented, .. } if !presented.is_empty() => presented.join(", "),
        _ => "no host by subjectAltName".to_owned(),
    }
}

fn refused(alert: AlertDescription) -> Error {
    use AlertDescription as Alert;
    match alert {
        Alert::CertificateRequired => {
            Error::target("the server asks for a client certificate", "name it with ssl-cert=FILE and ssl-key=FILE")
        }
        Alert::UnknownCA | Alert::BadCertificate | Alert::CertificateUnknown | Alert::CertificateExpired => {
            let what = format!("the server does not accept the client certificate ({alert:?})");
            Error::target(what, "name one signed by its ssl_ca with ssl-cert=FILE and ssl-key=FILE")
        }
        other => Error::target(format!("the server broke off TLS ({other:?})"), "see the server's log"),
    }
}
