//! Limits of a server's messages: for a message, for the login, for parameters and for an answer.
//!
//! The driver reads a message of any announced length, keeps all rows of an answer and all parameters, and queries the
//! catalogue about each unknown type. This stream is between driver and socket, inside TLS. It parses the messages as
//! they pass, copies only the small ones that it inspects, and fails at the first one beyond a limit. A driver of our
//! own was rejected: this one is maintained by others.

use std::cell::Cell;
use std::collections::HashSet;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsStream};
use tokio_postgres::types::Type;

use super::require_auth::Methods;

/// Longest message before the first session is ready, and longest one that describes something, bytes.
const SMALL: usize = 64 << 10;
/// Longest of all other messages, bytes.
const LARGE: usize = 16 << 20;
/// All that a server sends until it lets a client in, bytes.
const LOGIN: usize = 1 << 20;
/// All messages of an answer, bytes.
const ANSWER: usize = 64 << 20;
/// Bytes that the driver keeps for a message in addition to its contents.
const KEPT: usize = 128;
/// Parameters that a server reports; PostgreSQL has about 15.
const PARAMETERS: usize = 256;

/// Rounds of SCRAM, which this side computes; PostgreSQL's default is 4096.
const ROUNDS: u64 = 1_000_000;
/// SCRAM's second message, which contains the number of rounds.
const SASL_CONTINUE: u32 = 11;

/// Tag and length.
const HEAD: usize = 5;

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum Beyond {
    #[error("a message `{tag}` of {bytes} bytes, more than {limit}")]
    Message { tag: char, bytes: usize, limit: usize },
    #[error("a message `{tag}` of an impossible length")]
    Length { tag: char },
    #[error("more than {0} MiB before the login ended")]
    Login(usize),
    #[error("an answer of more than {0} MiB")]
    Answer(usize),
    #[error("more than {PARAMETERS} parameters")]
    Parameters,
    #[error("a value of type {0}, which PostgreSQL does not have")]
    Type(u32),
    #[error("a demand for {0} rounds of SCRAM, more than {ROUNDS}")]
    Rounds(u64),
    /// The server requires a login method that the user excluded.
    #[error("a request for `{0}`")]
    Method(&'static str),
}

pub(super) trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Duplex for S {}

pub(super) struct Limited {
    stream: Box<dyn Duplex>,
    binding: Cell<Option<ChannelBinding>>,
    watch: Watch,
}

impl Limited {
    pub(super) fn new(stream: Box<dyn Duplex>, binding: ChannelBinding, methods: Methods) -> Self {
        Self { stream, binding: Cell::new(Some(binding)), watch: Watch::new(methods) }
    }
}

impl TlsStream for Limited {
    fn channel_binding(&self) -> ChannelBinding {
        self.binding.take().unwrap_or_else(ChannelBinding::none)
    }
}

impl AsyncRead for Limited {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, into))?;
        let seen = self.watch.see(&into.filled()[before..]);
        Poll::Ready(seen.map_err(|beyond| {
            into.set_filled(before);
            io::Error::new(io::ErrorKind::InvalidData, beyond)
        }))
    }
}

impl AsyncWrite for Limited {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

struct Watch {
    methods: Methods,
    /// No session is ready yet.
    login: bool,
    head: [u8; HEAD],
    known: usize,
    left: usize,
    /// The body of an inspected message.
    body: Vec<u8>,
    answer: usize,
    parameters: HashSet<Vec<u8>>,
}

impl Watch {
    fn new(methods: Methods) -> Self {
        let (head, parameters) = ([0; HEAD], HashSet::new());
        Self { methods, login: true, head, known: 0, left: 0, body: Vec::new(), answer: 0, parameters }
    }

    fn see(&mut self, mut bytes: &[u8]) -> Result<(), Beyond> {
        while !bytes.is_empty() {
            let wanted = if self.known < HEAD { HEAD - self.known } else { self.left };
            let (taken, rest) = bytes.split_at(wanted.min(bytes.len()));
            bytes = rest;
            if self.known < HEAD {
                self.head[self.known..self.known + taken.len()].copy_from_slice(taken);
                self.known += taken.len();
                if self.known == HEAD {
                    self.begin()?;
                }
            } else {
                self.left -= taken.len();
                if self.is_looked_into() {
                    self.body.extend_from_slice(taken);
                }
            }
            if self.known == HEAD && self.left == 0 {
                self.end()?;
                self.body.clear();
                self.known = 0;
            }
        }
        Ok(())
    }

    fn is_looked_into(&self) -> bool {
        matches!(self.head[0], b'S' | b'T' | b't') || (self.login && self.head[0] == b'R')
    }

    fn begin(&mut self) -> Result<(), Beyond> {
        let [tag, length @ ..] = self.head;
        let tag = tag as char;
        let body = i32::from_be_bytes(length).checked_sub(4).and_then(|body| usize::try_from(body).ok());
        let bytes = body.ok_or(Beyond::Length { tag })?;
        let limit = if self.login || self.is_looked_into() { SMALL } else { LARGE };
        if bytes > limit {
            return Err(Beyond::Message { tag, bytes, limit });
        }
        self.left = bytes;
        self.answer += bytes + KEPT;
        match self.login {
            true if self.answer > LOGIN => Err(Beyond::Login(LOGIN >> 20)),
            false if self.answer > ANSWER => Err(Beyond::Answer(ANSWER >> 20)),
            _ => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), Beyond> {
        match self.head[0] {
            b'Z' => {
                self.login = false;
                self.answer = 0;
                Ok(())
            }
            b'R' if self.login => {
                few_rounds(&self.body)?;
                self.methods.check(&self.body).map_err(Beyond::Method)
            }
            b'S' => {
                let name = self.body.split(|byte| *byte == 0).next().unwrap_or_default();
                self.parameters.insert(name.to_owned());
                if self.parameters.len() > PARAMETERS { Err(Beyond::Parameters) } else { Ok(()) }
            }
            b'T' => known_types(column_types(&self.body)),
            b't' => known_types(self.body.get(2..).unwrap_or_default().chunks_exact(4).map(number)),
            _ => Ok(()),
        }
    }
}

fn few_rounds(request: &[u8]) -> Result<(), Beyond> {
    let Some((kind, attributes)) = request.split_first_chunk::<4>() else { return Ok(()) };
    if u32::from_be_bytes(*kind) != SASL_CONTINUE {
        return Ok(());
    }
    let rounds = attributes.split(|byte| *byte == b',').filter_map(|attribute| attribute.strip_prefix(b"i="));
    let rounds = rounds.map(|digits| {
        digits
            .iter()
            .fold(0, |number: u64, digit| number.saturating_mul(10).saturating_add(u64::from(digit.wrapping_sub(b'0'))))
    });
    rounds.max().filter(|rounds| *rounds > ROUNDS).map_or(Ok(()), |rounds| Err(Beyond::Rounds(rounds)))
}

/// mindful reads and sends nothing but types that every server has.
fn known_types(mut types: impl Iterator<Item = u32>) -> Result<(), Beyond> {
    types.find(|oid| Type::from_oid(*oid).is_none()).map_or(Ok(()), |oid| Err(Beyond::Type(oid)))
}

/// Of each column: a name, its end, table (4 bytes), number (2), type (4), length (2), modifier (4), format (2).
fn column_types(body: &[u8]) -> impl Iterator<Item = u32> {
    let mut rest = body.get(2..).unwrap_or_default();
    std::iter::from_fn(move || {
        let name = rest.iter().position(|byte| *byte == 0)?;
        let column = rest.get(name + 1..name + 19)?;
        rest = &rest[name + 19..];
        Some(number(&column[6..10]))
    })
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[tag], &length[..], body].concat()
    }

    fn ready() -> Watch {
        let mut watch = Watch::new(Methods::ANY);
        watch.see(&[message(b'R', &[0; 4]), message(b'Z', b"I")].concat()).unwrap();
        watch
    }

    #[test]
    fn messages_are_followed_however_they_are_cut() {
        let row = [message(b'D', &[7; 300]), message(b'Z', b"I")].concat();
        let long = [message(b'C', b"SELECT 1\0"), row.clone(), row, vec![b'D', 127, 0, 0, 0]].concat();
        for part in 1..long.len() {
            let mut watch = ready();
            let seen: Result<Vec<()>, Beyond> = long.chunks(part).map(|bytes| watch.see(bytes)).collect();
            let bytes = (127 << 24) - 4;
            assert_eq!(seen.unwrap_err(), Beyond::Message { tag: 'D', bytes, limit: LARGE }, "{part}");
        }
    }

    #[test]
    fn limits_are_those_of_the_login_until_a_session_is_ready() {
        let notice = message(b'N', &vec![b'x'; SMALL]);
        let mut watch = Watch::new(Methods::ANY);
        assert_eq!((0..16).find(|_| watch.see(&notice).is_err()), Some(15));
        let longer = message(b'E', &vec![b'x'; SMALL + 1]);
        assert!(Watch::new(Methods::ANY).see(&longer).is_err() && ready().see(&longer).is_ok());
    }

    #[test]
    fn an_answer_ends_when_the_server_is_ready_again() {
        let row = message(b'D', &vec![0; 8 << 20]);
        let mut watch = ready();
        for _ in 0..3 {
            (0..7).for_each(|_| watch.see(&row).unwrap());
            watch.see(&message(b'Z', b"I")).unwrap();
        }
        assert_eq!((0..9).find(|_| watch.see(&row).is_err()), Some(7));
    }

    #[test]
    fn a_type_that_only_a_catalogue_knows_is_refused() {
        let column = |oid: u32| [b"\0\x01c\0\0\0\0\0\0\0", &oid.to_be_bytes()[..], &[0; 8]].concat();
        assert_eq!(ready().see(&message(b'T', &column(20))), Ok(()));
        assert_eq!(ready().see(&message(b'T', &column(70_000))), Err(Beyond::Type(70_000)));
        assert_eq!(ready().see(&message(b't', &[0, 1, 0, 1, 0x11, 0x70])), Err(Beyond::Type(70_000)));
    }
}
