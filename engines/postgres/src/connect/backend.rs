//! The server process of a connection: how its session begins, and whether each connection has a separate one.
//!
//! When a session begins, no name can mean an object of others, and only the user chose its role. With a pooler that assigns
//! processes by transaction or by statement, settings, prepared statements, locks and counters of a session would not last.

use mindful_core::Error;
use tokio_postgres::{Client, SimpleQueryMessage};

/// The identity of a server process, unique also among processes of other servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Backend {
    pub pid: i32,
    /// When its server was started, us since the epoch by that server's clock.
    pub(super) server_started_us: i64,
}

/// The refusal of a connection with a changing server process.
pub(crate) fn pooled() -> Error {
    Error::target(
        "the server process of the connection changes between statements, as with a pooler in transaction or statement \
         mode",
        "set the pooler to session mode (PgBouncer: pool_mode = session), or name the server's own port",
    )
}

pub(super) struct Begun {
    pub backend: Option<Backend>,
    pub refusal: Option<Error>,
}

/// Prevents settings of a database or a role from leading our session to foreign code. With `role_is_given` the user
/// chose a role for the session.
pub(super) async fn begin_session(client: &Client, role_is_given: bool) -> Result<Begun, tokio_postgres::Error> {
    let answer = client.simple_query(include_str!("../../sql/begin.sql")).await?;
    let row = answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let text = |column| row.and_then(|row| row.get(column)).unwrap_or_default();
    let backend = text(2)
        .parse()
        .ok()
        .zip(text(3).parse().ok())
        .map(|(pid, server_started_us)| Backend { pid, server_started_us });
    let (works_as, entered_as) = (text(0), text(1));
    let refusal = (works_as != entered_as && !role_is_given).then(|| {
        Error::target(
            format!("a setting of the database or of role {entered_as} makes its sessions work as role {works_as}"),
            "ALTER DATABASE … RESET role or ALTER ROLE … RESET role, or choose the role in the URL: \
             ?options=-c%20role%3DNAME",
        )
    });
    Ok(Begun { backend, refusal })
}

/// Whether connection options such as `-c role=owner` choose the role of the session.
pub(super) fn chooses_role(options: &str) -> bool {
    options.split_whitespace().any(|word| word.trim_start_matches("-c").trim_start_matches("--").starts_with("role="))
}

#[cfg(test)]
mod tests {
    use super::chooses_role;

    #[test]
    fn a_role_is_chosen_in_any_spelling_of_an_option() {
        for options in ["-c role=owner", "-crole=owner", "--role=owner", "-c jit=off -c role=owner"] {
            assert!(chooses_role(options), "{options}");
        }
        for options in ["", "-c search_path=role", "-c jit=off", "-c application_name=role"] {
            assert!(!chooses_role(options), "{options}");
        }
    }
}
