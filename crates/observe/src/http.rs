//! A plain HTTP request: as much as it takes to ask an exporter.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use mindful_core::{Error, Result};

const CONNECT: Duration = Duration::from_secs(2);
const ANSWER: Duration = Duration::from_secs(5);
/// No exporter says more than this.
const LONGEST: u64 = 64 << 20;

/// `http://host:port/path?query#fragment` in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// `host:port`.
    pub(crate) authority: String,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) fragment: Option<String>,
}

impl Address {
    /// Port 9100 and `/metrics` where none is given.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let next = "give it as http://HOST:9100/metrics";
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| Error::plan(format!("\"{url}\" is not the address of an exporter"), next))?;
        let (rest, fragment) = match rest.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment.to_owned()).filter(|name| !name.is_empty())),
            None => (rest, None),
        };
        let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let odd = |c: char| c.is_control() || c.is_whitespace() || c == '@';
        if authority.is_empty() || authority.contains(odd) || target.contains(|c: char| c.is_control() || c == ' ') {
            return Err(Error::plan(format!("\"{url}\" is not the address of an exporter"), next));
        }
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let authority = if has_port { authority.to_owned() } else { format!("{authority}:9100") };
        let target = match target {
            "" | "/" => "/metrics".to_owned(),
            query if query.starts_with('?') => format!("/metrics{query}"),
            path => path.to_owned(),
        };
        Ok(Self { authority, target, fragment })
    }

    /// Status and body of a GET. Version 1.0 of the protocol: the answer comes in one piece and ends with the connection.
    pub(crate) fn get(&self, target: &str) -> Result<(u16, String)> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::target(
                format!("http://{}{} does not answer ({error})", self.authority, self.target),
                "check that the exporter runs and its port is open to this host",
            )
        };
        let address = self.authority.to_socket_addrs().map_err(|error| failed(&error))?.next();
        let address = address.ok_or_else(|| failed(&"no such host"))?;
        let mut stream = TcpStream::connect_timeout(&address, CONNECT).map_err(|error| failed(&error))?;
        let mut answer = Vec::new();
        stream
            .set_read_timeout(Some(ANSWER))
            .and_then(|()| {
                write!(stream, "GET {target} HTTP/1.0\r\nHost: {}\r\nAccept: text/plain\r\n\r\n", self.authority)
            })
            .and_then(|()| stream.take(LONGEST).read_to_end(&mut answer))
            .map_err(|error| failed(&error))?;
        let answer = String::from_utf8_lossy(&answer);
        split(&answer).ok_or_else(|| failed(&"the answer is no HTTP"))
    }
}

/// Status and body of an answer.
fn split(answer: &str) -> Option<(u16, String)> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.get(..3)?.parse().ok()?;
    Some((status, body.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_an_address_leaves_out_is_the_exporters_custom() {
        let parsed = |url| Address::parse(url).map(|address| (address.authority, address.target, address.fragment));
        let parts = |authority: &str, target: &str, fragment: Option<&str>| {
            Ok((authority.to_owned(), target.to_owned(), fragment.map(str::to_owned)))
        };
        assert_eq!(parsed("http://db"), parts("db:9100", "/metrics", None));
        assert_eq!(parsed("http://[::1]:19100/m?a=b#nvme1n1"), parts("[::1]:19100", "/m?a=b", Some("nvme1n1")));
        assert_eq!(parsed("http://db:80?x#"), parts("db:80", "/metrics?x", None));
        for wrong in ["https://db", "db:9100", "http://", "http://user@db", "http://db/a b", "http://d\nb"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_answer_makes_the_parser_panic(answer in "(HTTP/1.[01]|[0-9]| |\r\n|\\PC){0,20}", url in "(http://)?\\PC{0,20}") {
            let _ = (split(&answer), Address::parse(&url));
        }
    }
}
