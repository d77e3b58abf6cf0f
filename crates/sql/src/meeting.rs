//! Ranks that meet in a table of the namespace: plain rows, each call complete statements as text, nothing that belongs to a
//! connection or is prepared. So a pooler between them and the server does no harm.

use std::fmt::Write as _;
use std::time::Duration;

use mindful_core::ranks::rendezvous::{PeerRow, RETENTION, RankRow, Rendezvous};
use mindful_core::{Error, Result};

/// The place of rows instead of a chunk's number, and of all ranks instead of one.
const NONE: i64 = -1;

/// The statements of a kind of server. They have values as `{{name}}`: texts and bytes as hexadecimal digits, so that
/// nothing in them means anything to the server.
pub struct Dialect {
    /// Before and after the digits of a text, and of bytes.
    pub text: [&'static str; 2],
    pub bytes: [&'static str; 2],
    pub now: &'static str,
    pub tidy: &'static str,
    /// Take the place of a rank, if no other process holds it.
    pub join: &'static [&'static str],
    pub post: &'static str,
    pub look: &'static str,
    pub send: &'static str,
    pub take: &'static str,
    pub clear: &'static str,
}

/// The rows that a statement returned, each value as text, and the number of rows that it changed.
#[derive(Debug, Default)]
pub struct Answer {
    pub rows: Vec<Vec<String>>,
    pub changed: u64,
}

pub trait Server: Send + Sync {
    /// See [`Rendezvous::prepare`].
    fn prepare(&self) -> Result<()>;

    /// Runs a statement; `what` names the activity in messages.
    fn run(&self, what: &str, sql: &str) -> Result<Answer>;

    /// See [`Rendezvous::abort`].
    fn abort(&self);
}

pub struct TableRendezvous<S> {
    pub server: S,
    pub dialect: Dialect,
    /// The name of the table in messages.
    pub place: String,
}

#[derive(Clone, Copy)]
enum Value<'a> {
    Number(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}
use Value::{Bytes, Number, Text};

impl<S: Server> TableRendezvous<S> {
    fn ask(&self, what: &str, template: &str, values: &[(&str, Value<'_>)]) -> Result<Answer> {
        let literal = |value| match value {
            Number(number) => number.to_string(),
            Text(text) => digits(self.dialect.text, text.as_bytes()),
            Bytes(bytes) => digits(self.dialect.bytes, bytes),
        };
        let fill = |sql: String, (name, value): &(&str, _)| sql.replace(&format!("{{{{{name}}}}}"), &literal(*value));
        self.server.run(what, &values.iter().fold(template.to_owned(), fill))
    }

    fn ask_of_row(&self, what: &str, template: &str, job: &str, row: &RankRow, lease: Duration) -> Result<Answer> {
        let values = [
            ("job", Text(job)),
            ("rank", Number(row.rank.into())),
            ("token", Text(&row.token)),
            ("body", Text(&row.body)),
            ("lease_us", micros(lease)),
        ];
        self.ask(what, template, &values)
    }

    fn seen(&self, job: &str, rank: i64) -> Result<Vec<PeerRow>> {
        let what = "reading the rows of the ranks";
        let rows = self.ask(what, self.dialect.look, &[("job", Text(job)), ("rank", Number(rank))])?.rows;
        rows.into_iter().map(|row| peer(row).ok_or_else(|| misread("a row"))).collect()
    }
}

/// Rank, token, body, and 1 if the lease is over.
fn peer(row: Vec<String>) -> Option<PeerRow> {
    let [rank, token, body, expired] = <[String; 4]>::try_from(row).ok()?;
    Some(PeerRow { row: RankRow { rank: rank.parse().ok()?, token, body }, expired: expired != "0" })
}

fn misread(what: &str) -> Error {
    Error::target(format!("the server's answer about {what} cannot be read"), "report this with the server's version")
}

fn digits([before, behind]: [&str; 2], bytes: &[u8]) -> String {
    let mut text = before.to_owned();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text + behind
}

fn from_digits(text: &str) -> Option<Vec<u8>> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

fn micros(time: Duration) -> Value<'static> {
    Number(i64::try_from(time.as_micros()).unwrap_or(i64::MAX / 4))
}

impl<S: Server> Rendezvous for TableRendezvous<S> {
    fn location(&self) -> String {
        self.place.clone()
    }

    fn prepare(&self) -> Result<()> {
        self.server.prepare()
    }

    fn now_us(&self) -> Result<i64> {
        let rows = self.ask("reading the meeting's clock", self.dialect.now, &[])?.rows;
        rows.first().and_then(|row| row.first()?.parse().ok()).ok_or_else(|| misread("its time"))
    }

    fn claim_rank(&self, job: &str, row: &RankRow, lease: Duration) -> Result<Option<RankRow>> {
        self.ask("tidying the place to meet", self.dialect.tidy, &[("kept_us", micros(RETENTION))])?;
        for statement in self.dialect.join {
            self.ask_of_row("joining the others", statement, job, row, lease)?;
        }
        let holds = self.read_row(job, row.rank)?.map(|seen| seen.row);
        Ok(holds.filter(|holds| holds.token != row.token))
    }

    fn update_row(&self, job: &str, row: &RankRow, lease: Duration) -> Result<bool> {
        Ok(self.ask_of_row("publishing to the other ranks", self.dialect.post, job, row, lease)?.changed > 0)
    }

    fn read_rows(&self, job: &str) -> Result<Vec<PeerRow>> {
        self.seen(job, NONE)
    }

    fn read_row(&self, job: &str, rank: u32) -> Result<Option<PeerRow>> {
        Ok(self.seen(job, rank.into())?.pop())
    }

    fn write_chunk(&self, job: &str, rank: u32, chunk: u32, bytes: &[u8]) -> Result<()> {
        let of = [("job", Text(job)), ("rank", Number(rank.into())), ("chunk", Number(chunk.into()))];
        let values = [&of[..], &[("bytes", Bytes(bytes))]].concat();
        self.ask("publishing the measurements", self.dialect.send, &values).map(drop)
    }

    fn read_chunk(&self, job: &str, rank: u32, chunk: u32) -> Result<Option<Vec<u8>>> {
        let of = [("job", Text(job)), ("rank", Number(rank.into())), ("chunk", Number(chunk.into()))];
        let rows = self.ask("reading the measurements", self.dialect.take, &of)?.rows;
        let found = rows.first().map(|row| row.first().and_then(|text| from_digits(text)));
        found.map(|bytes| bytes.ok_or_else(|| misread("a chunk"))).transpose()
    }

    fn remove_rows(&self, job: &str, rank: Option<u32>) -> Result<()> {
        let values = [("job", Text(job)), ("rank", Number(rank.map_or(NONE, i64::from)))];
        self.ask("clearing the place to meet", self.dialect.clear, &values).map(drop)
    }

    fn abort(&self) {
        self.server.abort();
    }
}
