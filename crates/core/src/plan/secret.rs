//! Secrets in texts: URLs, connection strings, commands and headers are stored and shown without them.

pub const MASK: &str = "…";

/// Names of secret values, by their end: `PGPASSWORD`, `sslpassword`, `SYSDBA_PASSWD`, `--api-token`.
const NAMES: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "token",
    "credential",
    "credentials",
    "apikey",
    "api_key",
    "access_key",
];

/// `text` without probable secrets: the password of a URL, values of `password=` and similar names, the word after
/// `--password`, and `Authorization:` headers. When in doubt, text is masked.
pub fn without_secrets(text: &str) -> String {
    let text = urls(text);
    let text = headers(&text);
    without_named(&text)
}

/// Takes the password out of `scheme://user:password@host`; of other schemes than PostgreSQL's, where a lone word in
/// front of the host may be a token, all of it.
fn urls(text: &str) -> String {
    let mut rest = text;
    let mut clean = String::with_capacity(text.len());
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || "'\"`<>|".contains(c)).unwrap_or(after.len());
        let (url, following) = after.split_at(end);
        // A password may contain an @ that is not encoded.
        let (user, host) = url.rsplit_once('@').map_or((None, url), |(user, host)| (Some(user), host));
        if let Some(user) = user {
            match user.split_once(':') {
                // Before an @ of its own it may be a token.
                Some((name, _)) if name.contains('@') => clean.push_str(MASK),
                Some((name, _)) => clean.extend([name, ":", MASK]),
                None if before.ends_with("postgres://") || before.ends_with("postgresql://") => clean.push_str(user),
                None => clean.push_str(MASK),
            }
            clean.push('@');
        }
        clean.push_str(host);
        rest = following;
    }
    clean.push_str(rest);
    clean
}

/// Masks the text after `Authorization:`, to the end of its line or quotes.
fn headers(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let Some(at) = lower.find("authorization:") else { return text.to_owned() };
    let from = at + "authorization:".len();
    let end = text[from..].find(['\'', '"', '\n']).map_or(text.len(), |end| from + end);
    format!("{} {MASK}{}", &text[..from], headers(&text[end..]))
}

/// `text` without the values of names such as `password=`.
pub fn without_named(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '=' || c.is_whitespace()) {
        let (before, after) = rest.split_at(at);
        let name = before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c))).next().unwrap_or_default();
        clean.push_str(before);
        // `password = x` as well as `password=x` and `--password x`.
        let gap = after.len() - after.trim_start_matches([' ', '\t']).len();
        let assigned = after[gap..].starts_with('=');
        let flag = name.starts_with("--") && gap > 0 && !after[gap..].starts_with('-');
        if !(is_secret(name) && (assigned || flag)) {
            let first = after.chars().next().map_or(0, char::len_utf8);
            clean.push_str(&after[..first]);
            rest = &after[first..];
            continue;
        }
        let sign = gap + usize::from(assigned);
        let value = after[sign..].trim_start_matches([' ', '\t']);
        clean.push_str(&after[..after.len() - value.len()]);
        let end = end_of_value(value);
        clean.push_str(if end == 0 { "" } else { MASK });
        rest = &value[end..];
    }
    clean.push_str(rest);
    clean
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    NAMES.iter().any(|end| name.ends_with(end))
}

/// End of a value: before a character that cannot be part of a word, or after the closing quote.
fn end_of_value(value: &str) -> usize {
    let quoted = match value.chars().next() {
        Some(quote @ ('\'' | '"')) => value[1..].find(quote).map_or(value.len(), |end| end + 2),
        _ => 0,
    };
    let rest = &value[quoted..];
    quoted + rest.find(|c: char| c.is_whitespace() || "'\"&;|)`,".contains(c)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_are_removed_everywhere() {
        for text in [
            "postgres://bench:s3cr@et@db.example/bench",
            "postgres://bench@db/bench?sslpassword=s3cret&application_name=x",
            "http://bench:s3cret@db:9100/metrics#sda",
            "https://s3cret@db:9100/metrics",
            "https://s3cret@db/login?to=http://other@host/",
            "://s3cret@pass=://@",
            "host=db user=bench password='s3cret and more' dbname=bench",
            "password = s3cret",
            "PGPASSWORD=s3cret psql -c 'select 1'",
            "export SYSDBA_PASSWD=\"s3cret\"",
            "curl -H 'Authorization: Bearer s3cret' http://hook.example/",
            "notify --api-token s3cret --to dba",
            "notify --password=s3cret;true",
            "notify --password=\"\"s3cret",
        ] {
            let clean = without_secrets(text);
            assert!(
                !clean.contains("s3cret") && !clean.contains("and more") && clean.contains(MASK),
                "{text}: {clean}"
            );
            assert_eq!(without_secrets(&clean), clean, "{text}");
        }
    }

    #[test]
    fn texts_without_secrets_are_unchanged() {
        for text in [
            "postgres://bench@db.example:5433/bench?sslmode=require",
            "http://db:9100#nvme0n1",
            "password_encryption=scram-sha-256",
            "the server wants a password: give it by PGPASSWORD or ~/.pgpass",
            "work_mem=8MB,debug_io_direct=data,wal",
            "update_pct = 20  # passes",
        ] {
            assert_eq!(without_secrets(text), text);
        }
    }

    proptest! {
        #[test]
        fn taking_out_twice_is_taking_out_once(text in "(?s)(pass|password|=|://|@|:|'|\"| |--|[a-z…é]){0,12}") {
            let once = without_secrets(&text);
            prop_assert_eq!(without_secrets(&once), once);
        }
    }
}
