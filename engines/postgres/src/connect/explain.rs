//! Errors of a server, as one line with the next step.

use std::error::Error as Cause;
use std::io;

use mindful_core::contract::error::one_line;
use mindful_core::{Error, ErrorKind};
use mindful_sql::connect::error_text::{Words, error_of_kind, quote};
use tokio_postgres::error::{DbError, SqlState};

use super::backend::pooled;
use super::limits::Beyond;

/// Names as libpq's parameters have them.
const WORDS: Words = Words {
    product: "PostgreSQL",
    url: "postgres://host:5432/dbname",
    mode: "sslmode",
    off: "disable",
    unverified: "require",
    verify_ca: "verify-ca",
    ca: "sslrootcert",
    certificate: "sslcert",
    key: "sslkey",
    server_ca: "ssl_ca_file",
};

/// The error as a message: `place` (such as `bench@db1:5432/bench`), the failure, the next step. Its kind is
/// [`ErrorKind::Target`] if the target refuses, and [`ErrorKind::Run`] if running work was ended.
pub(crate) fn explain(error: &tokio_postgres::Error, place: &str) -> Error {
    let explained = match error.as_db_error() {
        Some(said) => server_said(said),
        None => connection_fault(error),
    };
    explained.at(place)
}

fn server_said(said: &DbError) -> Error {
    let (kind, next) = advice(said);
    let detail = said.detail().map_or_else(String::new, |detail| format!(" ({detail})"));
    error_of_kind(kind, quote(&format!("{}{detail}", said.message()), said.code().code()), next)
}

/// Errors of a session on another server process than the one it was set up on: its statements and procedures are
/// missing, or belong to another session.
const MET_ANOTHER_PROCESS: [&SqlState; 3] =
    [&SqlState::DUPLICATE_PSTATEMENT, &SqlState::INVALID_SQL_STATEMENT_NAME, &SqlState::DUPLICATE_FUNCTION];

fn advice(said: &DbError) -> (ErrorKind, String) {
    use ErrorKind::{Run, Target};
    let code = said.code();
    if MET_ANOTHER_PROCESS.contains(&code) {
        return (Target, pooled().next);
    }
    if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        return (Target, grant(said.message()));
    }
    let known: &[(&SqlState, ErrorKind, &str)] = &[
        (&SqlState::INVALID_PASSWORD, Target, "give the right password in PGPASSWORD or ~/.pgpass"),
        (
            &SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            Target,
            "create the role, or let pg_hba.conf of the server admit this role, database, address and encryption",
        ),
        (&SqlState::INVALID_CATALOG_NAME, Target, "create it with createdb, or name another one: postgres://…/dbname"),
        (&SqlState::TOO_MANY_CONNECTIONS, Target, "pass fewer --sessions, or raise max_connections on the server"),
        (&SqlState::CANNOT_CONNECT_NOW, Target, "wait until the server is up, then try again"),
        (
            &SqlState::READ_ONLY_SQL_TRANSACTION,
            Target,
            "name a primary server whose default_transaction_read_only is off",
        ),
        (&SqlState::PROTOCOL_VIOLATION, Target, "check that PostgreSQL itself or a session pooler answers there"),
        (
            &SqlState::ADMIN_SHUTDOWN,
            Run,
            "an administrator ended the session or the server; see its log, then run again",
        ),
        (&SqlState::CRASH_SHUTDOWN, Run, "a process of the server crashed; see its log, then run again"),
        (&SqlState::QUERY_CANCELED, Run, "another user, or a statement_timeout, cancelled it; run again without it"),
        (&SqlState::DISK_FULL, Run, "free space where the server keeps its data, then run again"),
        (&SqlState::OUT_OF_MEMORY, Run, "give the server more memory, or pass fewer --sessions"),
        (&SqlState::T_R_DEADLOCK_DETECTED, Run, "others change the same rows; keep the dataset to one run at a time"),
        (&SqlState::CONNECTION_FAILURE, Run, "see the server's log and the network on the way, then run again"),
        (&SqlState::IDLE_SESSION_TIMEOUT, Run, "let idle_session_timeout be longer than a step"),
    ];
    match known.iter().find(|(state, ..)| *state == code) {
        Some((_, kind, next)) => (*kind, (*next).to_owned()),
        None => (Run, said.hint().map_or_else(|| "see the server's log".to_owned(), one_line)),
    }
}

/// The GRANT that remedies a message like `permission denied for table x`.
fn grant(message: &str) -> String {
    let object = message.strip_prefix("permission denied for ").and_then(|object| object.split_once(' '));
    let Some((kind, name)) = object else {
        return "grant the privilege to the role, or name another role".to_owned();
    };
    if name.starts_with("pg_") {
        return format!("GRANT pg_monitor TO the role, or have {kind} {name} granted to it");
    }
    let rights = match kind {
        "schema" => "USAGE, CREATE ON SCHEMA",
        "database" => "CONNECT, CREATE, TEMPORARY ON DATABASE",
        "tablespace" => "CREATE ON TABLESPACE",
        "sequence" => "USAGE ON SEQUENCE",
        "function" => "EXECUTE ON FUNCTION",
        "procedure" => "EXECUTE ON PROCEDURE",
        _ => "SELECT, INSERT, UPDATE, DELETE ON TABLE",
    };
    let name = format!("\"{}\"", name.replace('"', "\"\""));
    format!("GRANT {rights} {name} TO the role, or name another role")
}

fn connection_fault(error: &tokio_postgres::Error) -> Error {
    if let Some(fault) = find::<rustls::Error>(error) {
        return WORDS.explain_tls(fault);
    }
    if let Some(beyond) = find::<Beyond>(error) {
        return refused(beyond);
    }
    if error.is_closed() {
        return Error::run("the server closed the connection", "see the server's log, then run again");
    }
    if let Some(fault) = find::<io::Error>(error) {
        return io_fault(fault);
    }
    let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    match cause.as_str() {
        "password missing" => {
            Error::target("the server asks for a password", "give it in PGPASSWORD, ~/.pgpass or the URL")
        }
        "server did not use channel binding" => Error::target(
            "the server did not use channel binding, which channel_binding=require demands",
            "use TLS with SCRAM, or channel_binding=prefer",
        ),
        "unsupported authentication method" | "unsupported SASL mechanism" => Error::target(
            "the server requests an authentication method that is not supported (GSSAPI, SSPI, OAuth)",
            "let pg_hba.conf admit scram-sha-256 or cert",
        ),
        _ => no_postgresql(&format!(" ({}: {})", error, one_line(&cause))),
    }
}

pub(super) fn no_postgresql(said: &str) -> Error {
    WORDS.foreign(said)
}

/// The error for a message beyond mindful's limits.
fn refused(beyond: &Beyond) -> Error {
    match beyond {
        Beyond::Method(name) => Error::target(
            format!("the server requests the authentication method `{name}`, which require_auth does not allow"),
            "configure an allowed one in pg_hba.conf of the server, or change require_auth",
        ),
        _ => no_postgresql(&format!(" (it sent {beyond})")),
    }
}

fn io_fault(fault: &io::Error) -> Error {
    let text = one_line(&fault.to_string());
    match fault.kind() {
        io::ErrorKind::InvalidInput if text == "invalid dns name" => {
            Error::target("TLS cannot name this host", "write its name or address in full")
        }
        io::ErrorKind::UnexpectedEof if text == "tls handshake eof" => {
            Error::target("the server broke off TLS", "see its log; sslnegotiation=direct needs PostgreSQL 17")
        }
        io::ErrorKind::UnexpectedEof => {
            Error::target(text, "check that host and port are those of a PostgreSQL server, and its log")
        }
        io::ErrorKind::Unsupported => {
            Error::target(text, "set ssl=on there, or set sslmode=disable to connect without encryption")
        }
        io::ErrorKind::Other if text == "bytes remaining on stream" => no_postgresql(""),
        _ => WORDS.explain_io(fault),
    }
}

/// The first cause of type `T`, also inside I/O errors, which hide theirs from `source`.
pub(super) fn find<T: Cause + 'static>(error: &tokio_postgres::Error) -> Option<&T> {
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref::<T>() {
            return Some(found);
        }
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = inner.map(|inner| inner as &(dyn Cause + 'static)).or_else(|| cause.source());
    }
    None
}
