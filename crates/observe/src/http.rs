//! Requests to services of others, which may hang, redirect, lie or never end: bounded in time and size, and redirects are
//! not followed.

use std::sync::Arc;
use std::time::Duration;

use ureq::http::{Request, Response};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, AsSendBody, Error};

/// For plain HTTP, or with the certificates that the host trusts for HTTPS; without any, no server is trusted.
pub(crate) fn agent(secure: bool) -> Agent {
    let config = Agent::config_builder()
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .max_idle_connections(0);
    if !secure {
        return config.build().into();
    }
    let trusted = rustls_native_certs::load_native_certs().certs;
    let trusted: Vec<_> = trusted.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::new_with_certs(&trusted));
    config.tls_config(tls.build()).build().into()
}

/// The whole answer, if it comes within `time` and has at most `longest` bytes.
pub(crate) fn send(
    agent: &Agent,
    request: Request<impl AsSendBody>,
    time: Duration,
    longest: u64,
) -> Result<Response<Vec<u8>>, Error> {
    let request = agent.configure_request(request).timeout_global(Some(time)).build();
    let (head, mut body) = agent.run(request)?.into_parts();
    Ok(Response::from_parts(head, body.with_config().limit(longest).read_to_vec()?))
}
