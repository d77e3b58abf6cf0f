//! Messages of a server or the network, on one line of limited length.

use std::fmt::Display;
use std::io::ErrorKind;

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

/// The remedy for a failed connection, if the kind of its error is sufficient. `url` is an example of one that names a
/// host.
pub fn connection_advice(kind: ErrorKind, url: &str) -> Option<String> {
    Some(match kind {
        ErrorKind::ConnectionRefused => "nothing listens there: start the server, or check host and port".to_owned(),
        ErrorKind::NotFound => format!("no server has its socket there: start it, or name the host: {url}"),
        ErrorKind::PermissionDenied => "this user may not use that socket: permit it, or connect by TCP".to_owned(),
        ErrorKind::TimedOut | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
            "check host, port, routes and firewalls on the way".to_owned()
        }
        _ => return None,
    })
}

pub fn network_advice(text: &str) -> &'static str {
    if text.contains("lookup address") {
        "correct the host name, or the name service of this host"
    } else {
        "check the network on the way"
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
