//! Files that are read whole, up to a limit.

use std::io::{self, BufRead};

use mindful_core::{Error, Result};

/// Most bytes of a file that has to be read whole.
pub(crate) const WHOLE: usize = 256 << 20;
/// Zeros in a row after which what follows is no text.
const ZEROS: usize = 1 << 20;

/// All of `input` as text, up to [`WHOLE`] bytes; bytes that are not UTF-8 become replacement characters.
///
/// A number that ends where the input ends may lack digits, and its unit letters: it is left out.
///
/// # Errors
/// An input that cannot be read, is too long, or continues with zeros.
pub(crate) fn text(name: &str, input: &mut dyn BufRead) -> Result<String> {
    text_within(name, input, WHOLE)
}

pub(crate) fn text_within(name: &str, input: &mut dyn BufRead, most: usize) -> Result<String> {
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
                format!("{name} contains only zeros from byte {begin} on"),
                "it was not written to its end: create it again",
            ));
        }
        if bytes.len() > most {
            return Err(Error::run(
                format!("{name} is longer than {} MiB", most >> 20),
                "no result is that long: split the file, or check its content",
            ));
        }
    }
    let mut text =
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    text.truncate(before_last_number(&text).len());
    Ok(text)
}

/// `text` without a number that ends where it ends.
fn before_last_number(text: &str) -> &str {
    let begin = text.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '.').map_or(0, |last| last + 1);
    // The last letter before it may be longer than a byte.
    let begin = (begin..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let number = text[begin..].trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit());
    let begin = text[..begin].trim_end_matches(|c: char| number && (c == ',' || c.is_ascii_digit())).len();
    if number { &text[..begin] } else { text }
}

/// `text` up to byte `at`, without the white space before it on its line. Does not search the whole line: a file may be one.
pub(crate) fn before(text: &str, at: usize) -> &str {
    text[..at].trim_end_matches(|c: char| c != '\n' && c.is_whitespace())
}

pub(crate) fn cannot_read(name: &str, error: &io::Error) -> Error {
    Error::plan(
        format!("cannot read {name}: {error}"),
        "check its path and its permissions, and whether it is complete",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_ends_with_the_text_is_left_out() {
        let cases = [
            ("physical reads  83,886,767  64,0", "physical reads  83,886,767  "),
            ("<td>64", "<td>"),
            ("3.23m", ""),
            ("a=.5", "a="),
            ("Small=2", "Small="),
            ("größe 7", "größe "),
            ("é7", "é"),
        ];
        for (text, wanted) in cases {
            assert_eq!(before_last_number(text), wanted, "{text}");
        }
        for whole in ["", "64,077\n", "{\"a\": 1}", "End of Report", "db file sequential read", "42.6 %"] {
            assert_eq!(before_last_number(whole), whole);
        }
    }
}
