//! The text of a connection URL, split into its parts, and the same text without its secrets.
//!
//! The grammar is libpq's: `postgres://user:password@host:port,host:port/dbname?key=value&key=value`, every part
//! percent-encoded. Errors never quote a part, because any of them may be a piece of a password with a stray `@`.

use mindful_core::contract::error::one_line;
use mindful_core::plan::secret::without_named;
use mindful_core::{Error, Result};

use super::parameter::Parameter;

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
const ESCAPES: &str = "write `@` `:` `/` `%` inside a name or password as %40 %3A %2F %25";

/// The parts of a URL, still percent-encoded.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) user: Option<&'a str>,
    pub(super) password: Option<&'a str>,
    /// Host and port, either of which may be missing or empty.
    pub(super) hosts: Vec<(&'a str, &'a str)>,
    pub(super) dbname: Option<&'a str>,
    pub(super) parameters: Vec<(&'a str, &'a str)>,
}

/// Splits `url`.
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
        parts.hosts = hosts.split(',').enumerate().map(|(i, host)| split_host(host, i + 1)).collect::<Result<_>>()?;
    }
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some((key, value)) if !value.contains('=') && key.chars().all(is_key) => {
                parts.parameters.push((key, value));
            }
            _ => {
                let what = "a parameter of the target URL is not `key=value`";
                return Err(Error::plan(what, "separate parameters by `&`; write `=` inside a value as %3D"));
            }
        }
    }
    Ok(parts)
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '%'
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn split_host(text: &str, number: usize) -> Result<(&str, &str)> {
    let bad = |what: &str, next: &str| Error::plan(format!("host {number} of the target URL {what}"), next);
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) =
                rest.split_once(']').ok_or_else(|| bad("has no closing bracket", "write an IPv6 address as [::1]"))?;
            let port = match port.strip_prefix(':') {
                Some(port) => port,
                None if port.is_empty() => port,
                None => return Err(bad("goes on after its bracket", "write it as [::1]:5432")),
            };
            (address, port)
        }
        None => text.split_once(':').unwrap_or((text, "")),
    };
    if port.contains(':') {
        return Err(bad("has two colons", "write an IPv6 address in brackets, such as [::1]:5432"));
    }
    if !port.is_empty() && port.parse::<u16>().is_err() {
        return Err(bad("has a port that is not a number up to 65535", ESCAPES));
    }
    Ok((host, port))
}

/// The bytes that percent-encoded `text` stands for. `part` names it in an error.
pub(super) fn decode(text: &str, part: &str) -> Result<Vec<u8>> {
    let bad = || Error::plan(format!("the {part} in the target URL has a broken percent-encoding"), ESCAPES);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let byte = if byte == b'%' {
            let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
            let (high, low) = (digit().ok_or_else(bad)?, digit().ok_or_else(bad)?);
            (high * 16 + low) as u8
        } else {
            byte
        };
        if byte == 0 {
            return Err(Error::plan(format!("the {part} in the target URL contains a zero byte"), "leave it out"));
        }
        bytes.push(byte);
    }
    Ok(bytes)
}

/// `text` percent-encoded so that it may stand in any part of a URL.
pub(super) fn encode(text: &str) -> String {
    use std::fmt::Write;
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// `url` as it may be shown and stored: without passwords, on one line. Works for any text; of a URL that cannot be
/// split only what surely is no secret is left.
pub fn redact(url: &str) -> String {
    let remains = |url: &str| {
        let end = url.rsplit_once('@').map_or("", |(_, end)| cut(end, '?').0);
        format!("{}…{end}", SCHEMES[0])
    };
    one_line(&without_named(&split(url).map_or_else(|_| remains(url), |parts| parts.redacted())))
}

impl Parts<'_> {
    /// Whether a secret stands in the URL.
    pub(super) fn names_password(&self) -> bool {
        let secret = |key| Parameter::find(key).is_some_and(Parameter::secret);
        self.password.is_some() || self.parameters.iter().any(|(key, _)| secret(key))
    }

    fn redacted(&self) -> String {
        let hosts: Vec<_> = self.hosts.iter().map(|&(host, port)| show_host(host, port)).collect();
        let mut text = SCHEMES[0].to_owned();
        if let Some(user) = self.user {
            text.push_str(user);
            text.push('@');
        }
        text.push_str(&hosts.join(","));
        if let Some(dbname) = self.dbname {
            text.push('/');
            text.push_str(dbname);
        }
        let parameters: Vec<_> =
            self.parameters.iter().filter_map(|&(key, value)| show_parameter(key, value)).collect();
        if !parameters.is_empty() {
            text.push('?');
            text.push_str(&parameters.join("&"));
        }
        text
    }
}

/// A host and its port as they stand in a URL.
pub(super) fn show_host(host: &str, port: &str) -> String {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    if port.is_empty() { host } else { format!("{host}:{port}") }
}

/// A secret is left out whole; of a key nobody knows (a misspelt `password`?) only the name is shown.
fn show_parameter(key: &str, value: &str) -> Option<String> {
    match Parameter::find(key) {
        Some(known) if known.secret() => None,
        Some(_) => Some(format!("{key}={value}")),
        None => Some(format!("{key}=…")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_misspelt_url_is_shown_with_its_password() {
        for (url, shown) in [
            ("postgres://me:secret", "postgres://…"),
            ("postgres://me:secret/b", "postgres://…"),
            ("postgres://me/secret@db/b", "postgres://…db/b"),
            ("postgres://me:secret@x@db/b", "postgres://…db/b"),
            ("postgres://me:sec@ret@x@db/b", "postgres://…db/b"),
            ("postgres://me@db/b;password=secret", "postgres://me@db/b;password=…"),
            ("postgres://x@me@db/b;password=secret", "postgres://…db/b;password=…"),
            ("postgres://me@db/b?sslmode=require;password=secret", "postgres://…db/b"),
            ("postgres://me@db/b?password=secret", "postgres://me@db/b"),
            ("postgres://host=db password=secret", "postgres://host=db password=…"),
            ("host=db password=secret", "postgres://…"),
        ] {
            assert_eq!(redact(url), shown);
            let error = split(url).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!error.contains("secret") && !error.contains("ret@"), "{url}: {error}");
        }
    }
}
