//! A relay in this process between the driver and a server, which checks the server's packets.
//!
//! The driver does not accept a stream of ours and has no limits of its own, so it connects to a socket of this
//! process. The relay passes whole packets on, and replaces one beyond a limit by an error. It makes TLS itself,
//! because it could not inspect the driver's. A driver of our own was rejected: this one is maintained by others.
//!
//! A measuring session takes the connection over after its setup: see `direct`.
//!
//! The driver sends a password in clear text over a Unix socket. So it gets one only if the path to the server is one,
//! or has TLS. Otherwise it gets a port of the loopback device.

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{fs, thread};

use mindful_core::{Error, Result};
use mindful_host::ownership::make_temporary_folder;
use mindful_sql::connect::abort::{Patience, not_ended};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::ClientConfig;
use socket2::Socket;

use super::explain::{io_fault, no_answer};
use super::packets::{ERROR, HEAD, NEXT, NOT_ENDED, REFUSED, Watch, error_packet, length_of};
use super::wire::{PART, Wire, read_greeting, uninterrupted};

/// The server offers TLS, or the client requests it.
const CLIENT_SSL: u16 = 0x800;
/// Flags, longest packet, character set and filler: where the answer to a greeting begins as a request for TLS.
const TLS_REQUEST: usize = 32;

/// Whether the server of a silent connection still answers another one; its error if not.
pub(super) type Probe = Arc<dyn Fn() -> Result<()> + Send + Sync>;
/// Number of failed probes before the connection is abandoned, and number of silent timeouts before a probe.
const PROBES: u32 = 3;

/// Requests of a relay's client.
pub(crate) struct Handle {
    wire: mpsc::Receiver<Wire>,
    limit_ms: Arc<AtomicU64>,
    timeout: Duration,
}

impl Handle {
    /// Allows answers to take as long as work of this kind from now on.
    pub(super) fn set_patience(&self, patience: Patience) {
        self.limit_ms.store(patience.limit(self.timeout).as_millis() as u64, Ordering::Relaxed);
    }

    /// The connection to the server, once the driver has left without saying so to the server.
    pub(super) fn take_over(&self, within: Duration) -> io::Result<Wire> {
        self.wire.recv_timeout(within).map_err(|_| io::ErrorKind::UnexpectedEof.into())
    }
}

#[derive(Clone)]
pub(super) enum Address {
    Socket(PathBuf),
    Port(u16),
}

impl Address {
    fn remove_folder(&self) {
        if let Self::Socket(path) = self {
            let _ = path.parent().map(fs::remove_dir_all);
        }
    }
}

/// A server that has greeted, and how to continue with it.
pub(super) struct Relay {
    wire: Wire,
    tls: Option<(Arc<ClientConfig>, String)>,
    greeting: Vec<u8>,
    within: Duration,
    /// Limit for an answer once the driver is let in, ms.
    limit_ms: Arc<AtomicU64>,
    probe: Option<Probe>,
}

/// The end of a connection: a fault that is reported to the driver, by its number, or a side that is gone.
type End = Option<(u16, Error)>;

fn refusal(error: Error) -> (u16, Error) {
    (REFUSED, error)
}

impl Relay {
    /// Reads the greeting of a server. With `tls` the connection is encrypted. `within` bounds the greeting and the login.
    pub(super) fn greet(
        mut wire: Wire,
        tls: Option<(Arc<ClientConfig>, String)>,
        within: Duration,
        probe: Option<Probe>,
    ) -> Result<Self> {
        let greeting = read_greeting(&mut wire, within)?;
        Ok(Self { wire, tls, greeting, within, limit_ms: Arc::default(), probe })
    }

    /// Whether the server offers TLS: a version of the protocol, the server's version, 13 bytes, and flags.
    pub(super) fn offers_tls(&self) -> bool {
        let payload = &self.greeting[HEAD..];
        let version_ends = payload.iter().position(|byte| *byte == 0);
        let flags = version_ends.and_then(|end| payload.get(end + 14..end + 16));
        flags.is_some_and(|flags| u16::from_le_bytes([flags[0], flags[1]]) & CLIENT_SSL != 0)
    }

    pub(super) fn refuses(&self) -> bool {
        self.greeting.get(HEAD) == Some(&ERROR)
    }

    pub(super) fn without_tls(self) -> Self {
        Self { tls: None, ..self }
    }

    /// Starts to relay for the only client of the address.
    pub(super) fn start(self) -> Result<(Address, Handle)> {
        let failed = |error: io::Error| {
            Error::run(
                format!("cannot make a socket ({error})"),
                "set TMPDIR to a folder of your own with a short path",
            )
        };
        let within = self.within;
        let (listener, address) = listen(self.tls.is_none() && self.wire.is_tcp(), within).map_err(failed)?;
        let listening = address.clone();
        let (hand_over, wire) = mpsc::channel();
        let handle = Handle { wire, limit_ms: Arc::clone(&self.limit_ms), timeout: within };
        handle.set_patience(Patience::Question);
        let carrying = thread::Builder::new().name("relay".to_owned()).spawn(move || {
            let accepted = listener.accept();
            // The folder for temporary files contains nothing of it while the connection is open, or if the process
            // ends.
            drop(listener);
            listening.remove_folder();
            if let Ok((mut driver, _)) = accepted {
                let _ = driver.set_tcp_nodelay(true);
                self.carry(&mut driver, &hand_over);
            }
        });
        carrying.inspect_err(|_| address.remove_folder()).map_err(failed)?;
        Ok((address, handle))
    }

    fn carry(mut self, driver: &mut Socket, hand_over: &mpsc::Sender<Wire>) {
        let mut last = 0;
        match self.carry_all(driver, &mut last) {
            Ok(()) => {
                // Some clients do not take it over.
                let _ = hand_over.send(self.wire);
            }
            Err(Some((code, error))) => {
                let text = format!("{}{NEXT}{}", error.what, error.next);
                let _ = driver.write_all(&error_packet(code, &text, last.wrapping_add(1)));
            }
            // A client that has left needs no error.
            Err(None) => {}
        }
    }

    /// Relays packets until the driver has left and no answer is due. `last` is the number of the last packet passed to
    /// the driver.
    fn carry_all(&mut self, driver: &mut Socket, last: &mut u8) -> Result<(), End> {
        let mut watch = Watch::new();
        let deadline = Instant::now() + self.within;
        driver.write_all(&self.greeting).map_err(|_| None)?;
        let mut part = vec![0; PART];
        // The request for TLS is an additional packet, which the driver does not count.
        let mut hidden = 0;
        if let Some((config, name)) = self.tls.take().filter(|_| !self.refuses()) {
            let length = uninterrupted(|| driver.read(&mut part)).map_err(|_| None)?;
            *last = part[HEAD - 1];
            self.encrypt(&config, &name, &mut part[..length], deadline).map_err(|error| Some(refusal(error)))?;
            hidden = 1;
        }
        let (mut from_server, mut is_new) = (Vec::new(), true);
        let (mut asked, mut heard, mut silent) = (Instant::now(), Instant::now(), 0);
        loop {
            let limit = Duration::from_millis(self.limit_ms.load(Ordering::Relaxed));
            let probing = (heard + self.within * PROBES).min(asked + limit);
            let patience = if watch.is_login() { deadline } else { probing };
            let [driver_says, server_says] = await_either(driver, &self.wire, patience).map_err(|_| None)?;
            if driver_says {
                let length = uninterrupted(|| driver.read(&mut part)).map_err(|_| None)?;
                if length == 0 {
                    return if watch.awaits() || !from_server.is_empty() { Err(None) } else { Ok(()) };
                }
                let sent = &mut part[..length];
                if let Some(number) = watch.ask(sent) {
                    (*last, asked) = (number, Instant::now());
                }
                // A part of the login is a packet.
                if watch.is_login() && sent.len() >= HEAD {
                    sent[HEAD - 1] = sent[HEAD - 1].wrapping_add(hidden);
                }
                self.wire.write_all(sent).map_err(|_| None)?;
                heard = Instant::now();
            }
            if server_says
                && !self.wire.read_into(&mut from_server, &mut part).map_err(|error| Some(refusal(io_fault(&error))))?
            {
                return Err(None);
            }
            while let Some(head) = from_server.first_chunk::<HEAD>() {
                let (length, is_login) = (length_of(*head), watch.is_login());
                if is_new {
                    watch.check_length(length).map_err(|what| Some(refusal(sent(&what))))?;
                }
                is_new = from_server.len() >= HEAD + length;
                if !is_new {
                    break;
                }
                let mut packet: Vec<u8> = from_server.drain(..HEAD + length).collect();
                watch.check(&packet[HEAD..]).map_err(|what| Some(refusal(sent(&what))))?;
                if is_login {
                    packet[HEAD - 1] = packet[HEAD - 1].wrapping_sub(hidden);
                }
                *last = packet[HEAD - 1];
                driver.write_all(&packet).map_err(|_| None)?;
                (heard, silent) = (Instant::now(), 0);
            }
            if watch.is_login() && Instant::now() >= deadline {
                return Err(Some(refusal(no_answer())));
            }
            if !watch.awaits() {
                (asked, heard) = (Instant::now(), Instant::now());
            } else if asked.elapsed() >= limit && !watch.is_login() {
                return Err(Some((NOT_ENDED, not_ended(limit, "connect-timeout"))));
            } else if heard.elapsed() >= self.within * PROBES {
                silent = self.still_answers(silent).map_err(|error| Some(refusal(error)))?;
                heard = Instant::now();
            }
        }
    }

    /// The new number of silent timeouts; the server's error if there are too many.
    fn still_answers(&self, silent: u32) -> Result<u32> {
        match self.probe.as_ref().map_or_else(|| Err(no_answer()), |probe| probe()) {
            Ok(()) => Ok(0),
            Err(error) if silent + 1 >= PROBES => Err(error),
            Err(_) => Ok(silent + 1),
        }
    }

    /// Requests TLS with the capabilities of `answer` to the greeting, and sends the answer over it.
    fn encrypt(&mut self, config: &Arc<ClientConfig>, name: &str, answer: &mut [u8], deadline: Instant) -> Result<()> {
        let Some(flags) = answer.get_mut(HEAD + 1) else { return Err(no_answer()) };
        *flags |= (CLIENT_SSL >> 8) as u8;
        let Some(asked) = answer.get(HEAD..HEAD + TLS_REQUEST) else { return Err(no_answer()) };
        let head = [TLS_REQUEST as u8, 0, 0, answer[HEAD - 1]];
        let request = [&head[..], asked].concat();
        answer[HEAD - 1] += 1;
        let failed = |error: io::Error| io_fault(&error);
        self.wire.write_all(&request).map_err(failed)?;
        self.wire.encrypt(config, name, deadline).map_err(failed)?;
        self.wire.write_all(answer).map_err(failed)
    }
}

pub(super) fn sent(what: &str) -> Error {
    let next = "check that host and port are those of a MariaDB or MySQL server";
    Error::target(format!("the server sent {what}"), next)
}

/// Waits until the driver or the server can be read, or the deadline is over.
fn await_either(driver: &Socket, wire: &Wire, deadline: Instant) -> io::Result<[bool; 2]> {
    let left = deadline.saturating_duration_since(Instant::now());
    let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
    let (driver, server): (BorrowedFd<'_>, BorrowedFd<'_>) = (driver.as_fd(), wire.as_fd());
    let mut both = [PollFd::from_borrowed_fd(driver, PollFlags::IN), PollFd::from_borrowed_fd(server, PollFlags::IN)];
    match poll(&mut both, Some(&timeout)) {
        Ok(_) => Ok(both.map(|one| !one.revents().is_empty())),
        Err(rustix::io::Errno::INTR) => Ok([false; 2]),
        Err(error) => Err(error.into()),
    }
}

/// A listener for one client, which connects within this time or never.
fn listen(is_tcp: bool, within: Duration) -> io::Result<(Socket, Address)> {
    let (listener, address): (Socket, _) = if is_tcp {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        (listener.into(), Address::Port(port))
    } else {
        let path = make_temporary_folder()?.join("s");
        (UnixListener::bind(&path)?.into(), Address::Socket(path))
    };
    // It bounds the wait for a client as well.
    listener.set_read_timeout(Some(within))?;
    Ok((listener, address))
}
