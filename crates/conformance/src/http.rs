//! Servers of HTTP on this host, good and bad ones, for tests of clients.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Serves every connection by `answer`, which gets the head of its request, too. Returns the address.
pub fn serve(mut answer: impl FnMut(&str, &mut TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it has an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a client connects");
            answer(&read_head(&mut stream), &mut stream);
        }
    });
    format!("http://{address}")
}

/// All of it: a client that gets an answer before it has sent everything gets a broken pipe.
fn read_head(stream: &mut TcpStream) -> String {
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(length) if length > 0 => head.extend_from_slice(&piece[..length]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// An answer with this status, which more headers may follow, and this body.
pub fn answer(status: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// The answer that redirects to `location`.
pub fn redirect(location: &str) -> Vec<u8> {
    answer(&format!("302 Found\r\nLocation: {location}\r\nConnection: close"), "")
}

/// Sends the body of an answer byte by byte, for ever.
pub fn trickle(stream: &mut TcpStream) {
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
    while stream.write_all(b" ").is_ok() {
        thread::sleep(Duration::from_millis(50));
    }
}

/// Sends the body of an answer as fast as it can, for ever.
pub fn flood(stream: &mut TcpStream) {
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
    while stream.write_all(&[b' '; 1 << 12]).is_ok() {}
}
