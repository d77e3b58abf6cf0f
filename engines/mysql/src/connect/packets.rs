//! The packets between a client and a server, each with its limits.
//!
//! A server, or something that answers in its place, is not trusted before or after the login: not with memory, and not
//! with time. While it is silent, another connection probes whether it answers others.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mindful_core::Result;
use rustls::ClientConfig;
use socket2::Socket;

use super::wire::Wire;
use crate::error::Failure;

/// Longest packet until a client is let in, bytes.
const SMALL: usize = 64 << 10;
/// All that a server sends until then, bytes.
const LOGIN: usize = 1 << 20;
/// Longest packet later, bytes: a longer one is continued by the next one.
pub(super) const LONGEST: usize = 0xff_fffe;
/// All packets of an answer, bytes.
const ANSWER: usize = 64 << 20;
/// Bytes of memory that a packet takes in addition to its contents.
const KEPT: usize = 128;

/// Bytes that are read at a time; a server sends as many at a time.
const PART: usize = 16 << 10;
/// A payload's length (3 bytes) and the packet's number.
const HEAD: usize = 4;

pub(super) const OK: u8 = 0x00;
pub(super) const EOF: u8 = 0xfe;
const ERROR: u8 = 0xff;

/// Number of failed probes before a silent server is abandoned.
const PROBES: u32 = 3;

/// How long an answer is awaited.
pub(super) struct Waiting {
    pub limit: Duration,
    pub probe: Option<Probe>,
}

/// How a server is probed that has been silent for a time: whether it answers another connection.
pub(super) struct Probe {
    pub after: Duration,
    pub answers_another: Box<dyn Fn() -> Result<()> + Send>,
}

pub(super) struct Packets {
    wire: Wire,
    is_let_in: bool,
    /// The number of the next packet, in either direction.
    number: u8,
    received: Vec<u8>,
    /// Bytes of `received` that belong to packets that were read.
    read: usize,
    /// The head of the packet that is being received has been checked.
    is_begun: bool,
    part: Vec<u8>,
    /// Bytes of the answer so far.
    answer: usize,
    asked: Instant,
    /// `None`: an answer may take any time.
    waiting: Option<Waiting>,
}

impl Packets {
    /// Those of a client that is not let in yet, and has to be `within` this time.
    pub(super) fn new(wire: Wire, within: Duration) -> io::Result<Self> {
        let mut packets = Self {
            wire,
            is_let_in: false,
            number: 0,
            received: Vec::new(),
            read: 0,
            is_begun: false,
            part: vec![0; PART],
            answer: 0,
            asked: Instant::now(),
            waiting: None,
        };
        packets.wait(Some(Waiting { limit: within, probe: None }))?;
        Ok(packets)
    }

    pub(super) fn let_in(&mut self) {
        self.is_let_in = true;
    }

    pub(super) fn socket(&self) -> &Arc<Socket> {
        self.wire.socket()
    }

    /// Awaits answers like this from now on; returns how it was.
    pub(super) fn wait(&mut self, waiting: Option<Waiting>) -> io::Result<Option<Waiting>> {
        let silence = |Waiting { limit, probe }: &Waiting| probe.as_ref().map_or(*limit, |probe| probe.after);
        self.socket().set_read_timeout(waiting.as_ref().map(silence))?;
        Ok(std::mem::replace(&mut self.waiting, waiting))
    }

    pub(super) fn set_limit(&mut self, limit: Duration) {
        self.waiting.iter_mut().for_each(|waiting| waiting.limit = limit);
    }

    /// Encrypts the connection, all of the login `within` its time.
    pub(super) fn encrypt(&mut self, config: &Arc<ClientConfig>, name: &str, within: Duration) -> Result<(), Failure> {
        if self.read < self.received.len() {
            // It would count as encrypted.
            return Err(misread("data between its greeting and TLS"));
        }
        Ok(self.wire.encrypt(config, name, self.asked + within)?)
    }

    /// Sends a command, which begins a new answer.
    pub(super) fn ask(&mut self, command: &[u8]) -> Result<(), Failure> {
        (self.number, self.answer) = (0, 0);
        if self.waiting.is_some() {
            self.asked = Instant::now();
        }
        self.send(command)
    }

    pub(super) fn send(&mut self, payload: &[u8]) -> Result<(), Failure> {
        if payload.len() > LONGEST {
            let what = format!("a statement of {} bytes, more than {LONGEST}", payload.len());
            return Err(io::Error::new(ErrorKind::InvalidInput, what).into());
        }
        let length = (payload.len() as u32).to_le_bytes();
        let packet = [&length[..HEAD - 1], &[self.number], payload].concat();
        self.number = self.number.wrapping_add(1);
        Ok(self.wire.write_all(&packet)?)
    }

    /// The contents of the next packet; an error that the server sent is one here.
    pub(super) fn read_packet(&mut self) -> Result<&[u8], Failure> {
        let packet = loop {
            if let Some(&[a, b, c, number]) = self.received[self.read..].first_chunk::<HEAD>() {
                let length = u32::from_le_bytes([a, b, c, 0]) as usize;
                if !self.is_begun {
                    self.check(length).map_err(|what| misread(&what))?;
                    self.is_begun = true;
                }
                let begin = self.read + HEAD;
                if self.received.len() >= begin + length {
                    (self.read, self.is_begun) = (begin + length, false);
                    self.count(number, self.received[begin])?;
                    break begin..begin + length;
                }
            }
            self.receive()?;
        };
        let packet = &self.received[packet];
        if packet[0] == ERROR { Err(refusal(packet)) } else { Ok(packet) }
    }

    /// Checks that the packet `number` is the next one. A server that ends a connection may have sent an error before it
    /// received the command.
    fn count(&mut self, number: u8, kind: u8) -> Result<(), Failure> {
        let is_early = self.is_let_in && kind == ERROR && number.wrapping_add(1) == self.number;
        if number != self.number && !is_early {
            return Err(misread(&format!("packet {number} instead of {}", self.number)));
        }
        self.number = number.wrapping_add(1);
        Ok(())
    }

    /// Checks the length of a packet.
    fn check(&mut self, length: usize) -> Result<(), String> {
        let longest = if self.is_let_in { LONGEST } else { SMALL };
        self.answer += length + KEPT;
        match length {
            0 => Err("an empty packet".to_owned()),
            _ if length > longest => Err(format!("a packet of {length} bytes, more than {longest}")),
            _ if !self.is_let_in && self.answer > LOGIN => Err("more than 1 MiB before the login ended".to_owned()),
            _ if self.answer > ANSWER => Err("an answer of more than 64 MiB".to_owned()),
            _ => Ok(()),
        }
    }

    /// Receives a part. While the server is silent it is probed by another connection.
    fn receive(&mut self) -> Result<(), Failure> {
        self.received.drain(..self.read);
        self.read = 0;
        let mut failed = 0;
        loop {
            let read = self.wire.read(&mut self.part);
            let is_silent = matches!(&read, Err(error) if error.kind() == ErrorKind::WouldBlock);
            if let Some(Waiting { limit, probe }) = &self.waiting {
                let is_over = self.asked.elapsed() >= *limit;
                match probe {
                    Some(_) if is_over => return Err(Failure::NotEnded(*limit)),
                    Some(probe) if is_silent => match (probe.answers_another)() {
                        Ok(()) => failed = 0,
                        Err(error) if failed + 1 == PROBES => return Err(Failure::Lost(error)),
                        Err(_) => failed += 1,
                    },
                    None if is_over => return Err(io::Error::from(ErrorKind::WouldBlock).into()),
                    _ => {}
                }
                if is_silent && probe.is_some() {
                    continue;
                }
            }
            match read {
                Ok(0) => return Err(io::Error::from(ErrorKind::UnexpectedEof).into()),
                Ok(length) => {
                    self.received.extend_from_slice(&self.part[..length]);
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

pub(super) fn misread(what: &str) -> Failure {
    io::Error::new(ErrorKind::InvalidData, format!("it sent {what}")).into()
}

/// A code (2 bytes), maybe `#` and a state (5), and a text.
fn refusal(payload: &[u8]) -> Failure {
    let code = payload.get(1..3).map_or(0, |code| u16::from_le_bytes([code[0], code[1]]));
    let text = payload.get(3..).unwrap_or_default();
    let text = text.strip_prefix(b"#").and_then(|text| text.get(5..)).unwrap_or(text);
    Failure::Refused { code, message: String::from_utf8_lossy(text).into_owned() }
}
