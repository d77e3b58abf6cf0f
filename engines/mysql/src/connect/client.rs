//! A connection to a server: statements, and their answers packet by packet.
//!
//! `mysql_common` reads and writes the contents of packets. The driver `mysql` around it was rejected. It does not accept a
//! stream of ours and has no limits: it reserves memory for as many columns as a result announces. It needed a relay in
//! this process, with threads of its own, and a measuring session had to do without both.

use std::sync::Arc;
use std::time::Duration;

use mysql_common::constants::Command;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{Column, ComStmtClose, ComStmtExecuteRequestBuilder, StmtPacket};
use mysql_common::params::Params;
use mysql_common::prelude::FromRow;
use mysql_common::proto::{Binary, MyDeserialize, MySerialize, Text};
use mysql_common::row::convert::from_row_opt;
use mysql_common::row::{Row, RowDeserializer};
use mysql_common::value::{ServerSide, Value};
use socket2::Socket;

use super::packets::{EOF, OK, Packets, Waiting, misread};
use crate::error::Failure;

/// Columns of a table, which no result of mindful's exceeds.
const COLUMNS: u64 = 4096;

/// A request for a file of the client, in the place of a result.
const LOCAL_FILE: u8 = 0xfb;
const MORE_RESULTS: u8 = 8;

pub(crate) struct Conn {
    packets: Packets,
    /// The server's number of this connection.
    id: u32,
    /// An answer is incomplete: another statement would read its rest.
    awaits: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Statement {
    id: u32,
    columns: Arc<[Column]>,
}

#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) rows: Vec<Row>,
    /// Number of rows that the statement changed.
    pub(crate) changed: u64,
}

impl Conn {
    /// The connection that the server calls `id`, and to which the client is let in.
    pub(super) fn new(packets: Packets, id: u32) -> Self {
        Self { packets, id, awaits: false }
    }

    pub(crate) fn connection_id(&self) -> u32 {
        self.id
    }

    pub(super) fn socket(&self) -> &Arc<Socket> {
        self.packets.socket()
    }

    /// Awaits answers like this from now on; without it they may take any time.
    pub(super) fn wait(&mut self, waiting: Option<Waiting>) -> Result<(), Failure> {
        Ok(self.packets.wait(waiting).map(drop)?)
    }

    /// Lets an answer take this time.
    pub(crate) fn set_limit(&mut self, limit: Duration) {
        self.packets.set_limit(limit);
    }

    /// Whether the server still answers here, within this time.
    pub(super) fn answers(&mut self, within: Duration) -> bool {
        let Ok(usual) = self.packets.wait(Some(Waiting { limit: within, probe: None })) else { return false };
        let answered = self.ask(Command::COM_PING, b"").and_then(|()| self.answer::<Text>(&Arc::default()));
        answered.is_ok() && self.packets.wait(usual).is_ok()
    }

    pub(crate) fn query_drop(&mut self, sql: impl AsRef<str>) -> Result<(), Failure> {
        self.query_answer(sql.as_ref()).map(drop)
    }

    pub(crate) fn query<T: FromRow>(&mut self, sql: impl AsRef<str>) -> Result<Vec<T>, Failure> {
        self.query_answer(sql.as_ref())?.rows.into_iter().map(converted).collect()
    }

    pub(crate) fn query_first<T: FromRow>(&mut self, sql: impl AsRef<str>) -> Result<Option<T>, Failure> {
        self.query_answer(sql.as_ref())?.rows.into_iter().next().map(converted).transpose()
    }

    /// The answer to a statement as text.
    pub(crate) fn query_answer(&mut self, sql: &str) -> Result<Answer, Failure> {
        self.ask(Command::COM_QUERY, sql.as_bytes())?;
        self.answer::<Text>(&Arc::default())
    }

    /// Runs a statement with parameters.
    pub(crate) fn exec<T: FromRow>(&mut self, sql: &str, params: impl Into<Params>) -> Result<Vec<T>, Failure> {
        let statement = self.prep(sql)?;
        let answer = self.execute(&statement, &params.into().into_values(None).unwrap_or_default());
        let closed = self.close(&statement);
        let rows = answer?.rows;
        closed?;
        rows.into_iter().map(converted).collect()
    }

    pub(crate) fn exec_first<T: FromRow>(
        &mut self,
        sql: &str,
        params: impl Into<Params>,
    ) -> Result<Option<T>, Failure> {
        Ok(self.exec(sql, params)?.into_iter().next())
    }

    pub(crate) fn exec_drop(&mut self, sql: &str, params: impl Into<Params>) -> Result<(), Failure> {
        self.exec::<Row>(sql, params).map(drop)
    }

    pub(crate) fn prep(&mut self, sql: impl AsRef<str>) -> Result<Statement, Failure> {
        self.ask(Command::COM_STMT_PREPARE, sql.as_ref().as_bytes())?;
        let prepared = ParseBuf(self.read_packet()?).parse::<StmtPacket>(());
        let prepared = prepared.map_err(|_| misread("a statement that cannot be read"))?;
        self.columns(prepared.num_params().into())?;
        let columns = self.columns(prepared.num_columns().into())?;
        self.awaits = false;
        Ok(Statement { id: prepared.statement_id(), columns })
    }

    /// Frees `statement` on the server, which does not answer that.
    pub(crate) fn close(&mut self, statement: &Statement) -> Result<(), Failure> {
        if self.awaits { Ok(()) } else { self.packets.ask(&serialized(&ComStmtClose::new(statement.id))) }
    }

    pub(crate) fn execute(&mut self, statement: &Statement, params: &[Value]) -> Result<Answer, Failure> {
        let (request, _) = ComStmtExecuteRequestBuilder::new(statement.id).build(params);
        self.ask_with(&serialized(&request))?;
        self.answer::<Binary>(&statement.columns)
    }

    /// Runs a statement that reads a file of the client: the parts that `fill` writes until it writes nothing.
    pub(crate) fn load(&mut self, sql: &str, mut fill: impl FnMut(&mut Vec<u8>)) -> Result<(), Failure> {
        self.ask(Command::COM_QUERY, sql.as_bytes())?;
        if self.read_packet()?[0] != LOCAL_FILE {
            return Err(misread("no request for the rows"));
        }
        let mut part = Vec::new();
        loop {
            part.clear();
            fill(&mut part);
            self.packets.send(&part)?;
            if part.is_empty() {
                return self.answer::<Text>(&Arc::default()).map(drop);
            }
        }
    }

    fn ask(&mut self, command: Command, text: &[u8]) -> Result<(), Failure> {
        self.ask_with(&[&[command as u8], text].concat())
    }

    fn ask_with(&mut self, command: &[u8]) -> Result<(), Failure> {
        if std::mem::replace(&mut self.awaits, true) {
            return Err(misread("an answer that was not read to its end"));
        }
        self.packets.ask(command)
    }

    fn read_packet(&mut self) -> Result<&[u8], Failure> {
        let packet = self.packets.read_packet();
        self.awaits &= !matches!(packet, Err(Failure::Refused { .. }));
        packet
    }

    /// Reads an answer; `known` are the columns that the statement had when it was prepared.
    fn answer<P>(&mut self, known: &Arc<[Column]>) -> Result<Answer, Failure>
    where
        RowDeserializer<ServerSide, P>: for<'de> MyDeserialize<'de, Ctx = Arc<[Column]>>,
    {
        let mut head = ParseBuf(self.read_packet()?);
        if head.0[0] == OK {
            head.skip(1);
            let (changed, _) = (head.checked_eat_lenenc_int().unwrap_or(0), head.checked_eat_lenenc_int());
            let status = head.0.first().copied();
            return self.complete(status, Answer { changed, ..Answer::default() });
        }
        if head.0[0] == LOCAL_FILE {
            return Err(misread("a request for a file of this host"));
        }
        let count = head.checked_eat_lenenc_int().ok_or_else(|| misread("a result without a number of columns"))?;
        let columns = if head.0 == [0] {
            // MariaDB leaves out descriptions that the client has.
            self.read_packet()?;
            Arc::clone(known)
        } else {
            self.columns(count)?
        };
        let mut answer = Answer::default();
        loop {
            let packet = self.read_packet()?;
            if let [EOF, rest @ ..] = packet
                && rest.len() < 8
            {
                let status = rest.get(2).copied();
                return self.complete(status, answer);
            }
            let row = ParseBuf(packet).parse::<RowDeserializer<ServerSide, P>>(Arc::clone(&columns));
            answer.rows.push(row.map_err(|_| misread("a row that cannot be read"))?.into_inner());
        }
    }

    /// Reads the descriptions of `count` columns or parameters, and the end of them.
    fn columns(&mut self, count: u64) -> Result<Arc<[Column]>, Failure> {
        if count > COLUMNS {
            return Err(misread(&format!("a result of {count} columns, more than {COLUMNS}")));
        }
        let mut columns = Vec::new();
        for _ in 0..count {
            let column = ParseBuf(self.read_packet()?).parse::<Column>(());
            columns.push(column.map_err(|_| misread("a column that cannot be read"))?);
        }
        if count > 0 {
            self.read_packet()?;
        }
        Ok(columns.into())
    }

    /// The answer, which ended with the low byte of a status.
    fn complete(&mut self, status: Option<u8>, answer: Answer) -> Result<Answer, Failure> {
        if status.is_some_and(|status| status & MORE_RESULTS != 0) {
            return Err(misread("more results than one"));
        }
        self.awaits = false;
        Ok(answer)
    }
}

impl Drop for Conn {
    /// A server without a client logs an error.
    fn drop(&mut self) {
        let _ = self.packets.ask(&[Command::COM_QUIT as u8]);
    }
}

pub(super) fn serialized(packet: &impl MySerialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.serialize(&mut bytes);
    bytes
}

fn converted<T: FromRow>(row: Row) -> Result<T, Failure> {
    from_row_opt(row).map_err(|_| misread("a row of other values"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::super::wire::Wire;
    use super::*;

    const END: &[u8] = &[EOF, 0, 0, 2, 0];
    const ACCEPTED: &[u8] = &[OK, 0, 0, 2, 0, 0, 0];

    fn column() -> Vec<u8> {
        [b"\x03def\0\0\0\x01c\0\x0c\x2d\0\xff\0\0\0".as_slice(), &[253, 0, 0, 0, 0, 0]].concat()
    }

    /// The result of `work` on the packets of a server that says this and closes.
    fn at_server<T>(says: &[u8], work: impl FnOnce(Packets) -> T) -> T {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut client = listener.accept().unwrap().0;
                let _ = client.write_all(says);
                let _ = client.shutdown(std::net::Shutdown::Write);
                let _ = client.read_to_end(&mut Vec::new());
            });
            let wire = Wire::to_addresses([address].into_iter(), Duration::from_secs(10)).unwrap();
            work(Packets::new(wire, Duration::from_secs(10)).unwrap())
        })
    }

    /// The result of a query of a session that is let in and measures.
    fn answered(says: &[u8]) -> Result<Answer, Failure> {
        at_server(says, |mut packets| {
            packets.let_in();
            let mut conn = Conn::new(packets, 7);
            conn.wait(None).unwrap();
            let answer = conn.query_answer("x");
            // Nothing of an incomplete answer is taken for the next one.
            let is_refused = answer.as_ref().err().is_some_and(|failure| failure.code().is_some());
            assert_eq!(conn.awaits, answer.is_err() && !is_refused);
            assert!(!conn.awaits || matches!(conn.query_drop("y"), Err(Failure::Io(_))));
            answer
        })
    }

    fn numbered(first: u8, payloads: &[&[u8]]) -> Vec<u8> {
        let mut number = first.wrapping_sub(1);
        let packet = |payload: &&[u8]| {
            number = number.wrapping_add(1);
            [&(payload.len() as u32).to_le_bytes()[..3], &[number], payload].concat()
        };
        payloads.iter().flat_map(packet).collect()
    }

    fn packets(payloads: &[&[u8]]) -> Vec<u8> {
        numbered(1, payloads)
    }

    fn refused(says: &[u8], words: &str) {
        let line = answered(says).unwrap_err().at("session 1").to_string();
        assert!(line.starts_with("session 1: ") && line.contains(words), "{words}: {line}");
        assert!(!line.chars().any(char::is_control), "{line}");
    }

    #[test]
    fn a_measuring_session_refuses_what_a_server_may_not_send() {
        let column = column();
        assert!(answered(&packets(&[ACCEPTED])).is_ok());
        assert_eq!(answered(&packets(&[&[1], &column, END, b"\x01x", b"\xfb", END])).unwrap().rows.len(), 2);
        for (says, words) in [
            (packets(&[b"\xfb/etc/passwd"]), "a file of this host"),
            (packets(&[b""]), "an empty packet"),
            (packets(&[&[3], b"x"]), "a column that cannot be read"),
            (packets(&[&[1], &column, END, b"\x09x"]), "a row that cannot be read"),
            (packets(&[&[1], &column, END, &[0xfe; 9]]), "a row that cannot be read"),
            (packets(&[&[0xfc, 1]]), "without a number of columns"),
            (packets(&[b"\xff\x15\x04#28000no\n\x1b[2Jway"]), "no [2Jway [1045]"),
            (packets(&[b"\xff\x10"]), "[0]"),
            (numbered(3, &[ACCEPTED]), "packet 3 instead of 1"),
            // It ended the connection before it received the command.
            (numbered(0, &[b"\xff\xbf\x0f#HY000idle for too long"]), "[4031]: let wait_timeout be longer"),
            (vec![255, 255, 255, 1, 1], "16777215 bytes"),
            (packets(&[&[1], &column, END]), "went away"),
            (Vec::new(), "went away"),
        ] {
            refused(&says, words);
        }
        let row = vec![1; 1 << 20];
        let many = [&[&[1][..], &column, END], &[row.as_slice(); 64][..]].concat();
        refused(&packets(&many), "an answer of more than 64 MiB");
    }

    #[test]
    fn a_result_of_more_columns_than_any_is_refused() {
        for head in [&[0xfc, 1, 16][..], &[0xfd, 0, 0, 1], &[0xfe, 0, 0, 0, 0, 0, 0, 0, 64]] {
            refused(&packets(&[head]), "columns, more than 4096");
        }
        refused(&packets(&[&[0xfc, 0, 16]]), "went away");
    }

    #[test]
    fn the_next_result_of_an_answer_is_checked_as_the_first() {
        let many = &[0xfd, 0, 0, 1][..];
        refused(&packets(&[&[1], &column(), END, b"\x01x", &[EOF, 0, 0, MORE_RESULTS, 0], many]), "more results");
        refused(&packets(&[&[OK, 0, 0, MORE_RESULTS, 0], many]), "more results");
    }

    #[test]
    fn a_client_that_is_not_let_in_takes_little() {
        let until_refused = |length| {
            at_server(&numbered(0, &[vec![1; length].as_slice(); 20]), |mut packets| {
                let read = |taken| Some((taken, packets.read_packet().err()?.at("me@db").what));
                (0..).find_map(read).unwrap()
            })
        };
        let (taken, why) = until_refused(64 << 10);
        assert!(taken == 15 && why.contains("more than 1 MiB before the login ended"), "{taken}: {why}");
        let (taken, why) = until_refused((64 << 10) + 1);
        assert!(taken == 0 && why.contains("a packet of 65537 bytes, more than 65536"), "{taken}: {why}");
    }
}
