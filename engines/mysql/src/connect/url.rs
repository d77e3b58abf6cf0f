//! The text of a connection URL, split into its parts, and the same text without its secrets.
//!
//! `mysql://user:password@host:port/database?key=value&key=value`, every part percent-encoded and optional. Errors never
//! quote a part, because any of them may be a piece of a password with a stray `@`.

use mindful_core::contract::error::one_line;
use mindful_core::plan::secret::without_named;
use mindful_core::plan::settings::nearest;
use mindful_core::{Error, Result};

const SCHEMES: [&str; 2] = ["mysql://", "mariadb://"];
const ESCAPES: &str = "write `@` `:` `/` `?` `%` inside a name or password as %40 %3A %2F %3F %25";

/// What may stand behind the question mark, as the mysql client calls it.
pub const PARAMETERS: [&str; 6] = ["connect-timeout", "socket", "ssl-ca", "ssl-cert", "ssl-key", "ssl-mode"];

/// The parts of a URL, decoded.
#[derive(Default, Clone)]
pub struct Parts {
    pub user: Option<String>,
    pub password: Option<String>,
    pub host: Option<String>,
    pub port: Option<u16>,
    pub database: Option<String>,
    pub parameters: Vec<(&'static str, String)>,
}

/// Splits `url`.
pub fn split(url: &str) -> Result<Parts> {
    let rest = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme)).ok_or_else(|| {
        Error::plan(
            "the target is no URL of a MariaDB or MySQL server",
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
            parts.user = some(decode(user, "user")?);
            parts.password = password.map(|text| decode(text, "password")).transpose()?;
            host
        }
        None => authority,
    };
    (parts.host, parts.port) = split_host(host)?;
    parts.database = database.map(|name| decode(name, "database")).transpose()?.and_then(some);
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        parts.parameters.push(parameter(pair)?);
    }
    Ok(parts)
}

fn parameter(pair: &str) -> Result<(&'static str, String)> {
    let split = pair.split_once('=').filter(|(key, value)| !value.contains('=') && key.chars().all(is_key));
    let (key, value) = split.ok_or_else(|| {
        let what = "a parameter of the target URL is not `key=value`";
        Error::plan(what, "separate parameters by `&`; write `=` inside a value as %3D")
    })?;
    let key = key.to_ascii_lowercase().replace('_', "-");
    let known = PARAMETERS.iter().find(|known| **known == key).ok_or_else(|| {
        let next = match nearest(&key, PARAMETERS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it takes {}", PARAMETERS.join(", ")),
        };
        Error::plan(format!("the target URL has an unknown parameter `{key}`"), next)
    })?;
    Ok((known, decode(value, known)?))
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn split_host(text: &str) -> Result<(Option<String>, Option<u16>)> {
    let bad = |what: &str, next: &str| Error::plan(format!("the host of the target URL {what}"), next);
    if text.contains(',') {
        return Err(bad("is a list", "name one: sessions of this engine work on one server"));
    }
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) =
                rest.split_once(']').ok_or_else(|| bad("has no closing bracket", "write an IPv6 address as [::1]"))?;
            let port = match port.strip_prefix(':') {
                None if !port.is_empty() => return Err(bad("goes on after its bracket", "write it as [::1]:3306")),
                other => other.unwrap_or(""),
            };
            (address, port)
        }
        None => text.split_once(':').unwrap_or((text, "")),
    };
    if port.contains(':') {
        return Err(bad("has two colons", "write an IPv6 address in brackets, such as [::1]:3306"));
    }
    let number = (!port.is_empty()).then(|| port.parse::<u16>()).transpose();
    let port = number.map_err(|_| bad("has a port that is not a number up to 65535", ESCAPES))?;
    Ok((some(decode(host, "host")?), port))
}

/// The text that percent-encoded `text` stands for. `part` names it in an error.
fn decode(text: &str, part: &str) -> Result<String> {
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
    String::from_utf8(bytes).map_err(|_| bad())
}

/// `url` as it may be shown and stored: without a password, on one line. Works for any text; of a URL that cannot be split
/// only what surely is no secret is left.
pub fn redact(url: &str) -> String {
    let shown = match split(url) {
        // The parts are as they were written: only what stands between `:` and `@` goes.
        Ok(Parts { password: Some(_), .. }) => {
            let (user, rest) = url.rsplit_once('@').unwrap_or((url, ""));
            let scheme = SCHEMES.iter().find(|scheme| user.starts_with(**scheme)).map_or("", |scheme| *scheme);
            let name = cut(&user[scheme.len()..], ':').0;
            format!("{scheme}{name}@{rest}")
        }
        Ok(_) => url.to_owned(),
        Err(_) => {
            let end = url.rsplit_once('@').map_or("", |(_, end)| cut(end, '?').0);
            format!("{}…{end}", SCHEMES[0])
        }
    };
    one_line(&without_named(&shown))
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
    fn what_is_misspelt_is_refused_and_no_part_quoted() {
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
