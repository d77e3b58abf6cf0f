//! Which users may connect, and the errors if no server answers or another program does.

use std::io::Write;
use std::net::TcpListener;

use mindful_conformance::{assert_says, quick_place};
use mindful_core::ErrorKind;
use mindful_core::contract::event::Silent;
use mindful_core::contract::stop_flag::StopFlag;

use crate::support::{MARIADB, sql, started, target_at};

#[test]
fn a_refusal_names_user_place_reason_and_next_step() {
    let place = quick_place();
    let server = started(MARIADB, &place.path().join("db"), &[]);
    sql(&server, "CREATE USER me@localhost IDENTIFIED BY 'right'");
    let at = |login: &str| format!("mysql://{login}@localhost/bench?socket={}", server.socket().display());
    let refusal = |url: &str| target_at(url, &[]).err().unwrap();
    let wrong = refusal(&at("me:wrong"));
    assert_eq!(wrong.kind, ErrorKind::Target);
    let text = wrong.to_string();
    assert!(text.starts_with("me@") && text.contains("Access denied") && text.contains("MYSQL_PWD"), "{text}");
    assert!(!text.contains("wrong"), "{text}");
    let target = target_at(&at("me:right"), &[]).unwrap();
    let text = target.load(
        &mindful_conformance::Fixture::new(&mindful_mysql::ENGINE, "").dataset,
        &Silent,
        &StopFlag::default(),
    );
    assert_says(text.unwrap_err(), &["bench", "GRANT ALL ON"]);
}

#[test]
fn a_missing_or_foreign_server_is_named_with_a_next_step() {
    let refusal = |url: &str| target_at(url, &[]).err().unwrap();
    for (url, why, next) in [
        ("mysql://me@127.0.0.1:1/b", "refused", "nothing listens there"),
        ("mysql://me@localhost/b?socket=/nowhere/x.sock", "/nowhere/x.sock", "no server has its socket there"),
    ] {
        assert_says(refusal(url), &[why, next]);
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("mysql://me@{}/b?connect-timeout=1", listener.local_addr().unwrap());
    assert_says(refusal(&url), &["sent nothing for 1 s", "connect-timeout"]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The first one is the one without an answer.
            for stream in listener.incoming().take(2) {
                let _ = stream.unwrap().write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            }
        });
        assert_says(refusal(&url), &["answered, but not as MariaDB or MySQL"]);
    });
}
