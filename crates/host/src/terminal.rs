//! The terminal at which somebody may sit.

use std::io::{self, ErrorKind, IsTerminal, Read, Write};

use rustix::termios::{self, LocalModes, OptionalActions};

/// What is typed after `question` on the terminal, which shows nothing of it; `None` where there is no terminal, or
/// something else has it, such as a full screen.
///
/// # Errors
/// The terminal fails; [`ErrorKind::Interrupted`] where Ctrl-C was typed.
pub fn secret(question: &str) -> io::Result<Option<String>> {
    let (terminal, mut reported) = (io::stdin(), io::stderr());
    if !terminal.is_terminal() || !reported.is_terminal() {
        return Ok(None);
    }
    let before = termios::tcgetattr(&terminal)?;
    if !before.local_modes.contains(LocalModes::ECHO) {
        return Ok(None);
    }
    let mut silent = before.clone();
    // Ctrl-C comes as a key, so that the terminal is as before whoever ends the process.
    silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
    termios::tcsetattr(&terminal, OptionalActions::Flush, &silent)?;
    // Whatever stood in this line goes: it may be one that is drawn anew.
    let typed = write!(reported, "\r\x1b[2K{question}").and_then(|()| line(&mut terminal.lock()));
    termios::tcsetattr(&terminal, OptionalActions::Flush, &before)?;
    reported.write_all(b"\n")?;
    typed.map(Some)
}

/// A line, key by key: backspace takes back a letter, Ctrl-U all of them.
fn line(keys: &mut impl Read) -> io::Result<String> {
    let (mut typed, mut key) = (Vec::new(), [0]);
    loop {
        let more = keys.read(&mut key)? == 1;
        match key[0] {
            3 if more => return Err(io::Error::new(ErrorKind::Interrupted, "Ctrl-C was typed")),
            b'\n' | b'\r' if more => break,
            0x7f | 8 if more => while typed.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            0x15 if more => typed.clear(),
            byte if more && byte != 4 => typed.push(byte),
            _ if typed.is_empty() => return Err(io::Error::new(ErrorKind::UnexpectedEof, "nothing was typed")),
            _ => break,
        }
    }
    String::from_utf8(typed).map_err(|_| io::Error::new(ErrorKind::InvalidData, "what was typed is no UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_make_a_line_and_take_it_back() {
        let of = |keys: &str| line(&mut keys.as_bytes()).map_err(|error| error.kind());
        assert_eq!(of("s3cret\nnot this"), Ok("s3cret".to_owned()));
        assert_eq!(of("wrong\u{15}säü\u{7f}\u{8}e\r"), Ok("se".to_owned()));
        assert_eq!(of("\u{7f}\n"), Ok(String::new()));
        assert_eq!(of("half\u{4}"), Ok("half".to_owned()));
        assert_eq!(of("no end"), Ok("no end".to_owned()));
        assert_eq!(of("\u{4}"), Err(ErrorKind::UnexpectedEof));
        assert_eq!(of("begun\u{3}\n"), Err(ErrorKind::Interrupted));
    }
}
