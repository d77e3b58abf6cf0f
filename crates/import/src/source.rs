//! A file of unknown content: recognised by its head, after gzip and the encoding of its text are undone.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use mindful_core::plan::Utf8;
use mindful_core::{Error, Result};

use crate::formats::{FORMATS, Format, trace};
use crate::input::cannot_read;
use crate::old_step::OldStep;
use crate::unknown;
use crate::waits::{Field, Filter, Grouped};

const HEAD: usize = 64 << 10;
const BUFFER: usize = 1 << 20;

/// Counts zeros in the input: text has none, so each is lost content. Lines may end in a carriage return only.
struct Lines<R> {
    from: R,
    zeros: Rc<Cell<u64>>,
    /// Whether carriage returns end lines, once one is read.
    returns: Option<bool>,
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(buffer)?;
        let read = &mut buffer[..length];
        let zeros = memchr::memchr_iter(0, read).count() as u64;
        self.zeros.set(self.zeros.get() + zeros);
        if self.returns.is_none() && memchr::memchr2(b'\r', b'\n', read).is_some_and(|at| at + 1 < length) {
            self.returns = Some(memchr::memchr(b'\n', read).is_none());
        }
        if self.returns == Some(true) {
            read.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        Ok(length)
    }
}

pub struct Source {
    pub name: String,
    format: &'static Format,
    head: Vec<u8>,
    /// All of it, its begin included.
    input: Box<dyn BufRead>,
    zeros: Rc<Cell<u64>>,
}

/// Recognises the content of the file `name`.
///
/// # Errors
/// The file cannot be read, or is in none of the formats.
pub fn recognised(name: &str, plain: Box<dyn Read>) -> Result<Source> {
    let mut packed = BufReader::with_capacity(BUFFER, plain);
    let gzip = packed.fill_buf().map_err(|error| cannot_read(name, &error))?.starts_with(&[0x1f, 0x8b]);
    let unpacked: Box<dyn Read> = if gzip { Box::new(MultiGzDecoder::new(packed)) } else { Box::new(packed) };
    let zeros = Rc::new(Cell::new(0));
    let lines = Lines { from: Utf8::new(unpacked), zeros: Rc::clone(&zeros), returns: None };
    let mut rest = BufReader::with_capacity(BUFFER, lines);
    let mut head = Vec::new();
    (&mut rest).take(HEAD as u64).read_to_end(&mut head).map_err(|error| cannot_read(name, &error))?;
    let text = String::from_utf8_lossy(&head);
    let Some(format) = FORMATS.into_iter().find(|format| (format.recognises)(&text)) else {
        return Err(unknown::error(name, &head));
    };
    let input = Box::new(Cursor::new(head.clone()).chain(rest));
    Ok(Source { name: name.to_owned(), format, head, input, zeros })
}

impl Source {
    pub fn read(mut self) -> Result<Vec<OldStep>> {
        let mut steps = (self.format.read)(&self.name, &mut *self.input)?;
        if let Some(step) = steps.first_mut() {
            step.add_damage(self.zeros.get(), "zero byte");
        }
        Ok(steps)
    }

    /// The single waits in it that pass `filter`, in groups by `fields`.
    ///
    /// # Errors
    /// The file cannot be read, or contains no single waits.
    pub fn grouped(mut self, fields: &[Field], filter: &Filter) -> Result<Grouped> {
        let mut grouped = Grouped::new(fields, filter, trace::block_bytes(&self.head));
        if self.format.what != trace::TRACE.what {
            let what = format!("{} contains no single waits: it is an {}", self.name, self.format.what);
            return Err(Error::plan(what, "pass a trace; `mindful import` reads this file"));
        }
        grouped.damaged_lines = trace::waits(&self.name, &mut *self.input, |wait| grouped.add(wait))?;
        grouped.zero_bytes = self.zeros.get();
        Ok(grouped)
    }
}
