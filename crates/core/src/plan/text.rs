//! Text as UTF-8, from any encoding that programs and editors commonly write.
//!
//! PowerShell's `>` writes UTF-16, and some editors put a byte order mark before UTF-8. All text that mindful reads
//! passes through here: results of other tools, plans, option files, service files. A stream is converted while it is
//! read, because traces have no limit of length. UTF-16 without a mark is recognized by its zeros: the first two
//! characters of all these files are ASCII. Guessing other encodings was rejected: a wrong guess changes figures
//! silently.

use std::collections::VecDeque;
use std::io::{self, Read};

const MARK: usize = 4;
const PIECE: usize = 64 << 10;

/// `bytes` as UTF-8 without a byte order mark, where they are UTF-8 or UTF-16. Other bytes stay as they are.
pub fn to_utf8(bytes: Vec<u8>) -> Vec<u8> {
    if Encoding::of(&bytes) == (Encoding::Utf8, 0) {
        return bytes;
    }
    let mut text = Vec::with_capacity(bytes.len());
    // Reading from memory cannot fail.
    let _ = Utf8::new(&bytes[..]).read_to_end(&mut text);
    text
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16 { little: bool },
}

impl Encoding {
    /// The encoding of a text that begins with `head`, and the length of its mark.
    fn of(head: &[u8]) -> (Self, usize) {
        let (little, big) = (Self::Utf16 { little: true }, Self::Utf16 { little: false });
        match head {
            [0xef, 0xbb, 0xbf, ..] => (Self::Utf8, 3),
            [0xff, 0xfe, ..] => (little, 2),
            [0xfe, 0xff, ..] => (big, 2),
            [a, 0, b, 0, ..] if *a > 0 && *b > 0 => (little, 0),
            [0, a, 0, b, ..] if *a > 0 && *b > 0 => (big, 0),
            _ => (Self::Utf8, 0),
        }
    }
}

/// A stream of text as UTF-8 without a byte order mark.
#[derive(Debug)]
pub struct Utf8<R> {
    input: R,
    encoding: Option<Encoding>,
    /// Bytes not converted yet: the begin of the stream, or half a character.
    raw: Vec<u8>,
    /// Converted bytes that are not returned yet.
    text: VecDeque<u8>,
}

impl<R: Read> Utf8<R> {
    pub const fn new(input: R) -> Self {
        Self { input, encoding: None, raw: Vec::new(), text: VecDeque::new() }
    }

    fn encoding(&mut self) -> io::Result<Encoding> {
        if let Some(known) = self.encoding {
            return Ok(known);
        }
        (&mut self.input).take(MARK as u64).read_to_end(&mut self.raw)?;
        let (encoding, mark) = Encoding::of(&self.raw);
        self.raw.drain(..mark);
        if encoding == Encoding::Utf8 {
            self.text = std::mem::take(&mut self.raw).into();
        }
        Ok(*self.encoding.insert(encoding))
    }

    /// Converts the next piece of UTF-16; returns whether there was one.
    fn convert(&mut self, little: bool) -> io::Result<bool> {
        let unit = if little { u16::from_le_bytes } else { u16::from_be_bytes };
        let read = (&mut self.input).take(PIECE as u64).read_to_end(&mut self.raw)?;
        let mut units: Vec<u16> = self.raw.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        // The first half of a pair waits for the second.
        let half = usize::from(read > 0 && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)));
        units.truncate(units.len() - half);
        if read == 0 && units.is_empty() {
            return Ok(false);
        }
        self.raw.drain(..2 * units.len());
        let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        self.text = text.into_bytes().into();
        Ok(true)
    }
}

impl<R: Read> Read for Utf8<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let encoding = self.encoding()?;
        while self.text.is_empty() {
            match encoding {
                Encoding::Utf8 => return self.input.read(into),
                Encoding::Utf16 { little } if !self.convert(little)? => return Ok(0),
                Encoding::Utf16 { .. } => {}
            }
        }
        self.text.read(into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\"größe\": \"𝄞 8k\"}\n";

    fn utf16(mark: bool, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let mark = mark.then_some(0xfeff);
        mark.into_iter().chain(TEXT.encode_utf16()).flat_map(bytes).collect()
    }

    #[test]
    fn a_text_is_the_same_in_every_encoding() {
        let marked = [&[0xef, 0xbb, 0xbf], TEXT.as_bytes()].concat();
        let others = [
            utf16(true, u16::to_le_bytes),
            utf16(true, u16::to_be_bytes),
            utf16(false, u16::to_le_bytes),
            utf16(false, u16::to_be_bytes),
        ];
        for bytes in [TEXT.as_bytes().to_vec(), marked].into_iter().chain(others) {
            assert_eq!(String::from_utf8(to_utf8(bytes.clone())).unwrap(), TEXT, "{bytes:?}");
            let mut slow = String::new();
            let one_by_one = bytes
                .iter()
                .map(std::slice::from_ref)
                .fold(Box::new(io::empty()) as Box<dyn Read>, |all, byte| Box::new(all.chain(byte)));
            Utf8::new(one_by_one).read_to_string(&mut slow).unwrap();
            assert_eq!(slow, TEXT);
        }
    }

    #[test]
    fn what_is_no_text_stays_as_it_is() {
        for bytes in [&b""[..], b"\x7fELF\0\0\0\x01", &[0; 9], b"a", b"ab"] {
            assert_eq!(to_utf8(bytes.to_vec()), bytes);
        }
        let cut = &utf16(true, u16::to_le_bytes)[..7];
        assert_eq!(to_utf8(cut.to_vec()), b"{\"", "half a character at the end is left out");
    }

    #[test]
    fn a_long_text_is_converted_piece_by_piece() {
        let text = "𝄞x".repeat(PIECE);
        let bytes: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
        assert!(to_utf8(bytes) == text.as_bytes());
    }
}
