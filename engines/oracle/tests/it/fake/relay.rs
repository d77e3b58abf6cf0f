//! Lends a made-up database to a server in another process: each call a line of JSON, each session a connection.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use mindful_oracle::driver::{Bind, Failure};
use mindful_oracle::statement;
use serde_json::{Value, json};

use super::{Binds, Database, Session};

pub(crate) fn lend(database: &Arc<Database>) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let database = Arc::clone(database);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let database = Arc::clone(&database);
            thread::spawn(move || serve(&database, &stream));
        }
    });
    port
}

fn serve(database: &Arc<Database>, stream: &TcpStream) {
    let Ok(session) = Arc::clone(database).connect() else { return };
    let mut answers = stream;
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let call: Value = serde_json::from_str(&line).expect("a call");
        let answer = answer(&session, &call).unwrap_or_else(|failure| match failure {
            Failure::Server { code, text } => json!({ "error": code, "text": after_number(&text) }),
            other => json!({ "error": 600, "text": format!("{other:?}") }),
        });
        // In one piece: the rest of an answer in pieces would wait until the first one is acknowledged.
        if answers.write_all(format!("{answer}\n").as_bytes()).is_err() {
            return;
        }
    }
}

/// The other server puts the number in front itself.
fn after_number(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(_, words)| words)
}

fn answer(session: &Session, call: &Value) -> Result<Value, Failure> {
    let sql = call["sql"].as_str().expect("a text");
    if sql == "commit" {
        session.database.commit(session.sid);
        return Ok(json!({ "rowcount": 0, "out": [] }));
    }
    let bind = |value: &Value| match value {
        Value::Number(number) => Bind::Integer(number.as_i64().expect("a whole number")),
        Value::Object(bytes) => Bind::Bytes(bytes_of(bytes["hex"].as_str().expect("bytes"))),
        Value::String(text) => Bind::Text(text.clone()),
        _ => Bind::Text(String::new()),
    };
    let given = call["binds"].as_object().expect("binds");
    let given: Vec<(&str, Bind)> = given.iter().map(|(name, value)| (name.as_str(), bind(value))).collect();
    let queries = ["SELECT", "WITH"].iter().any(|word| second_line(sql).starts_with(word));
    if queries {
        let rows = session.database.query(session.sid, sql, &Binds(&given))?;
        return Ok(json!({ "rows": rows, "width": rows.first().map_or(1, Vec::len), "out": [] }));
    }
    let done = session.database.execute(session.sid, sql, &Binds(&given))?;
    Ok(json!({ "rowcount": done.rows, "out": done.out }))
}

fn second_line(sql: &str) -> &str {
    assert!(statement::name(sql).is_some(), "a text without its name: {sql}");
    sql.lines().nth(1).unwrap_or_default()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
    (0..hex.len()).step_by(2).map(digit).collect()
}
