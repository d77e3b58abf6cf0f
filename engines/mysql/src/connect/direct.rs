//! The connection of a session that measures.
//!
//! The driver logs in, sets the session up and prepares its statements over a relay. Then the relay hands over its connection
//! to the server and ends: with a relay, an operation would wait for two more threads. From then on the session's thread
//! sends statements and reads answers here, and each packet has the limits that it has in a relay. The driver cannot continue:
//! it takes no stream of ours, and reserves memory for as many columns as a result announces.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use mysql::{Column, MySqlError, Row, Statement, Value};
use mysql_common::constants::Command;
use mysql_common::io::ParseBuf;
use mysql_common::packets::ComStmtExecuteRequestBuilder;
use mysql_common::proto::{Binary, MySerialize};
use mysql_common::row::RowDeserializer;
use mysql_common::value::ServerSide;

use super::explain::no_mysql;
use super::packets::{EOF, ERROR, HEAD, OK, Watch, length_of, number};
use super::relay::{self, Handle};
use super::socket::Socket;
use super::wire::Wire;
use crate::error::Failure;

/// Bytes that are read at a time; a server sends as many at a time.
const PART: usize = 16 << 10;
/// A request for a file of the client, in the place of a result.
const LOCAL_FILE: u8 = 0xfb;

pub(crate) struct Direct {
    wire: Wire,
    watch: Watch,
    received: Vec<u8>,
    /// Bytes of `received` that belong to packets that were read.
    read: usize,
    /// The length of the packet that is being received has been checked.
    is_begun: bool,
    part: Vec<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) rows: Vec<Row>,
    pub(crate) changed: u64,
}

impl Direct {
    /// Waits for the connection of a relay whose client has left.
    pub(super) fn take_over(relay: &Handle, within: Duration) -> io::Result<Self> {
        relay.take_over(within).map(Self::new)
    }

    fn new(wire: Wire) -> Self {
        let (received, part) = (Vec::new(), vec![0; PART]);
        Self { wire, watch: Watch::after_login(), received, read: 0, is_begun: false, part }
    }

    pub(super) fn socket(&self) -> Socket {
        Socket::from_fd(self.wire.as_fd())
    }

    pub(crate) fn query_drop(&mut self, sql: &str) -> Result<(), Failure> {
        self.ask(&[&[Command::COM_QUERY as u8], sql.as_bytes()].concat())?;
        self.answer(&Arc::default()).map(drop)
    }

    pub(crate) fn execute(&mut self, statement: &Statement, params: &[Value]) -> Result<Answer, Failure> {
        let (request, _) = ComStmtExecuteRequestBuilder::new(statement.id()).build(params);
        let mut command = Vec::new();
        request.serialize(&mut command);
        self.ask(&command)?;
        self.answer(&statement.columns())
    }

    fn ask(&mut self, command: &[u8]) -> Result<(), Failure> {
        let length = (command.len() as u32).to_le_bytes();
        let packet = [&length[..HEAD - 1], &[0], command].concat();
        self.watch.ask(&packet);
        Ok(self.wire.write_all(&packet).map_err(mysql::Error::from)?)
    }

    /// Reads an answer; `known` are the columns that the statement had when it was prepared.
    fn answer(&mut self, known: &Arc<[Column]>) -> Result<Answer, Failure> {
        let head = self.packet()?;
        let head = &self.received[head];
        if head[0] == OK {
            let changed = number(&head[1..]).map_or(0, |(changed, _)| changed);
            return self.complete(Answer { changed, ..Answer::default() });
        }
        if head[0] == LOCAL_FILE {
            return Err(misread("a request for a file of this host"));
        }
        let (count, rest) = number(head).ok_or_else(|| misread("a result without a number of columns"))?;
        // MariaDB leaves out descriptions that the client has.
        let columns = if rest == [0] { Arc::clone(known) } else { self.columns(count)? };
        self.packet()?;
        let mut answer = Answer::default();
        loop {
            let packet = self.packet()?;
            let packet = &self.received[packet];
            if packet[0] == EOF {
                return self.complete(answer);
            }
            let row = ParseBuf(packet).parse::<RowDeserializer<ServerSide, Binary>>(Arc::clone(&columns));
            answer.rows.push(row.map_err(|_| misread("a row that cannot be read"))?.into_inner());
        }
    }

    fn columns(&mut self, count: u64) -> Result<Arc<[Column]>, Failure> {
        let mut columns = Vec::new();
        for _ in 0..count {
            let packet = self.packet()?;
            let column = ParseBuf(&self.received[packet]).parse::<Column>(());
            columns.push(column.map_err(|_| misread("a column that cannot be read"))?);
        }
        Ok(columns.into())
    }

    fn complete(&self, answer: Answer) -> Result<Answer, Failure> {
        if self.watch.awaits() { Err(misread("more results than one")) } else { Ok(answer) }
    }

    /// The place of the next packet's contents in `received`; an error that the server sent is one here.
    fn packet(&mut self) -> Result<Range<usize>, Failure> {
        loop {
            if let Some(head) = self.received[self.read..].first_chunk::<HEAD>() {
                let (begin, length) = (self.read + HEAD, length_of(*head));
                if !self.is_begun {
                    self.watch.check_length(length).map_err(|what| relay::sent(&what))?;
                    self.is_begun = true;
                }
                if let Some(payload) = self.received.get(begin..begin + length) {
                    (self.read, self.is_begun) = (begin + length, false);
                    self.watch.check(payload).map_err(|what| relay::sent(&what))?;
                    return if payload[0] == ERROR { Err(refusal(payload).into()) } else { Ok(begin..begin + length) };
                }
            }
            self.receive().map_err(mysql::Error::from)?;
        }
    }

    fn receive(&mut self) -> io::Result<()> {
        self.received.drain(..self.read);
        self.read = 0;
        let before = self.received.len();
        let is_open = self.wire.read_into(&mut self.received, &mut self.part)?;
        if is_open || self.received.len() > before { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

impl Drop for Direct {
    /// A server without a client logs an error.
    fn drop(&mut self) {
        let _ = self.ask(&[Command::COM_QUIT as u8]);
    }
}

fn misread(what: &str) -> Failure {
    no_mysql(&format!(" (it sent {what})")).into()
}

/// A code (2 bytes), `#` and a state (5), and a text.
fn refusal(payload: &[u8]) -> mysql::Error {
    let code = payload.get(1..3).map_or(0, |code| u16::from_le_bytes([code[0], code[1]]));
    let text = payload.get(3..).unwrap_or_default();
    let (state, text) = match text.split_at_checked(6) {
        Some(([b'#', state @ ..], text)) => (state, text),
        _ => (&b"HY000"[..], text),
    };
    let [state, message] = [state, text].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    MySqlError { state, message, code }.into()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    const WITHIN: Duration = Duration::from_secs(10);

    /// The result of a query if the server answers with `says` and closes.
    fn answered(says: &[u8]) -> Result<(), Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut client = listener.accept().unwrap().0;
                client.read_exact(&mut [0; HEAD + 2]).unwrap();
                let _ = client.write_all(says);
            });
            Direct::new(Wire::to_addresses([address].into_iter(), WITHIN).unwrap()).query_drop("x")
        })
    }

    fn packets(payloads: &[&[u8]]) -> Vec<u8> {
        let packet = |payload: &&[u8]| [&(payload.len() as u32).to_le_bytes()[..3], &[1], payload].concat();
        payloads.iter().flat_map(packet).collect()
    }

    #[test]
    fn a_measuring_session_refuses_what_a_server_may_not_send() {
        let column = [b"\x03def\0\0\0\x01c\0\x0c\x2d\0\xff\0\0\0".as_slice(), &[8, 0, 0, 0, 0, 0]].concat();
        let (eof, ok) = (&[EOF, 0, 0, 2, 0][..], &[OK, 0, 0, 2, 0, 0, 0][..]);
        let row = &[0, 0, 7, 0, 0, 0, 0, 0, 0, 0][..];
        assert!(answered(&packets(&[ok])).is_ok());
        assert!(answered(&packets(&[&[1], &column, eof, row, eof])).is_ok());
        for (says, words) in [
            (packets(&[&[0xfe, 0, 0, 0, 0, 0, 0, 0, 64]]), "a number of 8 bytes"),
            (packets(&[&[0xfd, 255, 255, 255]]), "16777215 columns"),
            (packets(&[b"\xfb/etc/passwd"]), "a file of this host"),
            (packets(&[b""]), "an empty packet"),
            (packets(&[&[3], b"x"]), "a column that cannot be read"),
            (packets(&[&[1], &column, eof, b"\0"]), "a row that cannot be read"),
            (packets(&[&[0xfc, 1]]), "without a number of columns"),
            (packets(&[&[1], &column, eof, row, &[EOF, 0, 0, 8, 0]]), "more results than one"),
            (packets(&[b"\xff\x15\x04#28000no\n\x1b[2Jway"]), "[1045]"),
            (packets(&[b"\xff\x10"]), "[0]"),
            (vec![255, 255, 255, 1, 1], "16777215 bytes"),
            (packets(&[&[1], &column, eof]), "went away"),
            (Vec::new(), "went away"),
        ] {
            let line = answered(&says).unwrap_err().at("session 1").to_string();
            assert!(line.contains(words) && !line.chars().any(char::is_control), "{words}: {line}");
        }
        let rows = packets(&[&[row, &vec![0; 1 << 20][..]].concat()]).repeat(64);
        let line = answered(&[packets(&[&[1], &column, eof]), rows].concat()).unwrap_err().at("session 1").to_string();
        assert!(line.contains("an answer of more than 64 MiB"), "{line}");
    }
}
