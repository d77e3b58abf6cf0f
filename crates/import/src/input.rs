//! Files that are read whole, up to a limit.

use std::io::{self, BufRead};

use mindful_core::{Error, Result};

use crate::number::GROUPING;

/// Most bytes of a file that has to be read whole.
pub(crate) const WHOLE: usize = 256 << 20;
/// Number of consecutive zeros after which the input is not text.
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

/// `text` without a number at its end.
fn before_last_number(text: &str) -> &str {
    let begin = text.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '.').map_or(0, |last| last + 1);
    // The last letter before it may be longer than a byte.
    let begin = (begin..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    if !text[begin..].trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit()) {
        return text;
    }
    without_groups(&text[..begin])
}

/// `text` without the groups of digits at its end, such as `83,886,`. Cells between commas are not groups.
fn without_groups(text: &str) -> &str {
    let separates = |c: char| matches!(c, '.' | ',') || GROUPING.contains(&c);
    let mut rest = text;
    while let Some(before) = rest.strip_suffix(separates) {
        let group = before.trim_end_matches(|c: char| c.is_ascii_digit());
        match (before.len() - group.len(), group.ends_with(separates)) {
            (3, true) => rest = group,
            (1..=3, false) => return group,
            _ => return text,
        }
    }
    text
}

pub(crate) fn too_many(name: &str, most: usize, what: &str) -> Error {
    let what = format!("{name} contains more than {most} {what}");
    Error::run(what, "split the file and import the parts one after the other")
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
            ("<td>83'886'7", "<td>"),
            ("<td>1.234,5", "<td>"),
            ("Waits: 12\u{202f}34", "Waits: "),
            ("0,97.677,99.10,169", "0,97.677,99.10,"),
            ("0, 10103, 20101,29", "0, 10103, 20101,"),
        ];
        for (text, wanted) in cases {
            assert_eq!(before_last_number(text), wanted, "{text}");
        }
        for whole in ["", "64,077\n", "{\"a\": 1}", "End of Report", "db file sequential read", "42.6 %"] {
            assert_eq!(before_last_number(whole), whole);
        }
    }
}
