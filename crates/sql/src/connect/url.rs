//! Parts of a connection URL: percent-decoding, host and port, and a URL without its secrets. An error never quotes a part,
//! because any part may be a piece of a password with a stray `@`.

use mindful_core::contract::error::one_line;
use mindful_core::plan::secret::without_named;
use mindful_core::{Error, Result};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The remedy for a part that was not encoded.
pub const ESCAPES: &str = "write `@` `:` `/` `?` `%` inside a name or password as %40 %3A %2F %3F %25";

const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The bytes of percent-encoded `text` . `part` names it in an error.
pub fn decode(text: &str, part: &str) -> Result<Vec<u8>> {
    // The library leaves a `%` without two digits as it is; here it is a mistake.
    let broken = text.match_indices('%').any(|(at, _)| {
        let digits = text.as_bytes().get(at + 1..at + 3);
        !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    });
    if broken {
        return Err(broken_encoding(part));
    }
    let bytes: Vec<u8> = percent_decode_str(text).collect();
    if bytes.contains(&0) {
        return Err(Error::plan(format!("the {part} in the target URL contains a zero byte"), "leave it out"));
    }
    Ok(bytes)
}

pub fn decode_text(text: &str, part: &str) -> Result<String> {
    String::from_utf8(decode(text, part)?).map_err(|_| broken_encoding(part))
}

fn broken_encoding(part: &str) -> Error {
    Error::plan(format!("the {part} in the target URL has a broken percent-encoding"), ESCAPES)
}

pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// `text` up to the first `at`, and the text after it.
pub fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// A parameter of a URL as key and value; a key has letters, digits, `_` and the character `also`.
pub fn key_and_value(pair: &str, also: char) -> Result<(&str, &str)> {
    let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == also;
    pair.split_once('=').filter(|(key, value)| !value.contains('=') && key.chars().all(is_key)).ok_or_else(|| {
        let what = "a parameter of the target URL is not `key=value`";
        Error::plan(what, "separate parameters by `&`; write `=` inside a value as %3D")
    })
}

/// Host and port of `text`, both as written, and both may be empty. `name` is the host in an error, such as `host 2`;
/// `port` is the default port of the database, for an example.
pub fn host_and_port<'a>(text: &'a str, name: &str, port: u16) -> Result<(&'a str, &'a str)> {
    let bad = |what: &str, next: &str| Error::plan(format!("{name} of the target URL {what}"), next);
    let (host, given) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, after) =
                rest.split_once(']').ok_or_else(|| bad("has no closing bracket", "write an IPv6 address as [::1]"))?;
            match after.strip_prefix(':') {
                None if !after.is_empty() => {
                    return Err(bad("continues after its bracket", &format!("write it as [::1]:{port}")));
                }
                given => (address, given.unwrap_or_default()),
            }
        }
        None => text.split_once(':').unwrap_or((text, "")),
    };
    if given.contains(':') {
        return Err(bad("has two colons", &format!("write an IPv6 address in brackets, such as [::1]:{port}")));
    }
    if !given.is_empty() && given.parse::<u16>().is_err() {
        return Err(bad("has a port that is not a number up to 65535", ESCAPES));
    }
    Ok((host, given))
}

/// A URL for display and storage: on one line, without probable named secrets. `known` is the URL without its password;
/// if it cannot be split, only parts that are certainly not secret remain.
pub fn redacted(url: &str, scheme: &str, known: Result<String>) -> String {
    let remains = |_| {
        let end = url.rsplit_once('@').map_or("", |(_, end)| cut(end, '?').0);
        format!("{scheme}…{end}")
    };
    one_line(&without_named(&known.unwrap_or_else(remains)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_text_is_decoded_again() {
        let odd = "p@ss:/%?#ä~-._";
        assert_eq!(decode_text(&encode(odd), "password").unwrap(), odd);
        assert_eq!(encode("a~-._b/"), "a~-._b%2F");
    }

    #[test]
    fn broken_escapes_and_zero_bytes_are_refused() {
        for broken in ["%", "%4", "a%4g", "%zz", "%ä1", "%ff"] {
            assert!(
                decode_text(broken, "user").unwrap_err().to_string().contains("broken percent-encoding"),
                "{broken}"
            );
        }
        assert_eq!(decode("%ff", "user").unwrap(), [0xff]);
        assert!(decode("a%00", "user").unwrap_err().to_string().contains("zero byte"));
    }

    #[test]
    fn a_host_with_a_port_is_split_and_an_odd_one_refused() {
        for (text, parts) in
            [("db", ("db", "")), ("db:1", ("db", "1")), ("[::1]:2", ("::1", "2")), ("[::1]", ("::1", ""))]
        {
            assert_eq!(host_and_port(text, "host 1", 5432).unwrap(), parts);
        }
        for (text, hint) in [
            ("[::1", "closing bracket"),
            ("[::1]2", "[::1]:5432"),
            ("::1", "two colons"),
            ("db:x", "65535"),
            ("db:70000", "65535"),
        ] {
            let error = host_and_port(text, "host 1", 5432).unwrap_err().to_string();
            assert!(error.starts_with("host 1 of the target URL") && error.contains(hint), "{error}");
        }
    }
}
