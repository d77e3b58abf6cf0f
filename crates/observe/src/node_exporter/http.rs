//! A request to an exporter, which may be slow, endless or hostile: bounded in time and size, and redirects are not
//! followed.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Error, Result};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, http::Uri};

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
        let config = Agent::config_builder()
            .timeout_global(Some(DEADLINE))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .proxy(None)
            .max_idle_connections(0);
        let config = if address.origin.starts_with("https") { config.tls_config(tls()) } else { config };
        Self { agent: config.build().into(), stop: stop.clone() }
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
    let mut answer = agent.get(url).header("Accept", "text/plain").call()?;
    let body = answer.body_mut().with_config().limit(LONGEST).read_to_vec()?;
    Ok((answer.status().as_u16(), String::from_utf8_lossy(&body).into_owned()))
}

/// The certificates that the host trusts; without any, no server is trusted.
fn tls() -> TlsConfig {
    let trusted = rustls_native_certs::load_native_certs().certs;
    let trusted: Vec<_> = trusted.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::new_with_certs(&trusted))
        .build()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use proptest::prelude::*;

    use super::*;

    fn exporter(answer: impl FnOnce(&mut std::net::TcpStream) + Send + 'static) -> Address {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            answer(&mut stream);
        });
        Address::parse(&url).unwrap()
    }

    /// One byte at a time, for ever.
    fn trickle(stream: &mut std::net::TcpStream) {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(b"#").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
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
        let endless = |stream: &mut std::net::TcpStream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            let piece = vec![b'#'; 1 << 20];
            while stream.write_all(&piece).is_ok() {}
        };
        assert!(get(&exporter(endless)).is_err());
    }

    #[test]
    fn redirects_are_not_followed() {
        let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
        elsewhere.set_nonblocking(true).unwrap();
        let to = elsewhere.local_addr().unwrap();
        let away = move |stream: &mut std::net::TcpStream| {
            let _ = write!(stream, "HTTP/1.1 302 Found\r\nLocation: http://{to}/metrics\r\nContent-Length: 0\r\n\r\n");
        };
        assert_eq!(get(&exporter(away)).unwrap().0, 302);
        assert!(elsewhere.accept().is_err(), "no connection came");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_address_makes_the_parser_panic(url in "(https?://)?[a-z:@/?#\\[\\]0-9]{0,8}\\PC{0,20}") {
            let _ = Address::parse(&url);
        }
    }
}
