//! A MySQL that behaves well until it misbehaves.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::{Case, Then, a_signal_ends_verbs, all_end, case};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Greeting,
    Login,
    Query,
    /// A statement after those with which a session begins.
    Later,
    /// The same of the first connection; all others are answered.
    FirstLater,
    Tls,
}
use Stage::{FirstLater, Greeting, Later, Login, Query, Tls};
use Then::{Again, Close, Silence};

const TLS: u16 = 0x800;
/// Protocol 4.1, transactions, secure connections, plugins, and the length of their data.
const FLAGS: u32 = 0x0028_a20f;

fn packet(number: u8, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let length = u32::try_from(payload.as_ref().len()).unwrap().to_le_bytes();
    [&length[..3], &[number], payload.as_ref()].concat()
}

fn greeting(version: &str, flags: u32) -> Vec<u8> {
    let [low, high] = [flags as u16, (flags >> 16) as u16].map(u16::to_le_bytes);
    let parts: [&[u8]; 10] = [
        &[10],
        version.as_bytes(),
        b"\0\x07\0\0\0abcdefgh\0",
        &low,
        &[45, 2, 0],
        &high,
        &[21],
        &[0; 10],
        b"ijklmnopqrst\0",
        b"mysql_native_password\0",
    ];
    packet(0, parts.concat())
}

fn ok(number: u8) -> Vec<u8> {
    packet(number, [0, 0, 0, 2, 0, 0, 0])
}

fn error(text: &[u8]) -> Vec<u8> {
    packet(1, [b"\xff\x15\x04#28000", text].concat())
}

fn column() -> Vec<u8> {
    [b"\x03def\0\0\0\x01c\0\x0c\x2d\0\xff\0\0\0".as_slice(), &[253, 0, 0, 0, 0, 0]].concat()
}

/// Packets 1 and so on: one column and what follows it.
fn result(then: &[&[u8]]) -> Vec<u8> {
    let column = column();
    let packets = [&[1][..], &column, &[0xfe, 0, 0, 2, 0]].into_iter().chain(then.iter().copied());
    packets.zip(1..).flat_map(|(payload, number)| packet(number, payload)).collect()
}

/// The same packet with all numbers in turn, so that it can be sent without end.
fn turns(payload: &[u8]) -> Vec<u8> {
    (0..=u8::MAX).map(|turn| turn.wrapping_add(1)).flat_map(|number| packet(number, payload)).collect()
}

fn until_login() -> Vec<Case<Stage>> {
    let head = |length: u32, number: u8| [&length.to_le_bytes()[..3], &[number]].concat();
    vec![
        case("greeting: silence", Greeting, b"", Silence),
        case("greeting: hangs up", Greeting, b"", Close),
        case("greeting: another protocol", Greeting, b"HTTP/1.1 400 Bad Request\r\n\r\n", Close),
        case("greeting: half", Greeting, &greeting("8.0.31", FLAGS)[..20], Silence),
        case("greeting: half and hangs up", Greeting, &greeting("8.0.31", FLAGS)[..20], Close),
        case("greeting: empty", Greeting, packet(0, b""), Silence),
        case("greeting: 16 MiB without an end", Greeting, [head(0xff_ffff, 0), vec![10; 1 << 16]].concat(), Again),
        case("greeting: version 9", Greeting, packet(0, b"\x09old\0"), Silence),
        case("greeting: no version", Greeting, packet(0, b"\x0a"), Silence),
        case("greeting: an invalid version", Greeting, greeting("none", FLAGS), Silence),
        case("greeting: an invalid version, with TLS", Greeting, greeting("none", FLAGS | u32::from(TLS)), Silence),
        case("greeting: a version in disguise", Greeting, greeting("8.0\u{202e}\x1b[2J", FLAGS), Silence),
        case("greeting: no flags", Greeting, greeting("8.0.31", 0), Silence),
        case("greeting: another number", Greeting, packet(7, b"\x0a8.0.31\0"), Silence),
        case(
            "greeting: an error of many lines",
            Greeting,
            packet(0, "\u{ff}\x10\x04no\n\u{202e}\x1b[2Jway".as_bytes()),
            Close,
        ),
        case("greeting: an error", Greeting, packet(0, b"\xff\x10\x04Too many connections"), Close),
        case("greeting: half an error", Greeting, packet(0, b"\xff\x10"), Close),
        case("tls: silence", Tls, b"", Silence),
        case("tls: hangs up", Tls, b"", Close),
        case("tls: noise", Tls, b"\x17\x03\x03\xff\xffnoise", Again),
        case("tls: continues without", Tls, ok(2), Silence),
        case("login: silence", Login, b"", Silence),
        case("login: hangs up", Login, b"", Close),
        case("login: empty", Login, packet(2, b""), Silence),
        case("login: half a packet", Login, head(9, 2), Silence),
        case("login: 16 MiB without an end", Login, [head(0xff_ffff, 2), vec![1; 1 << 16]].concat(), Again),
        case("login: another plugin", Login, packet(2, b"\xfehot_pass\0x"), Silence),
        case("login: a plugin of old", Login, packet(2, b"\xfe"), Silence),
        case("login: clear text", Login, packet(2, b"\xfemysql_clear_password\0"), Silence),
        case("login: plugins without an end", Login, packet(2, b"\xfemysql_native_password\0x\0").repeat(99), Again),
        case(
            "login: SHA-2 and half an answer",
            Login,
            [packet(2, b"\xfecaching_sha2_password\0x\0"), packet(4, [1])].concat(),
            Silence,
        ),
        case(
            "login: an invalid key",
            Login,
            [packet(2, b"\xfecaching_sha2_password\0x\0"), packet(4, [1, 4]), packet(6, b"\x01-----BEGIN")].concat(),
            Silence,
        ),
        case("login: progress without an end", Login, turns(b"\xff\xff\xff\x01\x01\0\0\0\0x"), Again),
        case("login: a number out of turn", Login, ok(9), Silence),
        case("login: half an ok", Login, packet(2, [0]), Silence),
        case("login: an error of many lines", Login, packet(2, "\u{ff}".as_bytes()), Silence),
    ]
}

fn silent_to_the_first() -> Case<Stage> {
    case("later: silence, and answers to others", FirstLater, b"", Silence)
}

fn from_login() -> Vec<Case<Stage>> {
    let counts = |digits: &[u8]| packet(1, digits);
    let eof: &[u8] = &[0xfe, 0, 0, 2, 0];
    vec![
        case("query: silence", Query, b"", Silence),
        case("query: hangs up", Query, b"", Close),
        case("query: half a packet", Query, &ok(1)[..6], Silence),
        case("query: an empty packet", Query, packet(1, b""), Silence),
        case("query: an error of many lines", Query, error("no\n\u{202e}\x1b[2Jway\0".as_bytes()), Close),
        case("query: an error that is no text", Query, error(b"\xff\xfe"), Close),
        case("query: half an error", Query, packet(1, b"\xff\x10"), Silence),
        case("later: silence", Later, b"", Silence),
        silent_to_the_first(),
        case("later: hangs up", Later, b"", Close),
        case("later: 2^62 columns", Later, counts(&[0xfe, 0, 0, 0, 0, 0, 0, 0, 64]), Silence),
        case("later: 2^62 columns and hangs up", Later, counts(&[0xfe, 0, 0, 0, 0, 0, 0, 0, 64]), Close),
        case("later: 2^24 columns", Later, counts(&[0xfd, 255, 255, 255]), Silence),
        case("later: 65535 columns", Later, counts(&[0xfc, 255, 255]), Silence),
        case("later: invalid columns", Later, [counts(&[3]), packet(2, b"x")].concat(), Silence),
        case("later: no columns", Later, [counts(&[2]), packet(2, eof)].concat(), Silence),
        case("later: half a number", Later, counts(&[0xfc, 1]), Silence),
        case("later: a file of here", Later, packet(1, b"\xfb/etc/passwd"), Silence),
        case("later: packets of 16 MiB", Later, [&[255, 255, 255, 1][..], &[1; 1 << 16]].concat(), Again),
        case("later: rows without an end", Later, [result(&[]), turns(b"\x01x")].concat(), Again),
        case("later: a number out of turn", Later, ok(7), Silence),
        case("later: no row", Later, result(&[eof]), Close),
        case("later: NULL", Later, result(&[&[0xfb], eof]), Close),
        case("later: half a row", Later, result(&[&[9, b'x'], eof]), Close),
        case("later: an invalid version", Later, result(&[b"\x04none", eof]), Close),
        case("later: a version in disguise", Later, result(&["\x07\u{202e}\x1b[2J".as_bytes(), eof]), Close),
        case("later: no end of the rows", Later, result(&[b"\x01x"]), Close),
        case("later: more results without an end", Later, turns(&[0, 0, 0, 8, 0, 0, 0]), Again),
        case("later: progress without an end", Later, turns(b"\xff\xff\xff\x01\x01\0\0\0\0x"), Again),
    ]
}

fn serve(case: &Case<Stage>, mut stream: TcpStream, number: usize) {
    if case.at == Greeting {
        return case.misbehave(&mut stream);
    }
    let flags = FLAGS | if case.at == Tls { u32::from(TLS) } else { 0 };
    let _ = stream.write_all(&greeting("8.0.31", flags));
    let mut heard = 0;
    let mut header = [0; 4];
    while stream.read_exact(&mut header).is_ok() {
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        let _ = stream.read_exact(&mut vec![0; length]);
        // The first packet is the login, the next three set a session up.
        let due = match case.at {
            Greeting | Tls | Login => heard == 0,
            Query => heard == 1,
            Later => heard == 4,
            FirstLater => heard == 4 && number == 0,
        };
        if due {
            return case.misbehave(&mut stream);
        }
        if stream.write_all(&ok(header[3] + 1)).is_err() {
            return;
        }
        heard += 1;
    }
}

fn url(case: &Case<Stage>, port: u16) -> String {
    let mode = if case.at == Tls { "REQUIRED" } else { "PREFERRED" };
    format!("mysql://me@127.0.0.1:{port}/bench?connect-timeout=1&ssl-mode={mode}")
}

#[test]
fn a_mysql_that_misbehaves_until_it_lets_in_ends_in_a_line() {
    all_end(&until_login(), url, serve);
}

#[test]
fn a_mysql_that_misbehaves_once_it_let_in_ends_in_a_line() {
    all_end(&from_login(), url, serve);
}

#[test]
fn a_signal_ends_every_verb_that_a_mysql_answers_nothing() {
    a_signal_ends_verbs(&silent_to_the_first(), url, serve);
}
