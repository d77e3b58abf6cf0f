//! Limits of a server's packets: for a packet, for the login, for the columns of a result and for an answer.
//!
//! The driver reserves memory for the announced number of columns, keeps all rows, and indexes into packets that it
//! assumes not to be empty.

/// Longest packet until a client is let in, bytes.
const SMALL: usize = 64 << 10;
/// All that a server sends until then, bytes.
const LOGIN: usize = 1 << 20;
/// All packets of an answer, bytes.
const ANSWER: usize = 64 << 20;
/// Bytes that the driver keeps for a packet in addition to its contents.
const KEPT: usize = 128;
/// Columns of a table, which no result of mindful's exceeds.
const COLUMNS: u64 = 4096;

/// The number of the relay's own errors. Their text is the failure and the remedy, separated by [`NEXT`].
pub(super) const REFUSED: u16 = u16::MAX;
/// The number of such an error if the server may still run the statement.
pub(super) const NOT_ENDED: u16 = REFUSED - 1;
pub(super) const NEXT: char = '\u{1f}';

/// A payload's length (3 bytes) and the packet's number.
pub(super) const HEAD: usize = 4;
/// A packet of this length is continued by the next one.
const CONTINUED: usize = 0xff_ffff;

pub(super) const OK: u8 = 0x00;
pub(super) const ERROR: u8 = 0xff;
pub(super) const EOF: u8 = 0xfe;
const MORE_RESULTS: u8 = 8;

/// Commands that are not answered by a result.
const QUIT: u8 = 0x01;
const PREPARE: u8 = 0x16;
const LONG_DATA: u8 = 0x18;
const CLOSE: u8 = 0x19;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Login,
    Head,
    /// So many descriptions of columns, the last one being their end.
    Columns(u64),
    Row,
    Statement,
    Parts(u64),
    /// Nothing: the answer is complete.
    Nothing,
}

pub(super) struct Watch {
    next: Next,
    answer: usize,
    /// The head of the client's packet, with its command, and the length of its missing part.
    asked: Vec<u8>,
    left: usize,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self { next: Next::Login, answer: 0, asked: Vec::new(), left: 0 }
    }

    pub(super) fn after_login() -> Self {
        Self { next: Next::Nothing, ..Self::new() }
    }

    pub(super) fn is_login(&self) -> bool {
        self.next == Next::Login
    }

    pub(super) fn awaits(&self) -> bool {
        self.next != Next::Nothing
    }

    /// Parses data sent by the client; returns the number of the last packet that begins in it.
    pub(super) fn ask(&mut self, mut sent: &[u8]) -> Option<u8> {
        let mut number = None;
        while let Some((byte, rest)) = sent.split_first() {
            if self.left > 0 {
                let skipped = self.left.min(sent.len());
                self.left -= skipped;
                sent = &sent[skipped..];
                continue;
            }
            sent = rest;
            self.asked.push(*byte);
            let length = self.asked.first_chunk().map(|head| length_of(*head));
            if self.asked.len() > HEAD || length == Some(0) {
                number = Some(self.asked[HEAD - 1]);
                self.left = length.unwrap_or(0).saturating_sub(1);
                self.begin_answer();
                self.asked.clear();
            }
        }
        number
    }

    /// The client has begun a packet: a command, or a part of a file.
    fn begin_answer(&mut self) {
        if self.is_login() {
            return;
        }
        let command = self.asked.get(HEAD).filter(|_| self.asked[HEAD - 1] == 0);
        self.answer = 0;
        self.next = match command {
            Some(&(QUIT | LONG_DATA | CLOSE)) => Next::Nothing,
            Some(&PREPARE) => Next::Statement,
            _ => Next::Head,
        };
    }

    pub(super) fn check_length(&mut self, length: usize) -> Result<(), String> {
        let limit = if self.is_login() { SMALL } else { CONTINUED - 1 };
        if length > limit {
            return Err(format!("a packet of {length} bytes, more than {limit}"));
        }
        if length == 0 {
            return Err("an empty packet".to_owned());
        }
        self.answer += length + KEPT;
        match self.is_login() {
            true if self.answer > LOGIN => Err(format!("more than {} MiB before the login ended", LOGIN >> 20)),
            false if self.answer > ANSWER => Err(format!("an answer of more than {} MiB", ANSWER >> 20)),
            _ => Ok(()),
        }
    }

    pub(super) fn check(&mut self, payload: &[u8]) -> Result<(), String> {
        let kind = payload[0];
        // The driver may read a packet as a header that is a row here.
        if !self.is_login() && kind == EOF && payload.len() >= 9 {
            return Err("a number of 8 bytes where none can be".to_owned());
        }
        self.next = match self.next {
            Next::Login if kind == OK => Next::Nothing,
            Next::Login => Next::Login,
            _ if kind == ERROR => Next::Nothing,
            Next::Head if kind == OK => after(ok_status(payload)),
            Next::Head => match number(payload) {
                Some((columns, _)) if columns > COLUMNS => {
                    return Err(format!("a result of {columns} columns, more than {COLUMNS}"));
                }
                // MariaDB leaves out descriptions that the client has.
                Some((_, [0])) => Next::Columns(1),
                Some((columns, _)) => Next::Columns(columns + 1),
                None => Next::Nothing,
            },
            Next::Columns(0 | 1) => Next::Row,
            Next::Columns(left) => Next::Columns(left - 1),
            // Its number (4 bytes), columns and parameters; of each kind the descriptions and their end.
            Next::Statement => {
                let count = |at: usize| payload.get(at..at + 2).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]));
                let parts = [5, 7].map(count).into_iter().filter(|count| *count > 0);
                parts_left(parts.map(|count| u64::from(count) + 1).sum())
            }
            Next::Parts(left) => parts_left(left - 1),
            Next::Row if kind == EOF => after(payload.get(3).copied()),
            next => next,
        };
        Ok(())
    }
}

fn parts_left(parts: u64) -> Next {
    if parts == 0 { Next::Nothing } else { Next::Parts(parts) }
}

fn after(status: Option<u8>) -> Next {
    if status.is_some_and(|status| status & MORE_RESULTS != 0) { Next::Head } else { Next::Nothing }
}

/// The low byte of the status of an OK packet.
fn ok_status(payload: &[u8]) -> Option<u8> {
    let (_, rest) = number(&payload[1..])?;
    let (_, rest) = number(rest)?;
    rest.first().copied()
}

pub(super) fn length_of(head: [u8; HEAD]) -> usize {
    u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize
}

/// A number of variable length, and the rest.
pub(super) fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let length = match first {
        0..=0xfa => return Some((u64::from(*first), rest)),
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        _ => return None,
    };
    let (number, rest) = rest.split_at_checked(length)?;
    Some((number.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)), rest))
}

pub(super) fn error_packet(code: u16, text: &str, number: u8) -> Vec<u8> {
    let payload = [&[ERROR], &code.to_le_bytes()[..], b"#HY000", text.as_bytes()].concat();
    let length = (payload.len() as u32).to_le_bytes();
    [&length[..3], &[number], &payload].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn let_in() -> Watch {
        let mut watch = Watch::new();
        sees(&mut watch, &[&[10, b'5'], &[0, 0, 0, 2, 0, 0, 0]]).unwrap();
        watch.ask(&[1, 0, 0, 0, 3]);
        watch
    }

    fn sees(watch: &mut Watch, packets: &[&[u8]]) -> Result<(), String> {
        packets.iter().try_for_each(|packet| {
            watch.check_length(packet.len())?;
            watch.check(packet)
        })
    }

    #[test]
    fn a_result_of_more_columns_than_any_is_refused() {
        for head in [&[0xfc, 1, 16][..], &[0xfd, 0, 0, 1], &[0xfe, 0, 0, 0, 0, 0, 0, 0, 64]] {
            assert!(sees(&mut let_in(), &[head]).is_err(), "{head:?}");
        }
        assert_eq!(sees(&mut let_in(), &[&[0xfc, 0, 16]]), Ok(()));
    }

    #[test]
    fn the_next_result_of_an_answer_is_checked_as_the_first() {
        let eof = |status: u8| [EOF, 0, 0, status, 0];
        let (one, column, row) = (&[1][..], &b"def"[..], &b"\x01x"[..]);
        let many = &[0xfd, 0, 0, 1][..];
        assert!(sees(&mut let_in(), &[one, column, &eof(0), row, &eof(MORE_RESULTS), many]).is_err());
        assert!(sees(&mut let_in(), &[&[0, 0, 0, MORE_RESULTS, 0], many]).is_err());
        // A row may begin with a long value.
        assert_eq!(sees(&mut let_in(), &[one, column, &eof(0), many, &eof(0)]), Ok(()));
    }

    #[test]
    fn an_answer_is_awaited_until_it_is_complete() {
        let awaits = |command: u8, packets: &[&[u8]]| {
            let mut watch = let_in();
            watch.ask(&[1, 0, 0, 0, command]);
            sees(&mut watch, packets).unwrap();
            watch.awaits()
        };
        let statement = &[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..];
        assert!(awaits(3, &[]) && awaits(PREPARE, &[]) && awaits(PREPARE, &[statement, b"def"]) && !awaits(CLOSE, &[]));
        assert!(!awaits(PREPARE, &[statement, b"def", &[EOF, 0, 0, 0, 0]]) && !awaits(3, &[&[0, 0, 0, 2, 0]]));
    }

    #[test]
    fn commands_are_found_however_they_are_cut() {
        let long = [&[0, 1, 0, 0, 3][..], &[PREPARE; 255], &[1, 0, 0, 0, CLOSE], &[2, 0, 0, 0, PREPARE, b'x']].concat();
        for part in 1..long.len() {
            let mut watch = let_in();
            assert!(long.chunks(part).filter_map(|sent| watch.ask(sent)).count() > 0);
            assert!(watch.next == Next::Statement && watch.asked.is_empty() && watch.left == 0, "{part}");
        }
        assert_eq!((let_in().ask(&[0, 0, 0, 9]), let_in().ask(&[0, 0])), (Some(9), None));
    }

    #[test]
    fn packets_logins_and_answers_have_limits() {
        assert!(Watch::new().check_length(SMALL + 1).is_err() && let_in().check_length(SMALL + 1).is_ok());
        assert!(let_in().check_length(0).is_err() && let_in().check_length(CONTINUED).is_err());
        let counted = |watch: &mut Watch, length| (0..100).find(|_| watch.check_length(length).is_err());
        assert_eq!(counted(&mut Watch::new(), SMALL), Some(15));
        assert_eq!(counted(&mut let_in(), (1 << 20) - KEPT), Some(64));
    }
}
