//! Errors of a server before a session is open, by SQLSTATE.

use crate::connect::{impostor, refusal};

#[tokio::test]
async fn every_refusal_has_its_next_move() {
    let cases = [
        ("57P03", "the database system is starting up", "wait until the server is up"),
        ("53300", "sorry, too many clients already", "fewer --sessions, or raise max_connections"),
        ("3D000", "database \"x\" does not exist", "createdb"),
        ("28000", "no pg_hba.conf entry for host \"10.0.0.1\", user \"u\"", "pg_hba.conf"),
        ("28P01", "password authentication failed for user \"u\"", "PGPASSWORD or ~/.pgpass"),
        ("42501", "permission denied for database \"x\"", "ON DATABASE"),
        ("XX000", "something else", "see the server's log"),
    ];
    for (code, message, next) in cases {
        let port = impostor::refusing(code, message);
        let line = refusal(&format!("postgres://u@127.0.0.1:{port}/x")).await;
        assert!(line.contains(message) && line.contains(next) && line.contains(code), "{code}: {line}");
    }
}

#[tokio::test]
async fn words_of_a_hostile_server_stay_on_one_bounded_line() {
    const NOISE: &str = "line one\nline two\r\x1b[31m red ";
    let message: &'static str = Box::leak(NOISE.repeat(200).into_boxed_str());
    let port = impostor::refusing("XX000", message);
    let line = refusal(&format!("postgres://u@127.0.0.1:{port}/x")).await;
    assert!(line.chars().all(|c| !c.is_control()), "{line}");
    assert!(line.chars().count() < 500, "{} characters", line.chars().count());
}
