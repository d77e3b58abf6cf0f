//! The text of a connection URL, split into its parts, and the same text without its secrets.
//!
//! `mysql://user:password@host:port/database?key=value&key=value`, every part percent-encoded and optional. Errors never
//! quote a part, because any of them may be a piece of a password with a stray `@`.

use mindful_core::plan::settings::nearest;
use mindful_core::{Error, Result};
use mindful_sql::connect::url::{ESCAPES, cut, decode_text, host_and_port, key_and_value, redacted};

const SCHEMES: [&str; 2] = ["mysql://", "mariadb://"];

/// Parameters after the question mark, with the names of the mysql client.
pub(super) const PARAMETERS: [&str; 6] = ["connect-timeout", "socket", "ssl-ca", "ssl-cert", "ssl-key", "ssl-mode"];

#[derive(Default, Clone)]
pub(super) struct Parts {
    pub user: Option<String>,
    pub password: Option<String>,
    pub host: Option<String>,
    pub port: Option<u16>,
    pub database: Option<String>,
    pub parameters: Vec<(&'static str, String)>,
}

pub(super) fn split(url: &str) -> Result<Parts> {
    let rest = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme)).ok_or_else(|| {
        Error::plan(
            "the target is not the URL of a MariaDB or MySQL server",
            "write mysql://user@host:3306/database, or mariadb: for a private server",
        )
    })?;
    let (before, query) = cut(rest, '?');
    let (authority, database) = cut(before, '/');
    if database.is_some_and(|name| name.contains(['/', '@'])) || query.is_some_and(|query| query.contains('@')) {
        return Err(Error::plan("the target URL has a `/` or `@` too many", ESCAPES));
    }
    let mut parts = Parts::default();
    let host = match authority.split_once('@') {
        Some((_, host)) if host.contains('@') => {
            return Err(Error::plan("the target URL has an `@` too many", ESCAPES));
        }
        Some((user, host)) => {
            let (user, password) = cut(user, ':');
            parts.user = some(decode_text(user, "user")?);
            parts.password = password.map(|text| decode_text(text, "password")).transpose()?;
            host
        }
        None => authority,
    };
    (parts.host, parts.port) = split_host(host)?;
    parts.database = database.map(|name| decode_text(name, "database")).transpose()?.and_then(some);
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        parts.parameters.push(parameter(pair)?);
    }
    Ok(parts)
}

fn parameter(pair: &str) -> Result<(&'static str, String)> {
    let (key, value) = key_and_value(pair, '-')?;
    let key = key.to_ascii_lowercase().replace('_', "-");
    let known = PARAMETERS.iter().find(|known| **known == key).ok_or_else(|| {
        let next = match nearest(&key, PARAMETERS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it takes {}", PARAMETERS.join(", ")),
        };
        Error::plan(format!("the target URL has an unknown parameter `{key}`"), next)
    })?;
    Ok((known, decode_text(value, known)?))
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

fn split_host(text: &str) -> Result<(Option<String>, Option<u16>)> {
    if text.contains(',') {
        let next = "name one: sessions of this engine work on one server";
        return Err(Error::plan("the host of the target URL is a list", next));
    }
    let (host, port) = host_and_port(text, "the host", 3306)?;
    Ok((some(decode_text(host, "host")?), port.parse().ok()))
}

/// `url` as it may be shown and stored. Works for any text.
pub(crate) fn redact(url: &str) -> String {
    let known = split(url).map(|parts| {
        if parts.password.is_none() {
            return url.to_owned();
        }
        // The parts are shown as written: only the text between `:` and `@` is dropped.
        let (user, rest) = url.rsplit_once('@').unwrap_or((url, ""));
        let scheme = SCHEMES.iter().find(|scheme| user.starts_with(**scheme)).map_or("", |scheme| *scheme);
        let name = cut(&user[scheme.len()..], ':').0;
        format!("{scheme}{name}@{rest}")
    });
    redacted(url, SCHEMES[0], known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_url_is_optional() {
        let all = split("mysql://me:p%40ss@db.example:3307/bench?ssl_mode=REQUIRED&ssl-ca=%2Fca.pem").unwrap();
        assert_eq!((all.user.as_deref(), all.password.as_deref()), (Some("me"), Some("p@ss")));
        assert_eq!(
            (all.host.as_deref(), all.port, all.database.as_deref()),
            (Some("db.example"), Some(3307), Some("bench"))
        );
        assert_eq!(all.parameters, [("ssl-mode", "REQUIRED".to_owned()), ("ssl-ca", "/ca.pem".to_owned())]);
        let none = split("mariadb://").unwrap();
        assert!(none.user.is_none() && none.host.is_none() && none.port.is_none() && none.database.is_none());
        let six = split("mysql://[::1]:3306/").unwrap();
        assert_eq!((six.host.as_deref(), six.port, six.database), (Some("::1"), Some(3306), None));
    }

    #[test]
    fn misspelt_options_are_refused_without_quoting_them() {
        for (url, hint) in [
            ("mysql://me:secret@x@db/b", "%40"),
            ("mysql://me:sec/ret@db/b", "%2F"),
            ("mysql://me:secret@db:3306:1/b", "brackets"),
            ("mysql://me:secret@db:port/b", "65535"),
            ("mysql://me:secret@db/b?sslmode", "key=value"),
            ("mysql://me:secret@db/b?ssl-mod=x", "did you mean `ssl-mode`?"),
            ("mysql://me:secret%4@db/b", "percent"),
            ("mysql://a,b/c", "one server"),
            ("postgres://me:secret@db/b", "mariadb:"),
        ] {
            let message = split(url).err().unwrap().to_string();
            assert!(message.contains(hint) && !message.contains("secret") && !message.contains("ret@"), "{message}");
        }
    }

    #[test]
    fn no_url_is_shown_with_its_password() {
        for (url, shown) in [
            ("mysql://me:secret@db/b", "mysql://me@db/b"),
            ("mysql://me:secret@db:1/b?ssl-mode=REQUIRED", "mysql://me@db:1/b?ssl-mode=REQUIRED"),
            ("mariadb://:secret@db/b", "mariadb://@db/b"),
            ("mysql://me@db/b", "mysql://me@db/b"),
            ("mysql://me:sec@ret@db/b", "mysql://…db/b"),
            ("mysql://me:sec/ret@db/b", "mysql://…db/b"),
            ("mysql://me:sec?ret@db/b", "mysql://…db/b"),
            ("mysql://me:secret", "mysql://…"),
            ("mysql://me:secret/b", "mysql://…"),
            ("mysql://me/secret@db/b", "mysql://…db/b"),
            ("mysql://me:secret@x@db/b", "mysql://…db/b"),
            ("mysql://me:sec@ret@x@db/b", "mysql://…db/b"),
            ("mysql://me@db/b;password=secret", "mysql://me@db/b;password=…"),
            ("mysql://x@me@db/b;password=secret", "mysql://…db/b;password=…"),
            ("mysql://me@db/b?ssl-mode=REQUIRED;password=secret", "mysql://…db/b"),
            ("mysql://me@db/b?password=secret", "mysql://…db/b"),
            ("mysql://host=db;user=me;password=secret", "mysql://host=db;user=me;password=…"),
            ("mysql:host=db password=secret", "mysql://…"),
        ] {
            assert_eq!(redact(url), shown);
            let error = split(url).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!error.contains("secret") && !error.contains("ret@"), "{url}: {error}");
        }
    }
}
