//! Password files: lines of `hostname:port:database:username:password`, where `*` matches anything and a backslash
//! takes the next character as it is. The first line that matches decides.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use mindful_core::plan::to_utf8;
use mindful_sql::connect::read_bounded;

pub(super) struct Wanted<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) dbname: &'a str,
    pub(super) user: &'a str,
}

/// The text of a password file, or why it is not used. A file that is not there is empty.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let unused = |why: &str| format!("the password file {} is not used: {why}", path.display());
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unused(&error.to_string())),
    };
    if !metadata.is_file() {
        return Err(unused("it is not a plain file"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(unused("others can read it; run `chmod 600` on it"));
    }
    read_bounded(path).map(to_utf8).map_err(|error| unused(&error.to_string()))
}

pub(super) fn find(text: &[u8], wanted: &Wanted<'_>) -> Option<Vec<u8>> {
    let port = wanted.port.to_string();
    let fields = [wanted.host, &port, wanted.dbname, wanted.user];
    text.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"#")).find_map(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let rest = fields.iter().try_fold(line, |rest, field| matching(rest, field.as_bytes()))?;
        let password = unescape(rest);
        (!password.is_empty()).then_some(password)
    })
}

/// The rest of `line` after its first field and colon, if that field matches `wanted`.
fn matching<'a>(line: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    if let Some(rest) = line.strip_prefix(b"*:") {
        return Some(rest);
    }
    let mut escaped = false;
    let end = line.iter().position(|&byte| {
        let ends = byte == b':' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    (unescape(&line[..end]) == wanted).then_some(&line[end + 1..])
}

fn unescape(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.iter().copied();
    let mut plain = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        plain.extend(if byte == b'\\' { bytes.next() } else { Some(byte) });
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WANTED: Wanted<'_> = Wanted { host: "db", port: 5432, dbname: "d", user: "u" };

    #[test]
    fn the_first_line_that_matches_decides() {
        for (text, password) in [
            ("db:5432:d:u:one\ndb:5432:d:u:two\n", Some("one")),
            ("other:*:*:*:one\n*:5433:*:*:two\n*:*:x:*:three\n*:*:*:y:four\n*:*:*:*:five", Some("five")),
            ("# db:5432:d:u:no\n\nnonsense\n::::\ndb:5432:d:u\n", None),
            ("*:*:*:*:a:b\\:c\\\\ \r\nrest", Some("a:b:c\\ ")),
            ("\\*:*:*:*:a host called star\n", None),
        ] {
            assert_eq!(find(text.as_bytes(), &WANTED).as_deref(), password.map(str::as_bytes), "{text}");
        }
    }

    proptest! {
        #[test]
        fn escaped_fields_match_themselves(host in "[^\r\n\0]{1,9}", user in "[^\r\n\0]{1,9}", password in "[^\r\n\0]{1,9}") {
            let escape = |text: &str| text.replace('\\', "\\\\").replace(':', "\\:").replace('*', "\\*");
            prop_assume!(!host.starts_with('#'));
            let line = format!("{}:*:*:{}:{}", escape(&host), escape(&user), escape(&password));
            let wanted = Wanted { host: &host, user: &user, ..WANTED };
            prop_assert_eq!(find(line.as_bytes(), &wanted), Some(password.into_bytes()));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = find(&bytes, &WANTED);
        }
    }
}
