//! Downloads an archive and compares it with its hash.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mindful_core::contract::event::{Event, Events};
use mindful_core::{Error, Result};
use mindful_host::binary::hexadecimal;
use sha2::{Digest, Sha256, Sha512};
use ureq::http::header::LOCATION;
use ureq::http::{Response, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy};

use super::artefact::{Artefact, Limits};
use super::reason;

/// Attempts at a source that fails in a way that may pass.
const ATTEMPTS: u32 = 3;
/// Places to which a source may redirect one after the other.
const REDIRECTS: u32 = 5;
/// Bytes that are written at a time.
const PIECE: u64 = 64 << 10;
/// Time between two reports of progress.
const EVERY: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Until a connection is established, and again until the answer begins.
    pub answer: Duration,
    /// Between two pieces of the answer.
    pub piece: Duration,
    pub all: Duration,
    /// Before the next attempt.
    pub again: Duration,
}

const PATIENCE: Patience = Patience {
    answer: Duration::from_secs(20),
    piece: Duration::from_secs(30),
    all: Duration::from_mins(20),
    again: Duration::from_secs(1),
};

pub(super) struct Source {
    base: String,
    proxy: Option<String>,
    agent: Agent,
    again: Duration,
}

impl Source {
    /// The repository at `base`, with the certificates that this system trusts and the proxy that its variables name.
    pub(super) fn open(base: &str) -> Result<Self> {
        let trusted = rustls_native_certs::load_native_certs().certs;
        let trusted: Vec<_> = trusted.iter().map(|one| Certificate::from_der(one).to_owned()).collect();
        Self::with(base, trusted, proxy(base, &variable), PATIENCE)
    }

    fn with(base: &str, trusted: Vec<Certificate<'static>>, proxy: Option<String>, patience: Patience) -> Result<Self> {
        let secure = base.starts_with("https://");
        if !secure && !base.starts_with("http://") {
            return Err(Error::plan(
                format!("`{base}` is not an address to fetch from"),
                "pass --fetch-url https://HOST/PATH",
            ));
        }
        if secure && trusted.is_empty() {
            return Err(reason::no_certificates());
        }
        let through = proxy.as_deref().map(|name| Proxy::new(name).map_err(|_| reason::bad_proxy(name))).transpose()?;
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(trusted)))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let agent = Agent::config_builder()
            .tls_config(tls)
            .proxy(through)
            .https_only(secure)
            .max_redirects(0)
            .user_agent(concat!("mindful/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(patience.answer))
            .timeout_recv_response(Some(patience.answer))
            .timeout_per_read(Some(patience.piece))
            .timeout_global(Some(patience.all))
            .build()
            .new_agent();
        Ok(Self { base: base.to_owned(), proxy, agent, again: patience.again })
    }

    /// Downloads `artefact` into `file`, and rewinds the file. Unexpected contents are refused.
    pub(super) fn download(
        &self,
        artefact: &Artefact,
        limits: &Limits,
        file: &mut File,
        events: &dyn Events,
    ) -> Result<()> {
        let url = artefact.url(&self.base);
        let first_word = |text: String| text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        let published = |body: &mut Body| body.with_config().limit(4096).read_to_string();
        let expected = match artefact.sha256 {
            Some(expected) => expected.to_owned(),
            None => first_word(self.attempts(&format!("{url}.sha512"), published)?),
        };
        let found = self.attempts(&url, |body| match artefact.sha256 {
            Some(_) => receive::<Sha256>(body, &artefact.what, limits, file, events),
            None => receive::<Sha512>(body, &artefact.what, limits, file, events),
        })?;
        if found != expected {
            return Err(reason::other_hash(&url, &expected, &found));
        }
        file.rewind().map_err(|error| Error::target(format!("what was fetched: {error}"), "try again"))
    }

    fn get(&self, url: &str) -> Result<Response<Body>, ureq::Error> {
        let mut place: Uri = url.parse().map_err(|_| ureq::Error::BadUri(url.to_owned()))?;
        for _ in 0..=REDIRECTS {
            let answer = self.agent.get(&place).call()?;
            if !answer.status().is_redirection() {
                return Ok(answer);
            }
            place = redirected(&place, &answer, url.strip_prefix(self.base.trim_end_matches('/')))?;
        }
        Err(ureq::Error::TooManyRedirects)
    }

    /// The answer at `url`, as converted by `read`; requested again if that may help.
    fn attempts<T>(&self, url: &str, mut read: impl FnMut(&mut Body) -> Result<T, ureq::Error>) -> Result<T> {
        let mut left = ATTEMPTS;
        loop {
            left -= 1;
            let error = match self.get(url).and_then(|answer| read(&mut answer.into_body())) {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            if left == 0 || !reason::may_pass(&error) {
                return Err(reason::of_network(url, self.proxy.as_deref(), &error));
            }
            std::thread::sleep(self.again);
        }
    }
}

/// Writes `body` into `file`, reports its progress, and returns its hash in hexadecimal.
fn receive<D: Digest>(
    body: &mut Body,
    what: &str,
    limits: &Limits,
    file: &mut File,
    events: &dyn Events,
) -> Result<String, ureq::Error> {
    file.set_len(0)?;
    file.rewind()?;
    let report = |done, of| {
        events.emit(Event::Progress { what: format!("fetching {what}"), done, of, unit: "bytes".to_owned() });
    };
    // 0 if unknown.
    let of = body.content_length().unwrap_or(0);
    let (mut done, mut reported, mut hash) = (0, None, D::new());
    let (mut from, mut piece) = (body.as_reader(), Vec::new());
    while from.by_ref().take(PIECE).read_to_end(&mut piece)? > 0 {
        done += piece.len() as u64;
        if done > limits.packed {
            return Err(ureq::Error::BodyExceedsLimit(limits.packed));
        }
        file.write_all(&piece)?;
        hash.update(&piece);
        piece.clear();
        if reported.is_none_or(|reported: Instant| reported.elapsed() >= EVERY) {
            report(done, of);
            reported = Some(Instant::now());
        }
    }
    report(done, done);
    Ok(hexadecimal(&hash.finalize()))
}

/// Where an answer from `from` redirects. It may lead to another host only if the user names that. `below` is the path of
/// what is fetched below the base of its source.
fn redirected(from: &Uri, answer: &Response<Body>, below: Option<&str>) -> Result<Uri, ureq::Error> {
    let location = answer.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let location = location.ok_or(ureq::Error::RedirectFailed)?;
    let (scheme, authority) = (from.scheme_str().unwrap_or_default(), from.authority().map_or("", |it| it.as_str()));
    let to = match location {
        host if host.starts_with("//") => format!("{scheme}:{host}"),
        path if path.starts_with('/') => format!("{scheme}://{authority}{path}"),
        absolute if absolute.contains("://") => absolute.to_owned(),
        name => {
            format!("{scheme}://{authority}{}/{name}", from.path().rsplit_once('/').map_or("", |(folder, _)| folder))
        }
    };
    // A redirect from https to http is not advised.
    let is_as_safe = scheme == "http" || to.starts_with("https:");
    let base = below.filter(|_| is_as_safe).and_then(|below| to.strip_suffix(below)).map(str::to_owned);
    let to: Uri = to.parse().map_err(|_| ureq::Error::RedirectFailed)?;
    match (from.host(), to.host()) {
        (Some(here), Some(there)) if here.eq_ignore_ascii_case(there) => Ok(to),
        (_, there) => Err(ureq::Error::Other(Box::new(reason::other_host(there.unwrap_or("no host"), base)))),
    }
}

/// The variables of the environment. Bytes that are not text become marks, and a proxy with marks is refused.
fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// The proxy for `base` in the environment, by curl's rules: the one for the scheme, else the one for all, unless the
/// host is excepted. An upper-case `HTTP_PROXY` is ignored, because it could come from a request's header.
fn proxy(base: &str, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let set = |names: &[&str]| names.iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
    let names: &[&str] = if base.starts_with("https:") { &["https_proxy", "HTTPS_PROXY"] } else { &["http_proxy"] };
    let proxy = set(names).or_else(|| set(&["all_proxy", "ALL_PROXY"]))?;
    let host = base.split("://").nth(1)?.split(['/', ':']).next()?.to_ascii_lowercase();
    let excepted = |one: &str| {
        let one = one.trim().trim_start_matches('*').trim_start_matches('.').to_ascii_lowercase();
        one.is_empty() || host == one || host.ends_with(&format!(".{one}"))
    };
    let except = set(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
    let free = except.split(',').filter(|one| !one.trim().is_empty()).any(excepted);
    (!free).then_some(proxy)
}

#[cfg(test)]
mod answers;
