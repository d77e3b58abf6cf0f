//! Errors inside this engine, and how they are reported: one line with the next step.

use std::io;
use std::time::Duration;

use mindful_core::contract::error::one_line;
use mindful_core::{Error, ErrorKind};
use mindful_sql::connect::abort::not_ended;
use mindful_sql::connect::error_text::{Words, error_of_kind, quote};

pub(crate) const DENIED: u16 = 1045;

/// A failure of the server or the network, or our own refusal.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server's, with its number.
    Refused {
        code: u16,
        message: String,
    },
    Io(io::Error),
    /// Why the connection is abandoned.
    Lost(Error),
    /// An answer took longer than this; the server may still run the statement.
    NotEnded(Duration),
    Ours(Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

impl Failure {
    /// The error for other crates; `place` names the activity and its object, or the server, such as `bench@db1:3306`. Its
    /// kind is [`ErrorKind::Target`] if the target refuses, and [`ErrorKind::Run`] if running work was ended.
    pub(crate) fn at(self, place: &str) -> Error {
        let explained = match self {
            Self::Ours(error) => return error,
            Self::Refused { code, message } => explain_refusal(code, &message),
            Self::Io(error) => explain_io(&error),
            Self::Lost(error) => error,
            Self::NotEnded(limit) => not_ended(limit, "connect-timeout"),
        };
        explained.at(place)
    }

    pub(crate) fn code(&self) -> Option<u16> {
        if let Self::Refused { code, .. } = self { Some(*code) } else { None }
    }

    /// Whether the server refused because a privilege is missing: `ER_DBACCESS_DENIED_ERROR`, `ER_ACCESS_DENIED_ERROR`,
    /// `ER_TABLEACCESS_DENIED_ERROR`, `ER_COLUMNACCESS_DENIED_ERROR`, `ER_SPECIFIC_ACCESS_DENIED_ERROR`,
    /// `ER_PROCACCESS_DENIED_ERROR`, `ER_KILL_DENIED_ERROR`, `ER_BINLOG_CREATE_ROUTINE_NEED_SUPER`.
    pub(crate) fn lacks_right(&self) -> bool {
        self.code().is_some_and(|code| [1044, DENIED, 1142, 1143, 1227, 1370, 1095, 1419].contains(&code))
    }
}

/// Names as the client's parameters have them.
const WORDS: Words = Words {
    product: "MariaDB or MySQL",
    url: "mysql://user@host:3306/database",
    mode: "ssl-mode",
    off: "DISABLED",
    unverified: "REQUIRED",
    verify_ca: "VERIFY_CA",
    ca: "ssl-ca",
    certificate: "ssl-cert",
    key: "ssl-key",
    server_ca: "ssl_ca",
};

fn explain_refusal(code: u16, message: &str) -> Error {
    let (kind, next) = match code {
        1290 if !message.replace('_', "-").contains("read-only") => {
            (ErrorKind::Target, "check the option that it names in the server's settings")
        }
        code => advice(code),
    };
    error_of_kind(kind, quote(message, code), next)
}

const WITH_ROOM: &str = "free space where the server keeps its data, then run again";

/// By the numbers of MySQL's `mysqld_error.h` and MariaDB's own beyond 1900.
fn advice(code: u16) -> (ErrorKind, &'static str) {
    use ErrorKind::{Run, Target};
    match code {
        DENIED | 1698 => (Target, "give the right password in MYSQL_PWD or ~/.my.cnf, or another user in the URL"),
        1044 | 1142 | 1143 | 1227 | 1370 => (
            Target,
            "have it granted: GRANT ALL ON database.* TO the user; `mindful engines mysql --grants` has it all",
        ),
        1049 => (Target, "create it, or name another one: mysql://user@host/database"),
        1040 | 1203 | 1226 => {
            (Target, "pass fewer --sessions, or raise max_connections (or the user's limit) on the server")
        }
        1129 => (Target, "run FLUSH HOSTS on the server: it blocked this host after too many failed connections"),
        1130 => (Target, "CREATE USER name@this-host there, or connect from a host that it knows"),
        1251 | 1862 | 1820 => (Target, "set the user's password again: ALTER USER name IDENTIFIED BY …"),
        3159 => (Target, "the server accepts only encrypted connections: set ssl-mode=REQUIRED"),
        1290 | 1792 | 1836 => (Target, "name the primary: this server is read-only"),
        1419 => (Target, "SET GLOBAL log_bin_trust_function_creators = 1, or run with --loop client"),
        1053 | 1079 => (Run, "an administrator stopped the server; run again when it is back"),
        1317 | 1927 | 3024 | 1969 => {
            (Run, "another user, or a time limit, ended the statement or its connection; run again")
        }
        1021 | 1114 | 3 | 28 => (Run, WITH_ROOM),
        1037 | 1038 | 1041 => (Run, "give the server more memory, or pass fewer --sessions"),
        1153 => (Run, "raise max_allowed_packet on the server: 64M is enough"),
        1205 | 1213 => (Run, "others change the same rows; keep the dataset to one run at a time"),
        4031 => (Run, "let wait_timeout be longer than a step"),
        _ => (Run, "see the server's error log"),
    }
}

/// The error of a server that wants a password proved by another `plugin` than mindful's.
pub(crate) fn unsupported_login(plugin: &str) -> Error {
    const PLUGINS: &str = "let the user have a password by mysql_native_password or caching_sha2_password";
    if plugin == "mysql_clear_password" {
        return Error::target("the server asks for the password in clear text, which mindful never sends", PLUGINS);
    }
    let next = if plugin == "mysql_old_password" { "set the user's password again" } else { PLUGINS };
    let what = format!("the server requests an authentication method that is not supported ({})", one_line(plugin));
    Error::target(what, next)
}

/// The time limit of a login is over.
fn no_answer() -> Error {
    Error::target(
        "nothing answered in time",
        "check host, port, routes and firewalls on the way; connect-timeout=SECONDS waits longer",
    )
}

pub(crate) fn no_tls() -> Error {
    Error::target(
        "the server does not offer TLS",
        "set ssl_cert and ssl_key there, or set ssl-mode=DISABLED to connect without encryption",
    )
}

/// The error for a peer that is not a MariaDB or MySQL server; `said` is the reason.
pub(crate) fn no_mysql(said: &str) -> Error {
    WORDS.foreign(said)
}

fn explain_io(fault: &io::Error) -> Error {
    match fault.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(fault) => WORDS.explain_tls(fault),
        None if fault.kind() == io::ErrorKind::WouldBlock => no_answer(),
        None => WORDS.explain_io(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: u16, message: &str) -> Error {
        Failure::Refused { code, message: message.to_owned() }.at("me@db:3306")
    }

    #[test]
    fn each_refusal_names_fault_place_and_next_step() {
        for (code, kind, hint) in [
            (1045, ErrorKind::Target, "MYSQL_PWD"),
            (1044, ErrorKind::Target, "GRANT ALL ON"),
            (1049, ErrorKind::Target, "create it"),
            (1040, ErrorKind::Target, "--sessions"),
            (3159, ErrorKind::Target, "ssl-mode=REQUIRED"),
            (1114, ErrorKind::Run, "free space"),
            (1053, ErrorKind::Run, "administrator"),
            (9999, ErrorKind::Run, "error log"),
        ] {
            let error = said(code, "no\nway");
            assert_eq!(error.kind, kind, "{code}");
            let text = error.to_string();
            assert!(text.starts_with("me@db:3306: no way [") && text.contains(hint), "{text}");
        }
    }

    #[test]
    fn an_option_that_forbids_is_read_only_where_it_says_so() {
        let of = |option: &str| said(1290, &format!("The server is running with the {option} option")).to_string();
        assert!(of("--read-only").contains("name the primary") && of("--super-read-only").contains("name the primary"));
        assert!(of("NO_ENGINE_SUBSTITUTION").contains("the option that it names"));
    }
}
