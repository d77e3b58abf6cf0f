//! Connections compared with a real PostgreSQL with passwords and TLS, and against servers that misbehave.

mod cluster;
mod impostor;
mod interrupt;
mod login;
mod pooler;
mod reach;
mod tls;
mod url;

use mindful_core::{Error, ErrorKind};
use mindful_postgres::connect::{Connection, Environment, Server};

/// The server of `url` in an empty environment.
fn parse(url: &str) -> Server {
    Server::parse_in(url, &Environment::default()).unwrap()
}

/// Connects to the first endpoint of `url` in the given surroundings.
async fn connect_in(url: &str, environment: &Environment) -> Result<Connection, Error> {
    Server::parse_in(url, environment)?.connect(0).await
}

/// Connects to the first endpoint of `url` in an empty environment.
async fn connect(url: &str) -> Result<Connection, Error> {
    connect_in(url, &Environment::default()).await
}

/// The error of a refused connection, after checking that it is one line of the right kind.
async fn refusal(url: &str) -> String {
    let error = connect(url).await.expect_err("the connection should have been refused");
    assert_eq!(error.kind, ErrorKind::Target, "{error}");
    let line = error.to_string();
    assert!(!line.contains('\n') && !error.next.is_empty(), "{line}");
    line
}

fn encode(text: &str) -> String {
    use std::fmt::Write;
    text.bytes().fold(String::new(), |mut out, byte| {
        write!(out, "%{byte:02X}").unwrap();
        out
    })
}

async fn ask(connection: &Connection, sql: &str) -> String {
    let row = connection.query_one(sql, &[]).await.expect("the query should work");
    row.try_get::<_, Option<String>>(0).expect("a text").unwrap_or_default()
}
