//! The bytes between mindful and a server, with TLS after both sides have agreed.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Stream};
use socket2::{Socket, TcpKeepalive};

/// A network that is cut is noticed within a minute.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_COUNT: u32 = 3;
const UNACKNOWLEDGED: Duration = Duration::from_mins(1);

pub(super) struct Wire {
    socket: Arc<Socket>,
    tls: Option<Box<ClientConnection>>,
}

impl Wire {
    pub(super) fn to_socket(path: &Path) -> io::Result<Self> {
        Ok(Self { socket: Arc::new(UnixStream::connect(path)?.into()), tls: None })
    }

    /// To the first of `addresses` that takes the connection.
    pub(super) fn to_addresses(addresses: impl Iterator<Item = SocketAddr>, within: Duration) -> io::Result<Self> {
        let mut failed = io::Error::other("failed to lookup address information: the host has none");
        for address in addresses {
            match TcpStream::connect_timeout(&address, within).and_then(|stream| set_up(stream.into())) {
                Ok(socket) => return Ok(Self { socket: Arc::new(socket), tls: None }),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    pub(super) fn socket(&self) -> &Arc<Socket> {
        &self.socket
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut socket = &*self.socket;
        let Some(tls) = &mut self.tls else { return socket.write_all(bytes) };
        let mut stream = Stream::new(&mut **tls, &mut socket);
        stream.write_all(bytes)?;
        stream.flush()
    }

    /// Reads available data; 0 at the end. It receives at most once: a record of TLS that arrives slowly is `Interrupted`
    /// meanwhile, so that limits of time hold.
    pub(super) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return (&*self.socket).read(into) };
        match tls.reader().read(into) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return done,
        }
        receive(tls, &self.socket)?;
        match tls.reader().read(into) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(io::ErrorKind::Interrupted.into()),
            done => done,
        }
    }

    pub(super) fn encrypt(&mut self, config: &Arc<ClientConfig>, name: &str, deadline: Instant) -> io::Result<()> {
        let name = ServerName::try_from(name.to_owned())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let mut tls = ClientConnection::new(Arc::clone(config), name).map_err(invalid)?;
        while tls.is_handshaking() || tls.wants_write() {
            if tls.wants_write() {
                uninterrupted(|| tls.write_tls(&mut &*self.socket))?;
                continue;
            }
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            if uninterrupted(|| receive(&mut tls, &self.socket))? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        self.tls = Some(Box::new(tls));
        Ok(())
    }
}

/// Receives once; returns the number of bytes.
fn receive(tls: &mut ClientConnection, mut socket: &Socket) -> io::Result<usize> {
    let length = tls.read_tls(&mut socket)?;
    let processed = tls.process_new_packets();
    // The server receives the reason of a failure, and the answer to a request of TLS.
    let written = if tls.wants_write() { uninterrupted(|| tls.write_tls(&mut socket)).map(drop) } else { Ok(()) };
    processed.map_err(invalid)?;
    written.map(|()| length)
}

/// Reads or writes again where a signal came between.
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
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

fn set_up(socket: Socket) -> io::Result<Socket> {
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_IDLE).with_interval(KEEPALIVE_INTERVAL);
    socket.set_tcp_keepalive(&keepalive.with_retries(KEEPALIVE_COUNT))?;
    Ok(socket)
}
