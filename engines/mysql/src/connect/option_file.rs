//! Option files, read as the mysql client reads them: groups in brackets, `name=value`, quotes and escapes, the later of
//! two values in force. Nothing that would load or run something is taken.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use mindful_core::plan::rights::Rights;
use mindful_core::plan::to_utf8;

const GROUPS: [&str; 6] = ["client", "client-server", "client-mariadb", "mysql", "mariadb", "mariadb-client"];

const USED: [&str; 13] = [
    "connect-timeout",
    "database",
    "host",
    "password",
    "port",
    "socket",
    "ssl",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-verify-server-cert",
    "user",
];

const HOOKS: [&str; 9] = [
    "default-auth",
    "execute",
    "init-command",
    "init-command-add",
    "local-infile",
    "pager",
    "plugin",
    "plugin-dir",
    "tee",
];

/// Options that change how the client connects and that have no meaning here.
const NOT_READ: [&str; 14] = [
    "bind-address",
    "compress",
    "login-path",
    "protocol",
    "server-public-key-path",
    "ssl-capath",
    "ssl-cipher",
    "ssl-crl",
    "ssl-crlpath",
    "ssl-fips-mode",
    "tls-ciphersuites",
    "tls-fp",
    "tls-fplist",
    "tls-version",
];

const LONGEST: u64 = 1 << 20;
/// Files below files that the client reads.
const DEEPEST: u32 = 10;

/// Contents of the files. A value may be a secret, so there is no `Debug`.
#[derive(Default, Clone)]
pub(super) struct Said {
    pub values: BTreeMap<String, String>,
    /// Ignored entries with the reason, for the user.
    pub notes: Vec<String>,
    /// Suffix of additional groups.
    suffix: Option<String>,
}

/// Reads `files` in their order; missing ones are skipped. With a `suffix` the groups that end in it are read as well.
pub(super) fn read(files: &[PathBuf], suffix: Option<&str>) -> Said {
    let mut said = Said { suffix: suffix.map(str::to_ascii_lowercase), ..Said::default() };
    for file in files {
        said.file(file, 0);
    }
    said
}

impl Said {
    fn add_note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn is_read(&self, group: &str) -> bool {
        let plain = self.suffix.as_deref().and_then(|suffix| group.strip_suffix(suffix));
        GROUPS.contains(&group) || plain.is_some_and(|plain| GROUPS.contains(&plain))
    }

    fn file(&mut self, path: &Path, depth: u32) {
        match read_text(path) {
            Ok(None) => {}
            Ok(Some((text, is_private))) => self.lines(path, &text, is_private, depth),
            Err(why) => self.add_note(format!("the option file {} is not used: {why}", path.display())),
        }
    }

    fn lines(&mut self, path: &Path, text: &str, is_private: bool, depth: u32) {
        let mut group = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[') {
                group = name.split(']').next().unwrap_or("").trim().to_ascii_lowercase();
            } else if line.starts_with("!include") && depth >= DEEPEST {
                let what = format!("`!include` in {} is not followed", path.display());
                self.add_note(format!("{what}: includes are followed {DEEPEST} levels deep, as in the client"));
            } else if let Some(included) = line.strip_prefix("!includedir") {
                for file in files_of(Path::new(included.trim())) {
                    self.file(&file, depth + 1);
                }
            } else if let Some(included) = line.strip_prefix("!include") {
                self.file(Path::new(included.trim()), depth + 1);
            } else if self.is_read(&group) && !line.is_empty() && !line.starts_with(['#', ';', '!']) {
                self.option(path, line, is_private);
            }
        }
    }

    fn option(&mut self, path: &Path, line: &str, is_private: bool) {
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name, value_of(value)),
            None => (without_comment(line), String::new()),
        };
        let name = name.trim().to_ascii_lowercase().replace('_', "-");
        let name = name.strip_prefix("loose-").unwrap_or(&name).to_owned();
        let is = |hook: &str| name.strip_prefix(hook).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        if HOOKS.into_iter().any(is) {
            self.add_note(format!(
                "{name} in {} is ignored: mindful does not run or load foreign code",
                path.display()
            ));
        } else if NOT_READ.contains(&name.as_str()) {
            let next = if name == "ssl-capath" { ": name a file of CAs by ssl-ca" } else { "" };
            self.add_note(format!("{name} in {} is ignored: mindful has no such option{next}", path.display()));
        } else if name == "password" && !is_private {
            let why = "others can read it; run `chmod 600` on it";
            self.add_note(format!("the password in {} is not used: {why}", path.display()));
        } else if name == "skip-ssl" {
            self.values.insert("ssl".to_owned(), "0".to_owned());
        } else if USED.contains(&name.as_str()) {
            self.values.insert(name, value);
        }
    }
}

/// The text of a file and whether only its owner can read it; `None` if it does not exist.
fn read_text(path: &Path) -> Result<Option<(String, bool)>, String> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !metadata.is_file() {
        return Err("it is not a plain file".to_owned());
    }
    let rights = Rights::from_metadata(&metadata);
    if rights.everybody_writes() || !rights.belongs_to(rustix::process::geteuid().as_raw()) {
        return Err("others may write it".to_owned());
    }
    let by_others = metadata.mode() & 0o077;
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(Some((String::from_utf8_lossy(&to_utf8(bytes)).into_owned(), by_others == 0))),
        // A file of the server's administrators, which this user need not read.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Files of a folder that are taken as option files, in the order of their names.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "cnf"));
    files.sort();
    files
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or("").trim()
}

/// A value: the text in quotes, else the text up to a comment; with its escapes resolved.
fn value_of(text: &str) -> String {
    let text = text.trim();
    let quote = text.chars().next().filter(|c| ['"', '\''].contains(c));
    let inner = if quote.is_some() { &text[1..] } else { without_comment(text) };
    let mut value = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('r') => value.push('\r'),
                Some('b') => value.push('\u{8}'),
                Some('s') => value.push(' '),
                Some(other @ ('\\' | '"' | '\'')) => value.push(other),
                Some(other) => value.extend(['\\', other]),
                None => value.push('\\'),
            },
            c if Some(c) == quote => break,
            c => value.push(c),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(folder: &Path, name: &str, mode: u32, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn value<'a>(said: &'a Said, name: &str) -> Option<&'a str> {
        said.values.get(name).map(String::as_str)
    }

    /// A file of this mode with this text, and with a suffix of groups.
    fn said(mode: u32, text: &str, suffix: Option<&str>) -> Said {
        let folder = tempfile::tempdir().unwrap();
        read(&[file(folder.path(), "my.cnf", mode, text)], suffix)
    }

    #[test]
    fn groups_quotes_escapes_and_comments_are_those_of_the_client() {
        let text = "\u{feff}[client]\nuser = \"me # you\" # not me\npassword='a\\sb\"c'\nhost=db # there\n\
                    ssl_mode=REQUIRED\nloose-port=3307\n# all\n[mysqld]\nport=1\n[mysql]\ndatabase=bench\n\
                    [mysqldump]\nuser=other\n";
        let said = said(0o600, text, None);
        for (name, wanted) in [
            ("user", "me # you"),
            ("password", "a b\"c"),
            ("host", "db"),
            ("ssl-mode", "REQUIRED"),
            ("port", "3307"),
            ("database", "bench"),
        ] {
            assert_eq!(value(&said, name), Some(wanted), "{name}");
        }
        assert_eq!(said.notes, [] as [String; 0]);
    }

    #[test]
    fn files_are_read_as_deep_as_the_client_does() {
        let folder = tempfile::tempdir().unwrap();
        for depth in 0..12 {
            let next = folder.path().join(format!("{}.cnf", depth + 1));
            let text = format!("[client]\nport={depth}\n!include {}\n", next.display());
            file(folder.path(), &format!("{depth}.cnf"), 0o600, &text);
        }
        let said = read(&[folder.path().join("0.cnf")], None);
        assert_eq!(value(&said, "port"), Some("10"));
        assert!(said.notes.len() == 1 && said.notes[0].contains("10.cnf is not followed"), "{:?}", said.notes);
    }

    #[test]
    fn groups_of_a_suffix_are_read_with_the_plain_ones() {
        let text = "[client_a]\nuser=a\n[client]\nhost=plain\n[client_b]\nuser=b\n[mysqld_a]\nport=9\n";
        for (suffix, user) in [(Some("_a"), Some("a")), (Some("_B"), Some("b")), (None, None)] {
            let said = said(0o600, text, suffix);
            let found = ["user", "host", "port"].map(|name| value(&said, name));
            assert_eq!(found, [user, Some("plain"), None], "{suffix:?}");
        }
    }

    #[test]
    fn options_that_are_not_taken_have_a_note() {
        let text = "[client]\nssl_capath=/etc/ssl/certs\ntls-version=TLSv1.3\nprotocol=tcp\ndefault-character-set=utf8\n\
                    init-command=DROP DATABASE b\nplugin_dir=/tmp/x\ndefault-auth=evil\nloose-init-command=x\n\
                    plugin-load=x.so\n[mysql]\npager=sh\nuser=me\n";
        let said = said(0o600, text, None);
        assert_eq!(said.values.keys().collect::<Vec<_>>(), ["user"]);
        let names = [
            "ssl-capath",
            "tls-version",
            "protocol",
            "init-command",
            "plugin-dir",
            "default-auth",
            "plugin-load",
            "pager",
        ];
        assert_eq!(said.notes.len(), names.len(), "{:?}", said.notes);
        for (note, name) in said.notes.iter().zip(names) {
            assert!(note.starts_with(name) && note.contains("is ignored") && !note.contains("DROP"), "{note}");
        }
        assert!(said.notes[0].contains("by ssl-ca"), "{:?}", said.notes);
    }

    #[test]
    fn a_password_that_others_may_read_is_not_used() {
        let text = "[client]\npassword=secret\nuser=me\n";
        let readable = said(0o644, text, None);
        assert_eq!((value(&readable, "user"), value(&readable, "password")), (Some("me"), None));
        assert!(
            readable.notes[0].contains("chmod 600") && !readable.notes[0].contains("secret"),
            "{:?}",
            readable.notes
        );
        let open = said(0o666, text, None);
        assert!(open.values.is_empty() && open.notes[0].contains("others may write it"), "{:?}", open.notes);
    }

    #[test]
    fn files_may_name_others_and_no_circle_catches_the_reader() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("conf.d");
        fs::create_dir(&below).unwrap();
        file(&below, "b.cnf", 0o600, "[client]\nuser=b\n");
        file(&below, "a.cnf", 0o600, "[client]\nuser=a\n");
        file(&below, "c.txt", 0o600, "[client]\nuser=c\n");
        let top = folder.path().join("my.cnf");
        let text = format!("!includedir {}\n!include {}\n[client]\nport=5\n", below.display(), top.display());
        let said = read(&[file(folder.path(), "my.cnf", 0o600, &text)], None);
        assert_eq!((value(&said, "user"), value(&said, "port")), (Some("b"), Some("5")));
        assert!(said.notes.len() == 1 && said.notes[0].contains("is not followed"), "{:?}", said.notes);
        assert!(read(&[folder.path().join("none"), folder.path().to_owned()], None).notes[0].contains("plain file"));
    }
}
