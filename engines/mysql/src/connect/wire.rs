//! The connection of a relay to a server, with TLS after both sides have agreed.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mindful_core::{Error, Result};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use socket2::{SockRef, Socket, TcpKeepalive};

use super::explain::{io_fault, no_mysql};
use super::packets::{ERROR, HEAD, Watch, length_of};

pub(super) const PART: usize = 64 << 10;
/// The version of the protocol, with which a greeting begins.
const PROTOCOL: u8 = 10;

/// A network that is cut is noticed within a minute.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_COUNT: u32 = 3;
const UNACKNOWLEDGED: Duration = Duration::from_mins(1);

pub(super) struct Wire {
    socket: Socket,
    is_tcp: bool,
    tls: Option<Box<ClientConnection>>,
}

impl Wire {
    pub(super) fn to_socket(path: &Path, within: Duration) -> Result<Self> {
        let opened = UnixStream::connect(path).and_then(|socket| {
            socket.set_read_timeout(Some(within))?;
            Ok(socket)
        });
        let socket = opened.map_err(|error| io_fault(&error))?;
        Ok(Self { socket: socket.into(), is_tcp: false, tls: None })
    }

    /// To the first of `addresses` that takes the connection.
    pub(super) fn to_addresses(addresses: impl Iterator<Item = SocketAddr>, within: Duration) -> Result<Self> {
        let mut failed = Error::target("the host has no address", "correct the host name");
        for address in addresses {
            match TcpStream::connect_timeout(&address, within).and_then(|socket| set_up(socket, within)) {
                Ok(socket) => return Ok(Self { socket: socket.into(), is_tcp: true, tls: None }),
                Err(error) => failed = io_fault(&error),
            }
        }
        Err(failed)
    }

    pub(super) fn is_tcp(&self) -> bool {
        self.is_tcp
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return self.socket.write_all(bytes) };
        for part in bytes.chunks(PART / 4) {
            tls.writer().write_all(part)?;
            while tls.wants_write() {
                uninterrupted(|| tls.write_tls(&mut self.socket))?;
            }
        }
        Ok(())
    }

    /// Reads available data by way of `part`; false at the end.
    pub(super) fn read_into(&mut self, into: &mut Vec<u8>, part: &mut [u8]) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else {
            let length = uninterrupted(|| self.socket.read(part))?;
            into.extend_from_slice(&part[..length]);
            return Ok(length > 0);
        };
        let mut is_open = uninterrupted(|| tls.read_tls(&mut self.socket))? > 0;
        tls.process_new_packets().map_err(invalid)?;
        loop {
            match tls.reader().read(part) {
                Ok(0) => {
                    is_open = false;
                    break;
                }
                Ok(length) => into.extend_from_slice(&part[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        while tls.wants_write() {
            uninterrupted(|| tls.write_tls(&mut self.socket))?;
        }
        Ok(is_open)
    }

    pub(super) fn encrypt(&mut self, config: &Arc<ClientConfig>, name: &str, deadline: Instant) -> io::Result<()> {
        let name = ServerName::try_from(name.to_owned())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let mut tls = ClientConnection::new(Arc::clone(config), name).map_err(invalid)?;
        while tls.is_handshaking() || tls.wants_write() {
            if tls.wants_write() {
                uninterrupted(|| tls.write_tls(&mut self.socket))?;
                continue;
            }
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            if uninterrupted(|| tls.read_tls(&mut self.socket))? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Err(error) = tls.process_new_packets() {
                // The server receives the reason.
                let _ = tls.write_tls(&mut self.socket);
                return Err(invalid(error));
            }
        }
        self.tls = Some(Box::new(tls));
        Ok(())
    }
}

/// Reads or writes again where a signal came between.
pub(super) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn invalid(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

fn set_up(socket: TcpStream, within: Duration) -> io::Result<TcpStream> {
    socket.set_read_timeout(Some(within))?;
    socket.set_nodelay(true)?;
    let options = SockRef::from(&socket);
    options.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_IDLE).with_interval(KEEPALIVE_INTERVAL);
    options.set_tcp_keepalive(&keepalive.with_retries(KEEPALIVE_COUNT))?;
    Ok(socket)
}

/// The first packet of a server, which greets or refuses.
pub(super) fn read_greeting(wire: &mut Wire, within: Duration) -> Result<Vec<u8>> {
    let deadline = Instant::now() + within;
    let mut greeting = vec![0; HEAD + 1];
    read_by(wire, &mut greeting, deadline).map_err(|error| no_greeting(&error, within))?;
    let head = [greeting[0], greeting[1], greeting[2], greeting[3]];
    if !matches!(greeting[HEAD], PROTOCOL | ERROR) || head[HEAD - 1] != 0 {
        return Err(no_mysql(""));
    }
    let length = length_of(head);
    Watch::new().check_length(length).map_err(|what| no_mysql(&format!(" (it sent {what})")))?;
    greeting.resize(HEAD + length, 0);
    read_by(wire, &mut greeting[HEAD + 1..], deadline).map_err(|error| no_greeting(&error, within))?;
    Ok(greeting)
}

fn read_by(wire: &mut Wire, mut into: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !into.is_empty() {
        if Instant::now() >= deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match uninterrupted(|| wire.socket.read(into))? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => into = &mut into[length..],
        }
    }
    Ok(())
}

fn no_greeting(error: &io::Error, within: Duration) -> Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Error::target(
            format!("accepted the connection, but sent nothing for {} s", within.as_secs()),
            "check that host and port are those of a MariaDB or MySQL server; connect-timeout=SECONDS waits longer",
        ),
        io::ErrorKind::UnexpectedEof => no_mysql(" (it hung up)"),
        _ => io_fault(error),
    }
}
