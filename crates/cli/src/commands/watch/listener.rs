//! The figures of `watch` for who asks by HTTP: one page, loopback unless asked otherwise.
//!
//! Whoever asks is trusted with nothing: a request is short and comes soon, an answer is taken soon, few ask at once, and
//! each has a thread that ends by a deadline. Nothing of a request is used but its path.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::ArgMatches;
use mindful_core::{Error, Result};

/// How long a client may take for its request, and again for the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most bytes of a request.
const LONGEST: usize = 8 << 10;
/// Most clients at once.
const MOST: usize = 8;

/// What is served: the text of the latest reading.
#[derive(Debug, Clone, Default)]
pub struct Served(Arc<Mutex<String>>);

impl Served {
    /// From now on `text`.
    pub fn set(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Serves at the place of `--listen`, if it is given; the place, as it came to be.
///
/// # Errors
/// A place that others reach, without leave; one that cannot be had.
pub fn listen(matches: &ArgMatches, served: &Served) -> Result<Option<SocketAddr>> {
    let Some(text) = matches.get_one::<String>("listen") else { return Ok(None) };
    let bad = |_| Error::plan(format!("--listen {text} is no address with a port"), "give one, such as 127.0.0.1:9719");
    let address: SocketAddr = text.parse().map_err(bad)?;
    if !address.ip().is_loopback() && !matches.get_flag("listen_to_others") {
        return Err(Error::plan(
            format!("--listen {text}: whoever reaches that address could read what this database does"),
            "give 127.0.0.1:PORT, or --listen-to-others too",
        ));
    }
    let cannot = |error: std::io::Error| {
        Error::plan(format!("--listen {text} cannot be had: {error}"), "give another port, or 0 for any")
    };
    let listener = TcpListener::bind(address).map_err(cannot)?;
    let place = listener.local_addr().map_err(cannot)?;
    let (served, busy) = (served.clone(), Arc::new(AtomicUsize::new(0)));
    let serve = move || {
        for client in listener.incoming() {
            let Ok(client) = client else {
                // Out of files, say: others may be done with theirs soon.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            take(client, &served, &busy);
        }
    };
    std::thread::Builder::new().name("listen".into()).spawn(serve).map_err(cannot)?;
    Ok(Some(place))
}

/// One more asks: it is answered by a thread of its own, or turned away where enough ask already.
fn take(mut client: TcpStream, served: &Served, busy: &Arc<AtomicUsize>) {
    if busy.fetch_add(1, Ordering::AcqRel) >= MOST {
        busy.fetch_sub(1, Ordering::AcqRel);
        return;
    }
    let (served, done) = (served.clone(), Arc::clone(busy));
    let answer = move || {
        // Who went away or kept us waiting gets nothing, and nobody needs to know.
        let _ = answer(&mut client, &served);
        // Before the client sees the end: who asks again at once finds the place free.
        done.fetch_sub(1, Ordering::AcqRel);
        drop(client);
    };
    if std::thread::Builder::new().name("answer".into()).spawn(answer).is_err() {
        busy.fetch_sub(1, Ordering::AcqRel);
    }
}

fn answer(client: &mut TcpStream, served: &Served) -> std::io::Result<()> {
    let request = request(client)?;
    let mut words = request.split_ascii_whitespace();
    let (status, text) = match (words.next(), words.next().map(|path| path.split('?').next().unwrap_or(path))) {
        (Some("GET"), Some("/metrics" | "/")) => ("200 OK", served.text()),
        (Some("GET"), Some(_)) => ("404 Not Found", "only /metrics is here\n".to_owned()),
        _ => ("405 Method Not Allowed", "only GET is understood\n".to_owned()),
    };
    let kind = if status.starts_with("200") {
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    } else {
        "text/plain; charset=utf-8"
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        text.len()
    );
    let until = Instant::now() + PATIENCE;
    let mut rest = [head.as_bytes(), text.as_bytes()].concat();
    while !rest.is_empty() {
        client.set_write_timeout(Some(left(until)?))?;
        let written = client.write(&rest)?;
        rest.drain(..written);
    }
    Ok(())
}

/// The lines up to the empty one.
fn request(client: &mut TcpStream) -> std::io::Result<String> {
    let (mut request, mut piece, until) = (Vec::new(), [0; 1024], Instant::now() + PATIENCE);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        client.set_read_timeout(Some(left(until)?))?;
        let read = client.read(&mut piece)?;
        request.extend_from_slice(&piece[..read]);
        if read == 0 || request.len() > LONGEST {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
    }
    Ok(String::from_utf8_lossy(&request).into_owned())
}

/// Time until then; an error where there is none.
fn left(until: Instant) -> std::io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(std::io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}
