//! Servers that misbehave: each answers one connection as given, and ends.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Starts a server that passes each connection to `answer`; returns its port.
pub(super) fn start(answer: impl Fn(TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream);
        }
    });
    port
}

/// Reads the client's first message.
pub(super) fn listen(stream: &mut TcpStream) -> Vec<u8> {
    let mut heard = vec![0; 4096];
    let length = stream.read(&mut heard).unwrap_or(0);
    heard.truncate(length);
    heard
}

pub(super) fn silent() -> u16 {
    start(|stream| {
        thread::spawn(move || {
            thread::sleep(Duration::from_secs(30));
            drop(stream);
        });
    })
}

/// A server that answers every message with `bytes` only. It reads all that the client sends: unread data would reset
/// the connection, maybe before its answer is read.
pub(super) fn saying(bytes: &'static [u8]) -> u16 {
    start(move |mut stream| {
        listen(&mut stream);
        let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
        while !listen(&mut stream).is_empty() {}
    })
}

/// A server that refuses every session with an error of this SQLSTATE and message.
pub(super) fn refusing(code: &'static str, message: &'static str) -> u16 {
    start(move |mut stream| {
        if is_tls_request(&listen(&mut stream)) {
            let _ = stream.write_all(b"N");
            listen(&mut stream);
        }
        let fields = format!("SFATAL\0VFATAL\0C{code}\0M{message}\0\0");
        let mut answer = vec![b'E'];
        answer.extend((fields.len() as u32 + 4).to_be_bytes());
        answer.extend(fields.as_bytes());
        let _ = stream.write_all(&answer);
        listen(&mut stream);
    })
}

/// The eight bytes with which a client asks for TLS.
fn is_tls_request(heard: &[u8]) -> bool {
    heard == [0, 0, 0, 8, 4, 210, 22, 47]
}
