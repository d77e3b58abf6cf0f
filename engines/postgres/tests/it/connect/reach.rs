//! Unreachable servers, servers of another kind, and errors of a server before a session is open.

use mindful_conformance::assert_says;

use crate::connect::{impostor, refusal};
use crate::support::free_port;

#[tokio::test]
async fn an_unreachable_server_is_named_with_the_next_step() {
    let (port, folder) = (free_port(), tempfile::tempdir().unwrap());
    let (folder, silent, plain) = (folder.path().display(), impostor::silent(), impostor::saying(b"N"));
    let here = format!("someone@127.0.0.1:{port}/db");
    for (url, parts) in [
        (here.clone(), [here.as_str(), "refused", "start the server, or check host and port"]),
        (
            format!("u@/db?host={folder}"),
            [&format!("{folder}/.s.PGSQL.5432"), "no server has its socket there", "postgres://host:5432"],
        ),
        (
            "u@nowhere.invalid/db?sslmode=disable".to_owned(),
            ["nowhere.invalid:5432", "correct the host name", "name service"],
        ),
        (format!("u@127.0.0.1:{silent}/db?connect_timeout=1"), ["no answer in 1 s", "firewalls", "connect_timeout"]),
        // A spelling of 127.0.0.1 that only the resolver understands, and so a host like any other to mindful.
        (format!("u@127.1:{plain}/db"), ["does not offer TLS", "sslmode=disable", "verify-full by default"]),
    ] {
        assert_says(refusal(&format!("postgres://{url}")).await, &parts);
    }
    let line = refusal(&format!("postgres://u@127.0.0.1:{plain}/db?sslmode=require")).await;
    assert!(line.contains("does not offer TLS") && !line.contains("by default"), "a mode was said: {line}");
}

#[tokio::test]
async fn a_server_of_another_protocol_is_reported_as_such() {
    let others: [(&str, &[u8]); 4] = [
        ("a web server", b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
        ("sshd", b"SSH-2.0-OpenSSH_9.2\r\n"),
        ("Redis", b"-ERR unknown command\r\n"),
        ("MySQL", b"J\0\0\0\n8.0.36\0\x0b\0\0\0mZ1]+K5x\0\xff\xf7\xff\x02\0"),
    ];
    for (what, greeting) in others {
        let port = impostor::saying(greeting);
        for mode in ["disable", "prefer"] {
            let line = refusal(&format!("postgres://u@127.0.0.1:{port}/db?sslmode={mode}")).await;
            assert!(line.contains("answered, but not as PostgreSQL"), "{what}, {mode}: {line}");
            assert!(line.contains("check that host and port are those of"), "{what}, {mode}: {line}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_up_and_an_unknown_refusal_are_reported() {
    for (code, message, next) in [
        ("57P03", "the database system is starting up", "wait until the server is up"),
        ("XX000", "something else", "see the server's log"),
    ] {
        let port = impostor::refusing(code, message);
        assert_says(refusal(&format!("postgres://u@127.0.0.1:{port}/x")).await, &[message, next, code]);
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
