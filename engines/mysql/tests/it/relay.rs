//! A network between a client and a server: it records the traffic, and can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Passes every connection to a server, while it exists.
pub(crate) struct Relay {
    /// Where clients connect, of 127.0.0.1.
    pub port: u16,
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    said: Mutex<Vec<u8>>,
    streams: Mutex<Vec<TcpStream>>,
    /// The port of the server for the next connection.
    server: AtomicU16,
    /// Held while nothing is to be passed on.
    road: Mutex<()>,
}

impl Relay {
    pub(crate) fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let inner = Arc::new(Inner { server: server.into(), ..Inner::default() });
        let shared = Arc::clone(&inner);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = shared.server.load(Ordering::SeqCst);
                if let Ok(server) = TcpStream::connect(("127.0.0.1", server)) {
                    carry(&client, &server, &shared);
                    carry(&server, &client, &shared);
                }
            }
        });
        Self { port, inner }
    }

    /// Leads new connections to `server`; existing ones stay.
    pub(crate) fn lead_to(&self, server: u16) {
        self.inner.server.store(server, Ordering::SeqCst);
    }

    /// Whether `words` were sent in clear text, in either direction, since the last call.
    pub(crate) fn heard(&self, words: &str) -> bool {
        let said = std::mem::take(&mut *self.inner.said.lock().unwrap());
        said.windows(words.len()).any(|part| part == words.as_bytes())
    }

    /// Holds the traffic back for this time.
    pub(crate) fn hold(&self, time: Duration) {
        let _road = self.inner.road.lock().unwrap();
        thread::sleep(time);
    }

    pub(crate) fn cut(&self) {
        for stream in self.inner.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// On a new thread: passes data from `from` to `to`.
fn carry(from: &TcpStream, to: &TcpStream, inner: &Arc<Inner>) {
    let [mut from, mut to] = [from, to].map(|stream| stream.try_clone().unwrap());
    inner.streams.lock().unwrap().push(from.try_clone().unwrap());
    let inner = Arc::clone(inner);
    thread::spawn(move || {
        let mut part = vec![0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut part) {
            inner.said.lock().unwrap().extend(&part[..length]);
            drop(inner.road.lock().unwrap());
            if to.write_all(&part[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}
