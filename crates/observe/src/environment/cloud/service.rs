//! Requests to a metadata service, which may hang, redirect, lie or never end: one second for all of them.

use std::fmt;
use std::time::{Duration, Instant};

use ureq::Agent;

/// The address of the services of all three clouds, which no name server has to resolve.
const ADDRESS: &str = "http://169.254.169.254";
/// For all answers of one machine.
const TIME: Duration = Duration::from_secs(1);
/// Longest answer, bytes: Azure's may contain 64 KiB of a user's data.
const LONGEST: u64 = 256 << 10;
/// The header that only answers of Google's service have.
const GOOGLE: &str = "Metadata-Flavor";

/// Why a service stated nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// No complete answer in time.
    NoAnswer(String),
    /// It answered with another status than 200.
    Status(u16),
    /// The answer differs from the documentation.
    Garbage,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnswer(why) => write!(f, "no answer ({why})"),
            Self::Status(status) => write!(f, "it answered with status {status}"),
            Self::Garbage => f.write_str("its answer is not what is documented"),
        }
    }
}

/// A metadata service.
#[derive(Debug, Clone)]
pub(super) struct Service {
    /// `http://HOST:PORT`.
    pub(super) origin: String,
}

impl Default for Service {
    fn default() -> Self {
        Self { origin: ADDRESS.to_owned() }
    }
}

impl Service {
    /// Requests from now on.
    pub(super) fn inquiry(self) -> Inquiry {
        let config = Agent::config_builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .proxy(None)
            .max_idle_connections(0);
        Inquiry { agent: config.build().into(), origin: self.origin, end: Instant::now() + TIME }
    }
}

/// The requests about one machine, which share their time.
pub(super) struct Inquiry {
    agent: Agent,
    origin: String,
    end: Instant,
}

impl Inquiry {
    /// The body of a GET of `path` with one additional header.
    pub(super) fn get(&mut self, path: &str, header: (&str, &str)) -> Result<String, Fault> {
        let asked = self.agent.get(format!("{}{path}", self.origin)).header(header.0, header.1);
        let answer = asked.config().timeout_global(Some(self.left()?)).build().call();
        let answer = answer.map_err(|error| Fault::NoAnswer(error.to_string()))?;
        if header.0 == GOOGLE && answer.headers().get(GOOGLE).is_none_or(|flavor| flavor != "Google") {
            return Err(Fault::Garbage);
        }
        body(answer)
    }

    /// The same of a PUT without a body.
    pub(super) fn put(&mut self, path: &str, header: (&str, &str)) -> Result<String, Fault> {
        let asked = self.agent.put(format!("{}{path}", self.origin)).header(header.0, header.1);
        let answer = asked.config().timeout_global(Some(self.left()?)).build().send_empty();
        body(answer.map_err(|error| Fault::NoAnswer(error.to_string()))?)
    }

    fn left(&self) -> Result<Duration, Fault> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(Fault::NoAnswer("timeout".to_owned())) } else { Ok(left) }
    }
}

fn body(mut answer: ureq::http::Response<ureq::Body>) -> Result<String, Fault> {
    let status = answer.status().as_u16();
    if status != 200 {
        return Err(Fault::Status(status));
    }
    let bytes = answer.body_mut().with_config().limit(LONGEST).read_to_vec();
    let bytes = bytes.map_err(|error| Fault::NoAnswer(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| Fault::Garbage)
}
