//! Unreachable servers, and servers of another kind.

use crate::connect::{impostor, refusal};
use crate::support::free_port;
use mindful_conformance::assert_says;

#[tokio::test]
async fn a_refused_connection_names_host_and_port() {
    let port = free_port();
    let line = refusal(&format!("postgres://someone@127.0.0.1:{port}/db")).await;
    assert!(line.contains(&format!("someone@127.0.0.1:{port}/db")) && line.contains("refused"), "{line}");
    assert!(line.contains("start the server, or check host and port"), "{line}");
}

#[tokio::test]
async fn a_missing_socket_names_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let line = refusal(&format!("postgres://u@/db?host={}", folder.path().display())).await;
    assert!(line.contains(&format!("{}/.s.PGSQL.5432", folder.path().display())), "{line}");
    assert!(line.contains("no server has its socket there"), "{line}");
}

#[tokio::test]
async fn an_unknown_host_is_reported_as_such() {
    assert_says(
        refusal("postgres://u@nowhere.invalid/db?sslmode=disable").await,
        &["nowhere.invalid:5432", "correct the host name"],
    );
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
async fn a_server_that_says_nothing_is_given_up_after_connect_timeout() {
    let port = impostor::silent();
    assert_says(refusal(&format!("postgres://u@127.0.0.1:{port}/db?connect_timeout=1")).await, &["no answer in 1 s"]);
}

#[tokio::test]
async fn a_server_without_tls_is_refused_when_tls_is_required() {
    let port = impostor::saying(b"N");
    let line = refusal(&format!("postgres://u@127.0.0.1:{port}/db?sslmode=require")).await;
    assert!(line.contains("does not offer TLS") && line.contains("sslmode=disable"), "{line}");
    assert!(!line.contains("by default"), "a mode was said: {line}");
}

#[tokio::test]
async fn a_server_on_another_host_must_offer_tls_by_default() {
    let port = impostor::saying(b"N");
    // A spelling of 127.0.0.1 that only the resolver understands, and so a host like any other to mindful.
    assert_says(
        refusal(&format!("postgres://u@127.1:{port}/db")).await,
        &["does not offer TLS", "verify-full by default"],
    );
}
