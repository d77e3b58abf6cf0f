//! The socket beneath a connection, which the driver keeps to itself.
#![expect(unsafe_code, reason = "the driver gives its socket as a bare number; see each SAFETY note")]

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use mysql::Conn;

/// The socket of a connection, which stays open while this exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Socket(RawFd);

impl Socket {
    pub(crate) fn from_connection(connection: &Conn) -> Self {
        Self(connection.as_raw_fd())
    }

    pub(crate) fn from_fd(socket: BorrowedFd<'_>) -> Self {
        Self(socket.as_raw_fd())
    }

    /// Longest wait for an answer; unlimited without it.
    pub(crate) fn wait(self, at_most: Option<Duration>) -> io::Result<()> {
        let stream = self.stream()?;
        stream.set_read_timeout(at_most)?;
        stream.set_write_timeout(at_most)
    }

    /// Ends the connection on this side: a wait for the server ends, even if the server has vanished.
    pub(crate) fn sever(self) {
        // One that is cut off already needs no end.
        let _ = self.stream().and_then(|stream| stream.shutdown(Shutdown::Both));
    }

    /// A duplicated handle. The operations used here are the same for TCP and for local sockets.
    fn stream(self) -> io::Result<UnixStream> {
        // SAFETY: its connection is open, as the type guarantees.
        let socket = unsafe { BorrowedFd::borrow_raw(self.0) };
        socket.try_clone_to_owned().map(UnixStream::from)
    }
}
