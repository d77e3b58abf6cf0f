//! The text of a connection URL, split into its parts, and the same text without its secrets.
//!
//! The grammar is libpq's: `postgres://user:password@host:port,host:port/dbname?key=value&key=value`, every part
//! percent-encoded. Errors never quote a part, because any of them may be a piece of a password with a stray `@`.

use mindful_core::{Error, Result};
use mindful_sql::connect::url::{ESCAPES, cut, host_and_port, key_and_value, redacted};

use super::parameter::Parameter;

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) user: Option<&'a str>,
    pub(super) password: Option<&'a str>,
    /// Host and port, both may be missing or empty.
    pub(super) hosts: Vec<(&'a str, &'a str)>,
    pub(super) dbname: Option<&'a str>,
    pub(super) parameters: Vec<(&'a str, &'a str)>,
}

pub(super) fn split(url: &str) -> Result<Parts<'_>> {
    let rest = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme)).ok_or_else(|| {
        Error::plan("the target is not a PostgreSQL URL", "write postgres://user@host:5432/dbname, parts are optional")
    })?;
    let mut parts = Parts::default();
    let authority = match rest[..rest.find('/').unwrap_or(rest.len())].find('@') {
        Some(at) => {
            let (user, password) = cut(&rest[..at], ':');
            (parts.user, parts.password) = (Some(user), password);
            &rest[at + 1..]
        }
        None => rest,
    };
    let (before_query, query) = cut(authority, '?');
    let (hosts, dbname) = cut(before_query, '/');
    // `postgres://u:1/x?y@host` is a password that cuts the URL short, and no host `u` with port 1.
    let cut_short = parts.user.is_none() && hosts.contains(':') && query.is_some_and(|query| query.contains('@'));
    if before_query.contains('@') || cut_short {
        return Err(Error::plan("the target URL has an `@` too many", ESCAPES));
    }
    parts.dbname = dbname;
    if !hosts.is_empty() {
        let split = |(i, host)| host_and_port(host, &format!("host {}", i + 1), 5432);
        parts.hosts = hosts.split(',').enumerate().map(split).collect::<Result<_>>()?;
    }
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        parts.parameters.push(key_and_value(pair, '%')?);
    }
    Ok(parts)
}

/// `url` as it may be shown and stored. Works for any text.
pub fn redact(url: &str) -> String {
    redacted(url, SCHEMES[0], split(url).map(|parts| parts.without_secrets()))
}

impl Parts<'_> {
    pub(super) fn names_password(&self) -> bool {
        let secret = |key| Parameter::find(key).is_some_and(Parameter::secret);
        self.password.is_some() || self.parameters.iter().any(|(key, _)| secret(key))
    }

    fn without_secrets(&self) -> String {
        let hosts: Vec<_> = self.hosts.iter().map(|&(host, port)| show_host(host, port)).collect();
        let user = self.user.map_or_else(String::new, |user| format!("{user}@"));
        let dbname = self.dbname.map_or_else(String::new, |dbname| format!("/{dbname}"));
        let parameters: Vec<_> =
            self.parameters.iter().filter_map(|&(key, value)| show_parameter(key, value)).collect();
        let mark = if parameters.is_empty() { "" } else { "?" };
        format!("{}{user}{}{dbname}{mark}{}", SCHEMES[0], hosts.join(","), parameters.join("&"))
    }
}

pub(super) fn show_host(host: &str, port: &str) -> String {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    if port.is_empty() { host } else { format!("{host}:{port}") }
}

/// A secret is left out whole; of an unknown key (a misspelt `password`?) only the name is shown.
fn show_parameter(key: &str, value: &str) -> Option<String> {
    match Parameter::find(key) {
        Some(known) if known.secret() => None,
        Some(_) => Some(format!("{key}={value}")),
        None => Some(format!("{key}=…")),
    }
}
