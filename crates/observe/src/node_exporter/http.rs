//! Requests to an exporter.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Error, Result};
use ureq::Agent;
use ureq::http::{Request, Uri};

use crate::http::{agent, send};

/// From looking its name up to the last byte of its answer.
const DEADLINE: Duration = Duration::from_secs(5);
/// Remaining time after a stop request.
const AFTER_STOP: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(50);
/// Longest answer of an exporter, bytes.
const LONGEST: u64 = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// `http` or `https`, and `host:port`.
    pub(crate) origin: String,
    /// Path and query.
    pub(crate) target: String,
    /// The part after `#`.
    pub(crate) fragment: Option<String>,
}

impl Address {
    /// Port 9100 and `/metrics` are the defaults.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let wrong = || {
            Error::plan(
                "--node-exporter: this is not the address of an exporter",
                "give it as http://HOST:9100/metrics, without a user",
            )
        };
        let (plain, fragment) = match url.split_once('#') {
            Some((plain, fragment)) => (plain, Some(fragment.to_owned()).filter(|name| !name.is_empty())),
            None => (url, None),
        };
        let uri: Uri = plain.parse().map_err(|_| wrong())?;
        let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme)).ok_or_else(wrong)?;
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@')).ok_or_else(wrong)?;
        if authority.host().is_empty() {
            return Err(wrong());
        }
        let target = match (uri.path(), uri.query()) {
            ("" | "/", None) => "/metrics".to_owned(),
            ("" | "/", Some(query)) => format!("/metrics?{query}"),
            (path, None) => path.to_owned(),
            (path, Some(query)) => format!("{path}?{query}"),
        };
        let port = authority.port_u16().unwrap_or(9100);
        Ok(Self { origin: format!("{scheme}://{}:{port}", authority.host()), target, fragment })
    }
}

pub(crate) struct Client {
    agent: Agent,
    stop: StopFlag,
}

impl Client {
    pub(crate) fn new(address: &Address, stop: &StopFlag) -> Self {
        Self { agent: agent(address.origin.starts_with("https")), stop: stop.clone() }
    }

    pub(crate) fn get(&self, address: &Address, target: &str) -> Result<(u16, String)> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::target(
                format!("{}{} does not answer ({error})", address.origin, address.target),
                "check that the exporter runs and its port is open to this host",
            )
        };
        let (answer, answered) = sync_channel(1);
        let (agent, url) = (self.agent.clone(), format!("{}{target}", address.origin));
        let asking = move || {
            // The caller may have gone.
            let _ = answer.send(ask(&agent, &url));
        };
        std::thread::Builder::new().name("exporter".to_owned()).spawn(asking).map_err(|error| failed(&error))?;
        let mut end = Instant::now() + DEADLINE;
        let mut stopping = false;
        loop {
            match answered.recv_timeout(LOOK) {
                Ok(answer) => return answer.map_err(|error| failed(&error)),
                Err(RecvTimeoutError::Timeout) if Instant::now() < end => {}
                Err(_) if stopping => return Err(Error::interrupted("the exporter was not waited for")),
                Err(_) => return Err(failed(&"no whole answer in time")),
            }
            if self.stop.is_requested() && !stopping {
                stopping = true;
                end = end.min(Instant::now() + AFTER_STOP);
            }
        }
    }
}

fn ask(agent: &Agent, url: &str) -> std::result::Result<(u16, String), ureq::Error> {
    let request = Request::get(url).header("Accept", "text/plain").body(())?;
    let answer = send(agent, request, DEADLINE, LONGEST)?;
    Ok((answer.status().as_u16(), String::from_utf8_lossy(answer.body()).into_owned()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use mindful_conformance::any_text;
    use mindful_conformance::http::{flood, redirect, serve, trickle};

    use super::*;

    fn exporter(mut answer: impl FnMut(&mut TcpStream) + Send + 'static) -> Address {
        Address::parse(&serve(move |_, stream| answer(stream))).unwrap()
    }

    fn get(address: &Address) -> Result<(u16, String)> {
        Client::new(address, &StopFlag::default()).get(address, &address.target)
    }

    #[test]
    fn omitted_parts_of_an_address_are_the_exporters_defaults() {
        let parsed = |url| Address::parse(url).map(|address| (address.origin, address.target, address.fragment));
        let parts = |origin: &str, target: &str, fragment: Option<&str>| {
            Ok((origin.to_owned(), target.to_owned(), fragment.map(str::to_owned)))
        };
        assert_eq!(parsed("http://db"), parts("http://db:9100", "/metrics", None));
        assert_eq!(parsed("http://[::1]:19100/m?a=b#nvme1n1"), parts("http://[::1]:19100", "/m?a=b", Some("nvme1n1")));
        assert_eq!(parsed("https://db:80?x#"), parts("https://db:80", "/metrics?x", None));
        for wrong in ["ftp://db", "db:9100", "http://", "http://user:word@db", "http://db/a b", "http://d\nb"] {
            let message = parsed(wrong).unwrap_err().to_string();
            assert!(!message.contains("word"), "{message}");
        }
    }

    #[test]
    fn an_exporter_that_trickles_is_given_up_after_a_while() {
        let begun = Instant::now();
        assert!(get(&exporter(trickle)).unwrap_err().to_string().contains("does not answer"));
        assert!(begun.elapsed() < DEADLINE * 4, "{:?}", begun.elapsed());
    }

    #[test]
    fn a_requested_stop_ends_the_wait_for_an_exporter() {
        let (address, stop) = (exporter(trickle), StopFlag::default());
        stop.request();
        let begun = Instant::now();
        let error = Client::new(&address, &stop).get(&address, "/metrics").unwrap_err();
        assert_eq!(error.kind, mindful_core::ErrorKind::Interrupted);
        assert!(begun.elapsed() < DEADLINE, "{:?}", begun.elapsed());
    }

    #[test]
    fn an_answer_without_an_end_is_given_up() {
        assert!(get(&exporter(flood)).is_err());
    }

    #[test]
    fn redirects_are_not_followed() {
        let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
        elsewhere.set_nonblocking(true).unwrap();
        let to = elsewhere.local_addr().unwrap();
        let away = exporter(move |stream| stream.write_all(&redirect(&format!("http://{to}/metrics"))).unwrap());
        assert_eq!(get(&away).unwrap().0, 302);
        assert!(elsewhere.accept().is_err(), "no connection came");
    }

    #[test]
    fn no_address_makes_the_parser_panic() {
        any_text("(https?://)?[a-z:@/?#\\[\\]0-9]{0,8}\\PC{0,20}", Address::parse);
    }
}
