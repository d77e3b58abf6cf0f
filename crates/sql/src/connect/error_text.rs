//! Messages of a server or the network, on one line of limited length.

use std::fmt::Display;
use std::io::{self, ErrorKind};

use mindful_core::contract::error::one_line;
use mindful_core::{Error, ErrorKind as Kind};

/// Longest quotation of a server's own message, characters.
const MOST_QUOTED: usize = 300;

pub fn quote(words: &str, code: impl Display) -> String {
    let mut words = one_line(words);
    if words.chars().count() > MOST_QUOTED {
        words = words.chars().take(MOST_QUOTED).chain(['…']).collect();
    }
    format!("{words} [{code}]")
}

/// An error of `kind`; work that was interrupted and failed for another reason has failed.
pub fn error_of_kind(kind: Kind, what: String, next: impl Into<String>) -> Error {
    match kind {
        Kind::Plan => Error::plan(what, next),
        Kind::Target => Error::target(what, next),
        Kind::Run | Kind::Interrupted => Error::run(what, next),
    }
}

/// Names of a database and its client for its errors.
#[derive(Debug)]
pub struct Words {
    pub product: &'static str,
    /// An example of a URL that names a host.
    pub url: &'static str,
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
    /// The error for a peer with another protocol; `said` is its interpretation.
    pub fn foreign(&self, said: &str) -> Error {
        let product = self.product;
        let next = format!("check that host and port are those of a {product} server");
        Error::target(format!("answered, but not as {product}{said}"), next)
    }

    pub fn explain_io(&self, fault: &io::Error) -> Error {
        let text = one_line(&fault.to_string());
        let next = match fault.kind() {
            ErrorKind::InvalidData | ErrorKind::InvalidInput => return self.foreign(&format!(" ({text})")),
            ErrorKind::ConnectionReset
            | ErrorKind::BrokenPipe
            | ErrorKind::ConnectionAborted
            | ErrorKind::UnexpectedEof => {
                return Error::run(format!("the server went away ({text})"), "see its error log, then run again");
            }
            ErrorKind::ConnectionRefused => "nothing listens there: start the server, or check host and port",
            ErrorKind::NotFound => {
                return Error::target(
                    text,
                    format!("no server has its socket there: start it, or name the host: {}", self.url),
                );
            }
            ErrorKind::PermissionDenied => "this user may not use that socket: permit it, or connect by TCP",
            ErrorKind::TimedOut | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
                "check host, port, routes and firewalls on the way"
            }
            _ if text.contains("lookup address") => "correct the host name, or the name service of this host",
            _ => "check the network on the way",
        };
        Error::target(text, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_message_is_one_line_of_limited_length() {
        assert_eq!(quote("no\nway", 1045), "no way [1045]");
        let long = quote(&"x".repeat(5_000), "XX000");
        assert!(long.len() < 400 && long.ends_with("… [XX000]"), "{long}");
    }
}
