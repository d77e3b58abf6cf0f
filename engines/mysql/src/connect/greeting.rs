//! The first thing a server says, waited for no longer than allowed.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use mindful_core::{Error, Result};

use super::explain::{io_fault, no_mysql};

/// A packet's length and number, and the version of the protocol, or the mark of an error.
const HEAD: usize = 5;
const PROTOCOL: u8 = 10;
const ERROR: u8 = 0xff;

/// Of the server behind a socket.
pub(super) fn of_socket(path: &Path, within: Duration) -> Result<()> {
    let stream = UnixStream::connect(path).map_err(|error| io_fault(&error))?;
    stream.set_read_timeout(Some(within)).map_err(|error| io_fault(&error))?;
    read(stream, within)
}

/// Of the first of `addresses` that takes the connection.
pub(super) fn of_addresses(addresses: impl Iterator<Item = SocketAddr>, within: Duration) -> Result<()> {
    let mut failed = Error::target("the host has no address", "correct the host name");
    for address in addresses {
        match TcpStream::connect_timeout(&address, within) {
            Ok(stream) => {
                stream.set_read_timeout(Some(within)).map_err(|error| io_fault(&error))?;
                return read(stream, within);
            }
            Err(error) => failed = io_fault(&error),
        }
    }
    Err(failed)
}

fn read(mut stream: impl Read, within: Duration) -> Result<()> {
    let mut head = [0; HEAD];
    match stream.read_exact(&mut head) {
        // What is refused is reported by the connection that is made next.
        Ok(()) if matches!(head[4], PROTOCOL | ERROR) && head[3] == 0 => Ok(()),
        Ok(()) => Err(no_mysql("")),
        Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
            let what = format!("took the connection and said nothing for {} s", within.as_secs());
            let next =
                "check that host and port are those of a MariaDB or MySQL server; connect-timeout=SECONDS waits longer";
            Err(Error::target(what, next))
        }
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Err(no_mysql(" (it hung up)")),
        Err(error) => Err(io_fault(&error)),
    }
}
