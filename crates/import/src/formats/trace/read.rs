//! Lines of a trace, one at a time.

use std::io::BufRead;

use mindful_core::{Error, Result};

use crate::input::cannot_read;
use crate::waits::Wait;

/// Longest line that is parsed: waits and calls are short, statements may be of any length.
const LONGEST: usize = 4096;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Call {
    pub cpu_us: u64,
    pub ela_us: u64,
    pub physical: u64,
    /// Blocks visited by consistent reads.
    pub consistent: u64,
    /// Blocks visited in their current state.
    pub current: u64,
    /// Depth of the call: 0 is a call of the client.
    pub depth: u64,
    /// When it ended, us on the trace's clock.
    pub tim_us: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Wait(Wait<'a>),
    /// The end of a call: `PARSE`, `EXEC`, `FETCH` or another.
    Call(&'a [u8], Call),
    /// A line of the head: `Oracle Database 12c …`, `Instance name: orcl21`.
    Head(&'a [u8]),
    /// The identity of a session: `409.215`.
    Session(&'a [u8]),
}

const LIMIT: &[u8] = b"*** DUMP FILE SIZE IS LIMITED";
const CALLS: [&[u8]; 6] = [b"WAIT #", b"PARSE #", b"EXEC #", b"FETCH #", b"CLOSE #", b"UNMAP #"];

/// Passes each known line of `input` to `add`; lines longer than any wait are skipped without being stored. Returns the
/// number of damaged lines: those with unreadable figures, and one for a trace that reached its limit of length.
///
/// # Errors
/// An unreadable input, or the trace of a release that counts in hundredths of a second, or may do so.
pub(super) fn lines(name: &str, input: &mut dyn BufRead, mut add: impl FnMut(Line<'_>)) -> Result<u64> {
    let (mut damaged, mut has_waits, mut in_us) = (0, false, false);
    let mut add = |line: Line<'_>| {
        match line {
            Line::Wait(wait) => {
                has_waits = true;
                in_us |= wait.tim_us.is_some();
            }
            Line::Head(head) => in_us |= memchr::memmem::find(head, b" Release ").is_some(),
            _ => {}
        }
        add(line);
    };
    // A line that lies across two buffers.
    let mut torn: Vec<u8> = Vec::with_capacity(LONGEST);
    loop {
        let buffer = input.fill_buf().map_err(|error| cannot_read(name, &error))?;
        if buffer.is_empty() {
            break;
        }
        let length = buffer.len();
        let mut rest = buffer;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if torn.is_empty() {
                damaged += u64::from(!parse(name, &rest[..end], &mut add)?);
            } else {
                keep(&mut torn, &rest[..end]);
                damaged += u64::from(!parse(name, &torn, &mut add)?);
                torn.clear();
            }
            rest = &rest[end + 1..];
        }
        keep(&mut torn, rest);
        input.consume(length);
    }
    if has_waits && !in_us {
        return Err(Error::run(
            format!("{name} shows no release and no time stamps of waits: its times may be hundredths of a second"),
            "give the trace with its head; mindful reads traces of 9.0 and later",
        ));
    }
    // A line without its end may lack digits of its last number.
    Ok(damaged + u64::from(has_figures(&torn)))
}

/// Adds to a torn line as much as can be parsed.
fn keep(torn: &mut Vec<u8>, part: &[u8]) {
    let room = (LONGEST + 1).saturating_sub(torn.len()).min(part.len());
    torn.extend_from_slice(&part[..room]);
}

/// Whether a line has figures, readable or not. A line without its begin still has the name of its event.
fn has_figures(line: &[u8]) -> bool {
    CALLS.iter().any(|begin| line.starts_with(begin)) || memchr::memmem::find(line, b": nam='").is_some()
}

/// Passes the line to `add` if it is a known one; returns whether it is whole.
fn parse(name: &str, line: &[u8], add: &mut impl FnMut(Line<'_>)) -> Result<bool> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > LONGEST || line.len() < 6 || line.starts_with(LIMIT) {
        return Ok(!has_figures(line) && !line.starts_with(LIMIT));
    }
    let found = match line[0] {
        b'W' => line.strip_prefix(b"WAIT #").and_then(wait).map(Line::Wait),
        b'P' | b'E' | b'F' | b'U' | b'S' | b'C' => call(line),
        b'*' => line.strip_prefix(b"*** SESSION ID:(").and_then(session).map(Line::Session),
        b'I' if line.starts_with(b"Instance name:") => Some(Line::Head(line)),
        b'O' if line.starts_with(b"Oracle") && memchr::memmem::find(line, b" Release ").is_some() => {
            refuse_hundredths(name, line)?;
            Some(Line::Head(line))
        }
        _ => None,
    };
    // A zero, in a number or not, shows that other bytes may be lost too.
    let Some(found) = found.filter(|_| memchr::memchr(0, line).is_none()) else {
        return Ok(!has_figures(line));
    };
    add(found);
    Ok(true)
}

fn session(text: &[u8]) -> Option<&[u8]> {
    Some(&text[..memchr::memchr(b')', text)?])
}

/// Before 9i, times of traces are hundredths of a second: most reads take 0 of them, and no latency can be read from that.
fn refuse_hundredths(name: &str, line: &[u8]) -> Result<()> {
    let head = String::from_utf8_lossy(line);
    let Some((_, release)) = head.split_once(" Release ") else { return Ok(()) };
    let release = release.split([' ', '-']).next().unwrap_or_default();
    match release.split('.').next().and_then(|first| first.parse::<u32>().ok()) {
        Some(1..9) => Err(Error::run(
            format!("{name} is a trace of Oracle {release}: its times are hundredths of a second"),
            "mindful reads traces of 9.0 and later, which count in microseconds",
        )),
        _ => Ok(()),
    }
}

/// The length of a block, where a read at the begin of a trace shows it.
pub(crate) fn block_bytes(head: &[u8]) -> Option<u64> {
    let mut waits = head.split(|byte| *byte == b'\n').filter_map(|line| wait(line.strip_prefix(b"WAIT #")?));
    waits.find_map(|wait| wait.block_bytes())
}

fn wait(text: &[u8]) -> Option<Wait<'_>> {
    let (cursor, text) = number(text)?;
    let text = text.strip_prefix(b": nam='")?;
    let end = memchr::memchr(b'\'', text)?;
    let (event, text) = (&text[..end], &text[end + 1..]);
    let (ela_us, mut text) = number(text.strip_prefix(b" ela= ")?)?;
    let mut wait = Wait { cursor, event, ela_us, parameters: [None; 3], object: None, tim_us: None };
    let mut place = 0;
    while let Some((name, value, rest)) = pair(text) {
        match name {
            b"obj#" => wait.object = value,
            b"tim" => wait.tim_us = value.and_then(|value| u64::try_from(value).ok()),
            _ if place < 3 => {
                wait.parameters[place] = value.and_then(|value| Some((name, u64::try_from(value).ok()?)));
                place += 1;
            }
            _ => {}
        }
        text = rest;
    }
    text.trim_ascii().is_empty().then_some(wait)
}

/// The next ` name=value`; names may hold spaces.
fn pair(text: &[u8]) -> Option<(&[u8], Option<i64>, &[u8])> {
    let text = text.trim_ascii_start();
    let equals = memchr::memchr(b'=', text)?;
    let (name, value) = (&text[..equals], &text[equals + 1..]);
    let negative = value.first() == Some(&b'-');
    let end = value.iter().position(|b| *b == b' ').unwrap_or(value.len());
    let figure = number(&value[usize::from(negative)..end]);
    let is_value = value[..end].iter().all(|b| b.is_ascii_hexdigit() || b"-xX".contains(b));
    let whole = figure.filter(|(_, rest)| rest.is_empty()).and_then(|(figure, _)| i64::try_from(figure).ok());
    is_value.then(|| (name, whole.map(|figure| if negative { -figure } else { figure }), &value[end..]))
}

/// `EXEC #46929157733848:c=0,e=42,…`
fn call(line: &[u8]) -> Option<Line<'_>> {
    let hash = memchr::memchr(b'#', &line[..line.len().min(16)])?;
    let kind = line[..hash].strip_suffix(b" ").filter(|kind| kind.iter().all(u8::is_ascii_uppercase))?;
    let (_, text) = number(&line[hash + 1..])?;
    let text = text.strip_prefix(b":c=").map(|_| &text[1..])?;
    let mut call = Call::default();
    for part in text.split(|b| *b == b',') {
        let equals = memchr::memchr(b'=', part)?;
        let Some((value, [])) = number(&part[equals + 1..]) else { return None };
        match &part[..equals] {
            b"c" => call.cpu_us = value,
            b"e" => call.ela_us = value,
            b"p" => call.physical = value,
            b"cr" => call.consistent = value,
            b"cu" => call.current = value,
            b"dep" => call.depth = value,
            b"tim" => call.tim_us = Some(value),
            _ => {}
        }
    }
    Some(Line::Call(kind, call))
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut value: u64 = 0;
    let mut end = 0;
    while let Some(digit) = text.get(end).filter(|b| b.is_ascii_digit()) {
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        end += 1;
    }
    (end > 0).then(|| (value, &text[end..]))
}
