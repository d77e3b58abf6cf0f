//! What `psql` was given to connect by: a URL, keywords and values, options, or the name of a database.
//!
//! pgio passes its CONNECT_STRING to psql as it stands, so any of the four is in use. All become one URL without its
//! password: secrets are not copied into plans and runs.

use mindful_core::plan::secret::without_secrets;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Place {
    user: Option<String>,
    host: Option<String>,
    port: Option<String>,
    database: Option<String>,
}

/// The URL of the target that `text` names, without a password; `database` is the one where it names none. `None` where it
/// cannot be understood.
pub(crate) fn target(text: &str, database: Option<&str>) -> Option<String> {
    let text = text.trim();
    if ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
        return without_password(text);
    }
    let words = words(text)?;
    let place = match words.as_slice() {
        [] => Place::default(),
        [first, ..] if first.starts_with('-') => options(&words)?,
        [first, ..] if first.contains('=') => keywords(&words)?,
        [name] => Place { database: Some(name.clone()), ..Place::default() },
        _ => return None,
    };
    let place = Place { database: place.database.or_else(|| database.map(str::to_owned)), ..place };
    Some(place.url())
}

impl Place {
    /// Each part is percent-encoded; a socket's folder stands in the query.
    fn url(&self) -> String {
        let mut url = "postgres://".to_owned();
        if let Some(user) = &self.user {
            url += &encoded(user);
            url.push('@');
        }
        let socket = self.host.as_ref().filter(|host| host.starts_with(['/', '@']));
        if let Some(host) = self.host.as_ref().filter(|_| socket.is_none()) {
            let bare = host.contains(':') && !host.starts_with('[');
            let (open, close) = if bare { ("[", "]") } else { ("", "") };
            url.extend([open, host, close]);
        }
        if let Some(port) = &self.port {
            url.push(':');
            url += port;
        }
        url.push('/');
        url += &encoded(self.database.as_deref().unwrap_or_default());
        if let Some(socket) = socket {
            url += "?host=";
            url += &encoded(socket);
        }
        url
    }
}

fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            // Writing to a string cannot fail.
            _ => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    encoded
}

fn without_password(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (place, query) = rest.split_once('?').map_or((rest, ""), |(place, query)| (place, query));
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let place = match authority.rsplit_once('@') {
        Some((user, hosts)) => format!("{}@{hosts}", user.split_once(':').map_or(user, |(user, _)| user)),
        None => authority.to_owned(),
    };
    let secret = |pair: &&str| pair.to_ascii_lowercase().contains("pass");
    let query: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !secret(pair)).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    let url = format!("{scheme}://{place}{path}{mark}{}", query.join("&"));
    // Whatever else counts as a secret elsewhere keeps the URL out.
    (without_secrets(&url) == url).then_some(url)
}

/// Words between blanks, with quotes and backslashes undone; `None` where a quote is not closed.
pub(crate) fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (_, '\\') => word.get_or_insert_default().push(chars.next()?),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// `user=bench host=10.9.8.7 dbname=data password=secret`; blanks around `=` are not in use.
fn keywords(words: &[String]) -> Option<Place> {
    let mut place = Place::default();
    for word in words {
        let (key, value) = word.split_once('=')?;
        let value = Some(value.to_owned()).filter(|value| !value.is_empty());
        match key {
            "user" => place.user = value,
            "host" | "hostaddr" => place.host = place.host.or(value),
            "port" => place.port = value,
            "dbname" => place.database = value,
            _ => {}
        }
    }
    Some(place)
}

/// `-h 10.9.8.7 -U postgres`, `--host=10.9.8.7`, and the name of a database or of a user without an option.
fn options(words: &[String]) -> Option<Place> {
    let mut place = Place::default();
    let mut words = words.iter();
    let mut bare = Vec::new();
    while let Some(word) = words.next() {
        let long = word.strip_prefix("--").map(|long| match long.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (long.to_owned(), None),
        });
        let (name, value) = match long {
            Some(long) => long,
            None if word.starts_with('-') => {
                let mut letters = word.chars().skip(1);
                let name = letters.next()?.to_string();
                (name, Some(letters.collect::<String>()).filter(|value| !value.is_empty()))
            }
            None => {
                bare.push(word.clone());
                continue;
            }
        };
        let into = match name.as_str() {
            "h" | "host" => &mut place.host,
            "p" | "port" => &mut place.port,
            "U" | "username" => &mut place.user,
            "d" | "dbname" => &mut place.database,
            // Flags without a value.
            _ => continue,
        };
        *into = Some(value.or_else(|| words.next().cloned())?);
    }
    let mut bare = bare.into_iter();
    place.database = place.database.or_else(|| bare.next());
    place.user = place.user.or_else(|| bare.next());
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_becomes_a_url_without_its_password() {
        for (text, url) in [
            ("-h 10.9.8.7 -U postgres", "postgres://postgres@10.9.8.7/pgio"),
            ("--host=db --port 5433 --username='a b' sales", "postgres://a%20b@db:5433/sales"),
            ("-hdb -p5433 -dsales -Xq", "postgres://db:5433/sales"),
            ("user=bench host=10.9.8.7 dbname=data password=secret", "postgres://bench@10.9.8.7/data"),
            ("user=bench password='a secret' host=::1", "postgres://bench@[::1]/pgio"),
            ("host=/var/run/postgresql", "postgres:///pgio?host=%2Fvar%2Frun%2Fpostgresql"),
            ("pg10", "postgres:///pg10"),
            ("", "postgres:///pgio"),
            (
                "postgresql://bench:secret@a:5432,b/data?sslmode=require&password=secret",
                "postgresql://bench@a:5432,b/data?sslmode=require",
            ),
            ("postgres://db/data", "postgres://db/data"),
        ] {
            assert_eq!(target(text, Some("pgio")).as_deref(), Some(url), "{text}");
        }
        for text in ["a b", "host='open", "-h"] {
            assert_eq!(target(text, None), None, "{text}");
        }
    }
}
