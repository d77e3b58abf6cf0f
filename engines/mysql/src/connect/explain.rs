//! Errors of a server, as one line with the next step.

use std::error::Error as _;
use std::io;

use mindful_core::contract::error::one_line;
use mindful_core::{Error, ErrorKind};
use mindful_sql::connect::error_text::{Words, error_of_kind, quote};
use mysql::{DriverError, MySqlError};

use super::packets::{NEXT, NOT_ENDED, REFUSED};

pub(super) const DENIED: u16 = 1045;

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

/// The error as a message: `place` (such as `bench@db1:3306`), the failure, the next step. Its kind is
/// [`ErrorKind::Target`] if the target refuses, and [`ErrorKind::Run`] if running work was ended.
pub(crate) fn explain(error: &mysql::Error, place: &str) -> Error {
    let explained = match error {
        mysql::Error::MySqlError(said) => server_said(said),
        mysql::Error::DriverError(fault) => driver_fault(fault),
        mysql::Error::IoError(fault) => io_fault(fault),
        other => beneath(other).map_or_else(
            || Error::run(format!("the answer was not understood ({other})"), "report this with the server's version"),
            io_fault,
        ),
    };
    explained.at(place)
}

/// The fault of the connection by which a packet could not be read or written.
fn beneath(error: &mysql::Error) -> Option<&io::Error> {
    match error {
        mysql::Error::CodecError(fault) => fault.source()?.downcast_ref(),
        _ => None,
    }
}

/// Why a login by TCP was refused: in addition to a password, an account may require encryption. `in_clear` is the
/// user's setting.
pub(super) fn not_let_in(error: &mysql::Error, place: &str, in_clear: bool) -> Error {
    // The driver needs a key of the server that it does not have.
    if matches!(error, mysql::Error::IoError(fault) if fault.kind() == io::ErrorKind::NotFound) {
        let what = "the server requests the password in clear text, which mindful does not send to another host";
        return Error::target(what, "set ssl-mode=REQUIRED; the server needs ssl_cert and ssl_key for it").at(place);
    }
    let mut refusal = explain(error, place);
    if in_clear && code(error) == Some(DENIED) {
        refusal.next += "; ssl-mode=REQUIRED for an account that accepts only encrypted connections";
    }
    refusal
}

/// Whether the server still runs a statement after mindful stopped waiting for it.
pub(super) fn is_not_ended(error: &mysql::Error) -> bool {
    code(error) == Some(NOT_ENDED)
}

pub(crate) fn code(error: &mysql::Error) -> Option<u16> {
    match error {
        mysql::Error::MySqlError(said) => Some(said.code),
        _ => None,
    }
}

fn server_said(said: &MySqlError) -> Error {
    if [REFUSED, NOT_ENDED].contains(&said.code) {
        let (what, next) = said.message.split_once(NEXT).unwrap_or((&said.message, ""));
        return Error::target(what, next);
    }
    let (kind, next) = match said.code {
        1290 if !said.message.replace('_', "-").contains("read-only") => {
            (ErrorKind::Target, "check the option that it names in the server's settings")
        }
        code => advice(code),
    };
    error_of_kind(kind, quote(&said.message, said.code), next)
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

fn driver_fault(fault: &DriverError) -> Error {
    const LOGIN: &str = "the server requests an authentication method that is not supported";
    match fault {
        DriverError::ConnectTimeout => no_answer(),
        DriverError::CouldNotConnect(Some((_, said, kind))) => io_fault(&io::Error::new(*kind, said.clone())),
        DriverError::UnknownAuthPlugin(name) => Error::target(
            format!("{LOGIN} ({})", one_line(name)),
            "let the user have a password by mysql_native_password or caching_sha2_password",
        ),
        DriverError::OldMysqlPasswordDisabled => {
            Error::target(format!("{LOGIN} (mysql_old_password)"), "set the user's password again")
        }
        DriverError::CleartextPluginDisabled => Error::target(
            "the server asks for the password in clear text, which mindful never sends",
            "let the user have a password by mysql_native_password or caching_sha2_password",
        ),
        DriverError::CouldNotConnect(None) | DriverError::SetupError => no_mysql(""),
        other => no_mysql(&format!(" ({other})")),
    }
}

/// A connection may wait so long and no longer until it is let in.
pub(super) fn no_answer() -> Error {
    Error::target(
        "nothing answered in time",
        "check host, port, routes and firewalls on the way; connect-timeout=SECONDS waits longer",
    )
}

pub(super) fn no_tls() -> Error {
    Error::target(
        "the server does not offer TLS",
        "set ssl_cert and ssl_key there, or set ssl-mode=DISABLED to connect without encryption",
    )
}

pub(super) fn no_mysql(said: &str) -> Error {
    WORDS.foreign(said)
}

pub(super) fn io_fault(fault: &io::Error) -> Error {
    if let Some(fault) = fault.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return WORDS.explain_tls(fault);
    }
    match fault.kind() {
        io::ErrorKind::WouldBlock => no_answer(),
        io::ErrorKind::UnexpectedEof => {
            WORDS.explain_io(&io::Error::new(io::ErrorKind::ConnectionReset, fault.to_string()))
        }
        _ => WORDS.explain_io(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: u16, message: &str) -> Error {
        let said = MySqlError { state: "HY000".to_owned(), message: message.to_owned(), code };
        explain(&mysql::Error::MySqlError(said), "me@db:3306")
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
