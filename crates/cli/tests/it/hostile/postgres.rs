//! A PostgreSQL that behaves well until it misbehaves.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::{Case, Then, a_signal_ends_verbs, all_end, case};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Tls,
    Login,
    Query,
    Parse,
    Bind,
    /// Of the first connection; all others are answered.
    FirstBind,
}
use Stage::{Bind, FirstBind, Login, Parse, Query, Tls};
use Then::{Again, Close, Silence};

fn message(tag: u8, body: impl AsRef<[u8]>) -> Vec<u8> {
    let length = u32::try_from(body.as_ref().len() + 4).unwrap().to_be_bytes();
    [&[tag], &length[..], body.as_ref()].concat()
}

/// The head of a message that announces this length.
fn head(tag: u8, length: u32) -> Vec<u8> {
    [&[tag], &length.to_be_bytes()[..]].concat()
}

fn login(method: u32, data: &[u8]) -> Vec<u8> {
    message(b'R', [&method.to_be_bytes(), data].concat())
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

fn columns(count: u16, oid: u32) -> Vec<u8> {
    let one = [b"c\0\0\0\0\0\0\0", &oid.to_be_bytes()[..], &[0, 4, 255, 255, 255, 255, 0, 0]].concat();
    message(b'T', [count.to_be_bytes().to_vec(), one.repeat(count.into())].concat())
}

fn row(values: &[&[u8]]) -> Vec<u8> {
    let value = |value: &&[u8]| [&(value.len() as u32).to_be_bytes(), *value].concat();
    let all: Vec<u8> = values.iter().flat_map(value).collect();
    message(b'D', [&(values.len() as u16).to_be_bytes()[..], &all].concat())
}

/// What prepares a statement that returns one column of this type.
fn prepared(oid: u32) -> Vec<u8> {
    [message(b'1', b""), message(b't', [0, 0]), columns(1, oid), ready()].concat()
}

fn error(message_text: &[u8]) -> Vec<u8> {
    message(b'E', [b"SFATAL\0VFATAL\0CXX000\0M", message_text, b"\0\0"].concat())
}

fn welcome() -> Vec<u8> {
    [login(0, b""), message(b'S', b"server_version\x0017.5\0"), message(b'K', [0; 8]), ready()].concat()
}

fn scram_with(challenge: &[u8]) -> Vec<u8> {
    [login(10, b"SCRAM-SHA-256\0\0"), login(11, challenge)].concat()
}

fn until_login() -> Vec<Case<Stage>> {
    let distinct: Vec<u8> = (0..5000).flat_map(|n| message(b'S', format!("name_{n}\0value\0"))).collect();
    vec![
        case("tls: silence", Tls, b"", Silence),
        case("tls: hangs up", Tls, b"", Close),
        case("tls: another protocol", Tls, b"HTTP/1.1 400 Bad Request\r\n\r\n", Close),
        case("tls: neither yes nor no", Tls, b"X", Silence),
        case("tls: yes, and silence", Tls, b"S", Silence),
        case("tls: yes, and noise", Tls, b"S\x17\x03\x03\xff\xffnoise", Again),
        case("tls: yes, and hangs up", Tls, b"S", Close),
        case("tls: no without an end", Tls, b"N", Again),
        case("tls: an error of old", Tls, b"EFATAL: no\n\0", Close),
        case("login: silence", Login, b"", Silence),
        case("login: hangs up", Login, b"", Close),
        case("login: another protocol", Login, b"SSH-2.0-OpenSSH_9.9\r\n", Silence),
        case("login: half a message", Login, &login(0, b"")[..4], Silence),
        case("login: half a message and hangs up", Login, &login(0, b"")[..4], Close),
        case("login: length 0", Login, head(b'R', 0), Silence),
        case("login: length 3", Login, head(b'R', 3), Silence),
        case("login: negative length", Login, head(b'R', u32::MAX), Silence),
        case("login: 2 GiB without an end", Login, [head(b'N', (1 << 31) - 1), vec![b'x'; 1 << 16]].concat(), Again),
        case("login: unknown method", Login, login(99, b""), Silence),
        case("login: Kerberos", Login, login(2, b""), Silence),
        case("login: GSSAPI", Login, login(7, b""), Silence),
        case("login: SSPI", Login, login(9, b""), Silence),
        case("login: half a salt", Login, login(5, b"ab"), Silence),
        case("login: clear text again and again", Login, login(3, b""), Again),
        case("login: unknown mechanism", Login, login(10, b"HOTPASS\0\0"), Silence),
        case("login: mechanisms without an end", Login, login(10, b"SCRAM-SHA-256\0x\0").repeat(9), Again),
        case("login: a mechanism without its end", Login, login(10, b"SCRAM-SHA-256"), Silence),
        case("login: SCRAM with another nonce", Login, scram_with(b"r=other,s=c2FsdA==,i=4096"), Silence),
        case("login: SCRAM with 2^31 rounds", Login, scram_with(b"r=n,s=c2FsdA==,i=2147483647"), Silence),
        case("login: SCRAM with an empty challenge", Login, scram_with(b""), Silence),
        case("login: SCRAM ends before it began", Login, login(12, b"v=AAAA"), Silence),
        case("login: in, and silence", Login, login(0, b""), Silence),
        case("login: in, and hangs up", Login, login(0, b""), Close),
        case("login: parameters without an end", Login, [login(0, b""), distinct].concat(), Again),
        case("login: a long parameter", Login, [login(0, b""), message(b'S', vec![b'x'; 1 << 17])].concat(), Silence),
        case("login: a parameter without its end", Login, [login(0, b""), message(b'S', b"name")].concat(), Silence),
        case("login: notices without an end", Login, [login(0, b""), message(b'N', b"SX\0\0")].concat(), Again),
        case("login: half a key", Login, [login(0, b""), message(b'K', b"x")].concat(), Silence),
        case("login: ready without a state", Login, [login(0, b""), message(b'Z', b"")].concat(), Silence),
        case("login: rows of no query", Login, [login(0, b""), row(&[b"1"])].concat(), Again),
        case("login: an error of many lines", Login, error("no\n\u{202e}\x1b[2Jway\u{2066}".as_bytes()), Close),
        case("login: an error that is no text", Login, error(b"\xff\xfe\xfd"), Close),
        case("login: an error without fields", Login, message(b'E', b""), Close),
        case("login: an error without its end", Login, message(b'E', b"SFATAL"), Close),
        case("login: a long error", Login, message(b'E', vec![b'M'; 1 << 20]), Close),
        case("login: another version", Login, message(b'v', [0; 8]), Silence),
    ]
}

fn int(value: i32) -> Vec<u8> {
    row(&[&value.to_be_bytes()])
}

fn answer(rows: Vec<u8>) -> Vec<u8> {
    [message(b'2', b""), rows, message(b'C', b"SELECT 1\0"), ready()].concat()
}

fn silent_to_the_first() -> Case<Stage> {
    case("bind: silence, and answers to others", FirstBind, b"", Silence)
}

fn from_login() -> Vec<Case<Stage>> {
    vec![
        case("query: silence", Query, b"", Silence),
        case("query: hangs up", Query, b"", Close),
        case("query: half a message", Query, &columns(1, 25)[..9], Silence),
        case("query: 2 GiB without an end", Query, [head(b'D', (1 << 31) - 1), vec![b'x'; 1 << 16]].concat(), Again),
        case("query: rows without an end", Query, [columns(1, 25), row(&[&[b'x'; 1 << 16]])].concat(), Again),
        case("query: small rows without an end", Query, [columns(0, 25), row(&[]).repeat(9999)].concat(), Again),
        case("query: descriptions without an end", Query, columns(100, 25), Again),
        case("query: 65535 columns", Query, columns(u16::MAX, 25), Silence),
        case("query: more columns than described", Query, message(b'T', b"\xff\xffc\0"), Silence),
        case("query: more values than sent", Query, [columns(1, 25), message(b'D', b"\x7f\xff")].concat(), Silence),
        case(
            "query: a negative value",
            Query,
            [columns(1, 25), message(b'D', b"\0\x01\xff\xff\xff\xfe")].concat(),
            Close,
        ),
        case("query: notices without an end", Query, message(b'N', b"SX\0\0").repeat(999), Again),
        case("query: a parameter without an end", Query, message(b'S', b"a\0b\0").repeat(999), Again),
        case("query: notifications without an end", Query, message(b'A', b"\0\0\0\0a\0b\0").repeat(999), Again),
        case("query: ready without an end", Query, ready().repeat(999), Again),
        case("query: nothing, and silence", Query, message(b'I', b""), Silence),
        case("query: a copy", Query, message(b'G', [0; 3]), Silence),
        case("query: a copy to here", Query, [message(b'H', [0; 3]), message(b'd', b"x").repeat(999)].concat(), Again),
        case("query: no tag", Query, message(0, b"x"), Silence),
        case("query: an invalid tag", Query, message(0xff, b"x"), Silence),
        case("query: an error with NUL and bidi", Query, error("\0\u{202e}no\u{2067}".as_bytes()), Close),
        case("query: an error of many lines", Query, error("no\r\nway\x1b]0;x\x07".as_bytes()), Close),
        case("parse: silence", Parse, b"", Silence),
        case("parse: hangs up", Parse, b"", Close),
        case("parse: parameters without an end", Parse, message(b't', [0xff; 1 << 15]), Again),
        case("parse: an invalid type", Parse, prepared(70_000), Silence),
        case("parse: no answer to what was asked", Parse, ready(), Silence),
        case("parse: the answer to something else", Parse, [message(b'3', b""), ready()].concat(), Silence),
        case("bind: silence", Bind, b"", Silence),
        case("bind: hangs up", Bind, b"", Close),
        case("bind: no row", Bind, answer(Vec::new()), Silence),
        case("bind: two rows", Bind, answer(int(1).repeat(2)), Silence),
        case("bind: NULL", Bind, answer(message(b'D', b"\0\x01\xff\xff\xff\xff")), Silence),
        case("bind: too short a number", Bind, answer(row(&[b"1"])), Silence),
        case("bind: too many values", Bind, answer(row(&[b"0001", b"0002"])), Silence),
        case("bind: no values", Bind, answer(row(&[])), Silence),
        case("bind: rows without an end", Bind, [message(b'2', b""), int(1).repeat(99)].concat(), Again),
        silent_to_the_first(),
        case("bind: no end of the answer", Bind, [message(b'2', b""), int(1)].concat(), Silence),
    ]
}

fn serve(case: &Case<Stage>, mut stream: TcpStream, number: usize) {
    let mut length = [0; 4];
    if stream.read_exact(&mut length).is_err() {
        return;
    }
    let mut startup = vec![0; u32::from_be_bytes(length) as usize - 4];
    let _ = stream.read_exact(&mut startup);
    if matches!(case.at, Tls | Login) {
        return case.misbehave(&mut stream);
    }
    let _ = stream.write_all(&welcome());
    let pid = i32::try_from(number).unwrap() + 1;
    let mut head = [0; 5];
    while stream.read_exact(&mut head).is_ok() {
        let [tag, length @ ..] = head;
        let _ = stream.read_exact(&mut vec![0; u32::from_be_bytes(length) as usize - 4]);
        let due = matches!((tag, case.at), (b'Q', Query) | (b'P', Parse) | (b'B', Bind))
            || (tag, case.at, number) == (b'B', FirstBind, 0);
        let answer = match tag {
            _ if due => return case.misbehave(&mut stream),
            b'Q' => {
                let begun = row(&[b"me", b"me", pid.to_string().as_bytes(), b"1"]);
                [columns(4, 25), begun, message(b'C', b"SELECT 1\0"), ready()].concat()
            }
            b'P' => prepared(23),
            b'B' => answer(int(pid)),
            _ => continue,
        };
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

fn url(case: &Case<Stage>, port: u16) -> String {
    let mode = if case.at == Tls { "prefer" } else { "disable" };
    format!("postgres://me@127.0.0.1:{port}/bench?connect_timeout=1&sslmode={mode}")
}

#[test]
fn a_postgres_that_misbehaves_until_it_lets_in_ends_in_a_line() {
    all_end(&until_login(), url, serve);
}

#[test]
fn a_postgres_that_misbehaves_once_it_let_in_ends_in_a_line() {
    all_end(&from_login(), url, serve);
}

#[test]
fn a_signal_ends_every_verb_that_a_postgres_answers_nothing() {
    a_signal_ends_verbs(&silent_to_the_first(), url, serve);
}
