//! The connection string of `psql`: a URL, keywords and values, options, or the name of a database.
//!
//! pgio passes its CONNECT_STRING to psql unchanged, so any of the four is in use. All become one URL without its
//! password: secrets are not copied into plans and runs.

use mindful_core::plan::secret::without_secrets;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Place {
    user: Option<String>,
    /// Several are separated by commas, as are their ports.
    host: Option<String>,
    port: Option<String>,
    database: Option<String>,
    /// Settings of the connection that mindful supports too.
    settings: Vec<(String, String)>,
}

/// Keywords that a URL takes as its query.
const SETTINGS: [&str; 4] = ["sslmode", "sslrootcert", "target_session_attrs", "load_balance_hosts"];
/// Options of psql with a value that does not belong to the place of the server.
const WITH_VALUE: &str =
    "v P F R T o L f c variable set pset field-separator record-separator table-attr output file command";

/// The URL of the target in `text`, without a password; `database` is the default database. `None` for unsupported
/// text.
pub(crate) fn target(text: &str, database: Option<&str>) -> Option<String> {
    let text = text.trim();
    if is_url(text) {
        return without_password(text);
    }
    let place = if is_keywords(text) { Place::of_keywords(&keywords(text)?) } else { options(&words(text)?)? };
    // A URL or keywords may replace the name of the database.
    if let Some(nested) = place.database.as_deref().filter(|name| is_url(name) || is_keywords(name)) {
        return target(nested, database);
    }
    let place = Place { database: place.database.or_else(|| database.map(str::to_owned)), ..place };
    Some(place.url())
}

pub(crate) fn is_url(text: &str) -> bool {
    ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme))
}

/// Whether `text` begins with a keyword and its `=`.
fn is_keywords(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_lowercase() || c == '_');
    rest.len() < text.len() && rest.trim_start().starts_with('=')
}

impl Place {
    fn of_keywords(pairs: &[(String, String)]) -> Self {
        let mut place = Self::default();
        for (key, value) in pairs {
            let value = Some(value.clone()).filter(|value| !value.is_empty());
            match key.as_str() {
                "user" => place.user = value,
                "host" => place.host = value.or(place.host),
                "hostaddr" => place.host = place.host.or(value),
                "port" => place.port = value,
                "dbname" => place.database = value,
                key if SETTINGS.contains(&key) => {
                    place.settings.extend(value.map(|value| (key.to_owned(), value)));
                }
                _ => {}
            }
        }
        place
    }

    /// Each part is percent-encoded; the folder of a socket is in the query.
    fn url(&self) -> String {
        let user = self.user.as_deref().map_or_else(String::new, |user| encoded(user) + "@");
        let database = encoded(self.database.as_deref().unwrap_or_default());
        let socket = self.host.as_ref().filter(|host| host.starts_with(['/', '@'])).map(|socket| ("host", socket));
        let settings = self.settings.iter().map(|(key, value)| (key.as_str(), value));
        let pair = |(key, value): (&str, &String)| format!("{key}={}", encoded(value));
        let query: Vec<_> = socket.into_iter().chain(settings).map(pair).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("postgres://{user}{}/{database}{mark}{}", self.hosts(socket.is_some()), query.join("&"))
    }

    /// Each host with its port: the one of its place, or the only one.
    fn hosts(&self, is_socket: bool) -> String {
        let ports: Vec<&str> = self.port.iter().flat_map(|port| port.split(',')).map(str::trim).collect();
        let hosts = self.host.as_deref().filter(|_| !is_socket).unwrap_or_default();
        let host = |(place, host): (usize, &str)| {
            let host = host.trim();
            let bare = host.contains(':') && !host.starts_with('[');
            let host = if bare { format!("[{host}]") } else { host.to_owned() };
            let port = if ports.len() == 1 { ports.first() } else { ports.get(place) };
            host + &port.filter(|port| !port.is_empty()).map_or_else(String::new, |port| format!(":{port}"))
        };
        hosts.split(',').enumerate().map(host).collect::<Vec<_>>().join(",")
    }
}

fn encoded(text: &str) -> String {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, ENCODED).to_string()
}

fn without_password(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (place, query) = rest.split_once('?').map_or((rest, ""), |(place, query)| (place, query));
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    // A password with a character that was not encoded may end anywhere.
    if rest.matches('@').count() != authority.matches('@').count().min(1) {
        return None;
    }
    let place = match authority.rsplit_once('@') {
        Some((user, hosts)) => format!("{}@{hosts}", user.split_once(':').map_or(user, |(user, _)| user)),
        None => authority.to_owned(),
    };
    let secret = |pair: &&str| pair.to_ascii_lowercase().contains("pass");
    let query: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !secret(pair)).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    let url = format!("{scheme}://{place}{path}{mark}{}", query.join("&"));
    // A URL with any other secret is not used.
    (without_secrets(&url) == url).then_some(url)
}

/// Words between blanks, with quotes and backslashes resolved; `None` if a quote is not closed.
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

/// Parses `user=bench host = 10.9.8.7 dbname='a b' password=secret` as libpq does; `None` if a value has no keyword.
pub(crate) fn keywords(text: &str) -> Option<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=')?;
        let key = key.trim_end();
        if key.is_empty() || key.contains(char::is_whitespace) {
            return None;
        }
        let (value, after) = value(after.trim_start())?;
        pairs.push((key.to_owned(), value));
        rest = after.trim_start();
    }
    Some(pairs)
}

/// A value with its quotes and backslashes resolved, and the rest; `None` if a quote is not closed.
fn value(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|first| ['\'', '"'].contains(first));
    let mut value = String::new();
    let mut chars = text.char_indices().skip(usize::from(quote.is_some()));
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => value.push(chars.next()?.1),
            c if Some(c) == quote => return Some((value, &text[at + 1..])),
            c if quote.is_none() && c.is_whitespace() => return Some((value, &text[at..])),
            c => value.push(c),
        }
    }
    quote.is_none().then_some((value, ""))
}

/// `-h 10.9.8.7 -U postgres`, `--host=10.9.8.7`, and the name of a database or of a user without an option.
fn options(words: &[String]) -> Option<Place> {
    let mut place = Place::default();
    let (mut words, mut bare) = (words.iter(), Vec::new());
    while let Some(word) = words.next() {
        let (name, value) = if let Some(long) = word.strip_prefix("--") {
            long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)))
        } else if let Some(short) = word.strip_prefix('-') {
            let (name, value) = short.split_at(short.chars().next()?.len_utf8());
            (name, Some(value).filter(|value| !value.is_empty()))
        } else {
            bare.push(word.clone());
            continue;
        };
        let into = match name {
            "h" | "host" => &mut place.host,
            "p" | "port" => &mut place.port,
            "U" | "username" => &mut place.user,
            "d" | "dbname" => &mut place.database,
            other => {
                if WITH_VALUE.split(' ').any(|name| name == other) && value.is_none() {
                    words.next();
                }
                continue;
            }
        };
        *into = Some(value.map(str::to_owned).or_else(|| words.next().cloned())?);
    }
    if bare.len() > 2 {
        return None;
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
            ("user = 'a b'  host = db password = 'it\\'s secret' dbname = data", "postgres://a%20b@db/data"),
            (
                "host=a,b port=5432,5433 user=bench sslmode=require",
                "postgres://bench@a:5432,b:5433/pgio?sslmode=require",
            ),
            ("host=a,b port=6432", "postgres://a:6432,b:6432/pgio"),
            (
                "host=/tmp port=5433 target_session_attrs=primary",
                "postgres://:5433/pgio?host=%2Ftmp&target_session_attrs=primary",
            ),
            ("-d 'host=db user=bench password=secret' -q", "postgres://bench@db/pgio"),
            ("--dbname=postgresql://bench:secret@db/data", "postgresql://bench@db/data"),
            ("sales -h db -v ON_ERROR_STOP=1 -U bench", "postgres://bench@db/sales"),
            ("sales bench", "postgres://bench@/sales"),
            ("postgres://bench:p%40ss%2Fw@db:5433/data", "postgres://bench@db:5433/data"),
            ("user=bench password='p@ss/w?rd#:%' host=db", "postgres://bench@db/pgio"),
            ("host=db password=se\"cr\\'et user=bench", "postgres://bench@db/pgio"),
        ] {
            assert_eq!(target(text, Some("pgio")).as_deref(), Some(url), "{text}");
        }
        let open = ["bench:p@ss@db/data", "bench:pa/ss@db/data", "bench:pa?ss@db/data", "bench:p@ss/w?rd@db/data"];
        for text in open.map(|rest| format!("postgres://{rest}")) {
            assert_eq!(target(&text, None), None, "a password that was not encoded may end anywhere: {text}");
        }
        for text in ["a b c", "host='open", "-h", "host=a b", "host=a =b"] {
            assert_eq!(target(text, None), None, "{text}");
        }
    }
}
