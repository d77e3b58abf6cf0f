//! Ten gigabytes of zeros, alone and after the beginning of a file of each format.

use std::cell::Cell;
use std::io::{Cursor, Read, Result};
use std::rc::Rc;

use mindful_import::recognised;
use mindful_import::waits::{Field, Filter};

use crate::made::{Dress, showcase};
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
    for (name, text) in samples::of_each_format().into_iter().filter(|(_, text)| !text.contains("WAIT #")) {
        let (input, read) = behind(text);
        let error = recognised(&name, input).unwrap().read().unwrap_err().to_string();
        assert!(error.contains("contains only zeros from byte "), "{name}: {error}");
        assert!(read.get() < SOON, "{name}: {}", read.get());
    }
}

#[test]
fn text_without_end_is_refused_by_its_length() {
    let endless = std::io::repeat(b'x').take(ALL);
    let text = Cursor::new(showcase().report(Dress::Awr12)).chain(endless);
    let error = recognised("awr.txt", Box::new(text)).unwrap().read().unwrap_err().to_string();
    assert!(error.contains("is longer than 256 MiB"), "{error}");
}

#[test]
fn a_trace_is_read_to_its_end_without_being_kept() {
    const TRACE: &str = include_str!("../../fuzz/corpus/trace/slob1_ora_1.trc");
    let (input, read) = behind(TRACE.to_owned());
    let step = recognised("t", input).unwrap().read().unwrap().remove(0);
    assert_eq!((step.sessions, read.get()), (Some(1), ALL));
    let (input, read) = behind(TRACE.to_owned());
    let fields = Field::parse_list("event,block").unwrap();
    let grouped = recognised("t", input).unwrap().grouped(&fields, &Filter::default()).unwrap();
    assert_eq!((grouped.summary("t").waits_in_trace, read.get()), (5, ALL));
}

/// Small files that ask for much time or memory.
#[test]
fn a_wide_table_takes_no_more_than_its_length() {
    let heading = "\nWORKLOAD REPOSITORY report for\n\nFoo  DB/Inst: A/a\n\n";
    let page = "<h1>\nWORKLOAD REPOSITORY report for\n</h1><table>";
    let points: Vec<_> = (1..30_000).map(|n| format!("Maximum Small IOPS={n} @ Small={n} and Large=0")).collect();
    let files = [
        format!("{heading}{}\n{}\n{}\n", "x ".repeat(200_000), "- ".repeat(200_000), "1 ".repeat(200_000)),
        format!("{heading}{}\n{}\n{}", "x ".repeat(1_000), "- ".repeat(1_000), "x\n".repeat(200_000)),
        format!("{page}<tr>{}</tr>{}</table>", "<td>1".repeat(256), "<tr><td>".repeat(100_000)),
        format!("ORION VERSION 12.1.0.2.0\n{}", points.join("\n")),
    ];
    for text in files {
        let begin = std::time::Instant::now();
        assert!(crate::measured::read("x.txt", text).is_err(), "no figure can be read");
        assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
    }
}

#[test]
fn a_report_without_end_has_no_length() {
    let report = showcase().report(Dress::Awr12);
    for length in ["1e300 (mins)", "999999999999999 (mins)", "1e-300 (mins)"] {
        let error = crate::measured::read("awr.txt", report.replace("5.08 (mins)", length)).unwrap_err().to_string();
        assert!(error.contains("no elapsed time"), "{length}: {error}");
    }
}
