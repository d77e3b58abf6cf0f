//! Progress of a download.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use mindful_core::contract::event::{Event, Events};
use sha2::Digest;

const EVERY: Duration = Duration::from_millis(250);

/// Hashes and counts the data written through it, and reports the amount a few times a second.
pub(super) struct Progress<'a, W, D> {
    to: W,
    hash: D,
    what: String,
    done: u64,
    of: u64,
    last_event: Option<Instant>,
    events: &'a dyn Events,
}

impl<'a, W: Write, D: Digest> Progress<'a, W, D> {
    /// Into `to`; `of` bytes are expected, 0 when unknown.
    pub(super) fn new(to: W, what: String, of: u64, events: &'a dyn Events) -> Self {
        Self { to, hash: D::new(), what, done: 0, of, last_event: None, events }
    }

    /// Reports the end; returns the bytes that came and their hash in hexadecimal.
    pub(super) fn finish(mut self) -> (u64, String) {
        self.of = self.done;
        self.tell();
        (self.done, hex(&self.hash.finalize()))
    }

    fn tell(&mut self) {
        self.last_event = Some(Instant::now());
        self.events.emit(Event::Progress {
            what: self.what.clone(),
            done: self.done,
            of: self.of,
            unit: "bytes".to_owned(),
        });
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl<W: Write, D: Digest> Write for Progress<'_, W, D> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.done += written as u64;
        if self.last_event.is_none_or(|last_event| last_event.elapsed() >= EVERY) {
            self.tell();
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
