//! Files that are read whole, up to a limit.

use std::io::{self, BufRead};

use mindful_core::{Error, Result};

/// Most bytes of a file that has to be read whole.
pub const WHOLE: usize = 256 << 20;
/// Zeros in a row after which what follows is no text.
const ZEROS: usize = 1 << 20;

/// All of `input` as text; bytes that are no UTF-8 come as marks in their place.
///
/// # Errors
/// An input that cannot be read, is longer than [`WHOLE`], or goes on with zeros.
pub fn text(name: &str, input: &mut dyn BufRead) -> Result<String> {
    text_within(name, input, WHOLE)
}

/// The same of one that is no longer than `most` bytes.
pub fn text_within(name: &str, input: &mut dyn BufRead, most: usize) -> Result<String> {
    let mut bytes = Vec::new();
    let mut zeros = 0;
    loop {
        let piece = input.fill_buf().map_err(|error| cannot_read(name, &error))?;
        let length = piece.len();
        if length == 0 {
            break;
        }
        zeros = if piece.iter().all(|byte| *byte == 0) { zeros + length } else { 0 };
        bytes.extend_from_slice(piece);
        input.consume(length);
        if zeros >= ZEROS {
            let begin = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            return Err(Error::run(
                format!("{name} holds nothing but zeros from byte {begin} on"),
                "it was not written to its end: make it anew",
            ));
        }
        if bytes.len() > most {
            return Err(Error::run(
                format!("{name} is longer than {} MiB", most >> 20),
                "no report is: split it, or look at what it holds",
            ));
        }
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// `text` up to what stands before byte `at` on its line, white space left out. Looks no farther back: a file may be one line.
pub fn before(text: &str, at: usize) -> &str {
    text[..at].trim_end_matches(|c: char| c != '\n' && c.is_whitespace())
}

/// What cannot be read.
pub fn cannot_read(name: &str, error: &io::Error) -> Error {
    Error::plan(format!("{name} cannot be read: {error}"), "look at its path and its rights, and whether it is whole")
}
