//! A file of unknown content: its head, and gzip undone.

use std::io::{BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use mindful_core::{Error, Result};

use crate::format::Format;
use crate::formats::FORMATS;
use crate::input::cannot_read;
use crate::reported::Reported;
use crate::unknown;
use crate::waits::{Field, Filter, Grouped};

/// Bytes by which a file is recognised.
const HEAD: usize = 64 << 10;
/// Bytes read at once.
const BUFFER: usize = 1 << 20;

/// A file that was recognised.
pub struct Source {
    /// Its name.
    pub name: String,
    /// Its format.
    pub format: &'static dyn Format,
    /// All of it, unpacked.
    pub input: Box<dyn BufRead>,
}

/// Recognises what `plain` holds, gzip or not; `name` is what it is called.
///
/// # Errors
/// What cannot be read, and what is none of the formats: then with what it is instead.
pub fn recognised(name: &str, plain: Box<dyn Read>) -> Result<Source> {
    let mut packed = BufReader::with_capacity(BUFFER, plain);
    let gzip = packed.fill_buf().map_err(|error| cannot_read(name, &error))?.starts_with(&[0x1f, 0x8b]);
    let mut rest: Box<dyn BufRead> =
        if gzip { Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(packed))) } else { Box::new(packed) };
    let mut head = Vec::new();
    (&mut rest).take(HEAD as u64).read_to_end(&mut head).map_err(|error| cannot_read(name, &error))?;
    let text = String::from_utf8_lossy(&head);
    let Some(format) = FORMATS.into_iter().find(|format| format.recognises(&text)) else {
        return Err(unknown::error(name, &head));
    };
    Ok(Source { name: name.to_owned(), format, input: Box::new(Cursor::new(head).chain(rest)) })
}

impl Source {
    /// The measurements in it.
    pub fn read(mut self) -> Result<Vec<Reported>> {
        self.format.read(&self.name, &mut *self.input)
    }

    /// The single waits in it that pass `filter`, in groups by `fields`.
    ///
    /// # Errors
    /// A file that cannot be read, or holds no single waits.
    pub fn grouped(mut self, fields: &[Field], filter: &Filter) -> Result<Grouped> {
        let mut grouped = Grouped::new(fields, filter);
        let read = self.format.waits(&self.name, &mut *self.input, &mut |wait| grouped.add(wait));
        let none = || {
            let next = "give it a trace; `mindful import` takes this file in";
            Err(Error::plan(
                format!("{} holds no single waits: it is of the kind `{}`", self.name, self.format.what()),
                next,
            ))
        };
        read.unwrap_or_else(none).map(|()| grouped)
    }
}
