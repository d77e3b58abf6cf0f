//! Ten gigabytes of zeros, alone and after the beginning of a file of each format.

use std::cell::Cell;
use std::io::{Cursor, Read, Result};
use std::rc::Rc;

use mindful_import::recognised;
use mindful_import::waits::{Field, Filter};

use crate::samples;

const ALL: u64 = 10 << 30;
/// Most zeros that are read before they are recognised.
const SOON: u64 = 4 << 20;

struct Zeros {
    left: u64,
    read: Rc<Cell<u64>>,
}

impl Read for Zeros {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let length = into.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        into[..length].fill(0);
        self.left -= length as u64;
        self.read.set(self.read.get() + length as u64);
        Ok(length)
    }
}

/// `text` followed by ten gigabytes of zeros, and how many of them were read.
fn behind(text: String) -> (Box<dyn Read>, Rc<Cell<u64>>) {
    let read = Rc::new(Cell::new(0));
    (Box::new(Cursor::new(text).chain(Zeros { left: ALL, read: Rc::clone(&read) })), read)
}

#[test]
fn zeros_alone_are_refused_by_the_head() {
    let (input, read) = behind(String::new());
    let error = recognised("-", input).err().unwrap().to_string();
    assert!(error.contains("contains zeros"), "{error}");
    assert!(read.get() < SOON, "{}", read.get());
}

#[test]
fn zeros_within_a_file_are_refused_where_they_begin() {
    for (what, name, text) in samples::of_each_format().into_iter().filter(|(what, ..)| *what != "10046 trace") {
        let (input, read) = behind(text);
        let error = recognised(name, input).unwrap().read().unwrap_err().to_string();
        assert!(error.contains("contains only zeros from byte "), "{what}: {error}");
        assert!(read.get() < SOON, "{what}: {}", read.get());
    }
}

#[test]
fn text_without_end_is_refused_by_its_length() {
    let endless = std::io::repeat(b'x').take(ALL);
    let (_, name, text) = samples::of_each_format().swap_remove(0);
    let error = recognised(name, Box::new(Cursor::new(text).chain(endless))).unwrap().read().unwrap_err().to_string();
    assert!(error.contains("is longer than 256 MiB"), "{error}");
}

#[test]
fn a_trace_is_read_to_its_end_without_being_kept() {
    let (_, name, text) = samples::of_each_format().into_iter().find(|(what, ..)| *what == "10046 trace").unwrap();
    let (input, read) = behind(text.clone());
    let step = recognised(name, input).unwrap().read().unwrap().remove(0);
    assert_eq!((step.sessions, read.get()), (Some(1), ALL));
    let (input, read) = behind(text);
    let fields = Field::parse_list("event,block").unwrap();
    let grouped = recognised(name, input).unwrap().grouped(&fields, &Filter::default()).unwrap();
    assert_eq!((grouped.summary("t").waits_in_trace, read.get()), (5, ALL));
}
