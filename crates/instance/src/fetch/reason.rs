//! Why a fetch failed, and the remedy.

use std::io::{self, ErrorKind};
use std::path::Path;

use mindful_core::Error;
use mindful_core::plan::units::format_bytes;
use rustls::CertificateError;

const NETWORK: &str = "connect to the network, name a proxy in HTTPS_PROXY, or a mirror with --fetch-url";
const CERTIFICATES: &str =
    "install the system's CA certificates (the package ca-certificates), or name a file in SSL_CERT_FILE";

/// Prefix of a resolver's error in the standard library.
const LOOKUP: &str = "failed to lookup address information";

pub(super) fn of_place(place: &Path, error: &io::Error) -> Error {
    let next = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space there, or name another folder with --fetch-dir"
        }
        _ => "name a folder of your own with --fetch-dir",
    };
    Error::target(format!("{}: {error}", place.display()), next)
}

/// A redirect to another host, which only the user can choose. At `base` it answers as the source does.
pub(super) fn other_host(host: &str, base: Option<String>) -> Error {
    // An address with other characters could be more than an address to a shell.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ":/._-".contains(c);
    let base = base.filter(|base| base.chars().all(is_plain)).unwrap_or("the address of its repository".to_owned());
    Error::target(format!("it redirects to {host}"), format!("if you trust that host, pass --fetch-url {base}"))
}

/// No certificate can be checked.
pub(super) fn no_certificates() -> Error {
    Error::target("this system has no CA certificates, so no source can be trusted", CERTIFICATES)
}

pub(super) fn bad_proxy(name: &str) -> Error {
    let name = hidden(name);
    Error::plan(format!("the proxy `{name}` of the environment cannot be used"), "write http://HOST:PORT, or unset it")
}

pub(super) fn other_hash(url: &str, expected: &str, found: &str) -> Error {
    let next = "it was not used; try again, or check whether a proxy or the mirror changes the archive";
    Error::target(format!("{url} has the hash {found}, but {expected} was expected"), next)
}

pub(super) fn may_pass(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::StatusCode(code) => matches!(code, 408 | 429 | 500 | 502 | 503 | 504),
        ureq::Error::Timeout(_) | ureq::Error::ConnectionFailed => true,
        ureq::Error::Io(error) => tls(error).is_none() && !is_full(error),
        _ => false,
    }
}

pub(super) fn of_network(url: &str, proxy: Option<&str>, error: &ureq::Error) -> Error {
    let through = proxy.map(|proxy| format!(" through the proxy {}", hidden(proxy))).unwrap_or_default();
    let failed = |why: &str, next: &str| Error::target(format!("{url}{through}: {why}"), next);
    match error {
        ureq::Error::HostNotFound => failed("its host is not known to the DNS", NETWORK),
        ureq::Error::Timeout(part) => failed(&format!("no answer in time ({part})"), NETWORK),
        ureq::Error::ConnectionFailed => failed("no connection", NETWORK),
        ureq::Error::StatusCode(404) => failed("the archive does not exist (HTTP 404)", "give another version"),
        ureq::Error::StatusCode(407) => {
            failed("the proxy asks for a login (HTTP 407)", "write HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT")
        }
        ureq::Error::StatusCode(code) => {
            failed(&format!("HTTP status {code}"), "try again later, or name a mirror with --fetch-url")
        }
        ureq::Error::ConnectProxyFailed(why) => {
            failed(&format!("the proxy refuses ({why})"), "check HTTPS_PROXY and NO_PROXY")
        }
        ureq::Error::BodyExceedsLimit(limit) => failed(
            &format!("it is larger than {}", format_bytes(*limit)),
            "that is not an archive of a server; name another source by --fetch-url",
        ),
        ureq::Error::TooManyRedirects => failed("it redirects again and again", NETWORK),
        ureq::Error::RequireHttpsOnly(_) => failed("it redirects to an address without TLS", NETWORK),
        ureq::Error::Other(own) if let Some(own) = own.downcast_ref::<Error>() => failed(&own.what, &own.next),
        ureq::Error::Rustls(error) => of_tls(error, &failed),
        ureq::Error::Io(error) if is_full(error) => failed(
            &format!("no space is left for it ({error})"),
            "free some space, or name another folder with --fetch-dir",
        ),
        ureq::Error::Io(error) => match tls(error) {
            Some(error) => of_tls(error, &failed),
            None if error.to_string().starts_with(LOOKUP) => of_network(url, proxy, &ureq::Error::HostNotFound),
            None if error.kind() == ErrorKind::UnexpectedEof => failed("it ended too early", "try again"),
            None => failed(&error.to_string(), NETWORK),
        },
        other => failed(&other.to_string(), NETWORK),
    }
}

fn of_tls(error: &rustls::Error, failed: &dyn Fn(&str, &str) -> Error) -> Error {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            failed("its certificate is not signed by an authority that this system trusts", CERTIFICATES)
        }
        rustls::Error::InvalidCertificate(why) => failed(
            &format!("its certificate is not valid ({why})"),
            "check this machine's clock, or name a mirror with --fetch-url",
        ),
        other => failed(&format!("no secure connection ({other})"), NETWORK),
    }
}

fn tls(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// A proxy's address without the password that may be in it.
fn hidden(proxy: &str) -> String {
    match (proxy.split_once("://"), proxy.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
        (None, Some((_, host))) => format!("…@{host}"),
        _ => proxy.to_owned(),
    }
}
