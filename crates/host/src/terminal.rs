//! The terminal at which somebody may sit.

use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::sync::{Mutex, PoisonError};

use rustix::process::getpgrp;
use rustix::termios::{self, LocalModes, OptionalActions, Termios};

/// Reads a secret after `question` on the terminal, without echo. `None` without a terminal, or if something else uses
/// it, such as a full screen.
///
/// # Errors
/// The terminal fails; [`ErrorKind::Interrupted`] after Ctrl-C.
pub fn secret(question: &str) -> io::Result<Option<String>> {
    let (terminal, mut prompt) = (io::stdin(), io::stderr());
    if !terminal.is_terminal() || !prompt.is_terminal() {
        return Ok(None);
    }
    let before = termios::tcgetattr(&terminal)?;
    if !before.local_modes.contains(LocalModes::ECHO) {
        return Ok(None);
    }
    let silent = Silent::begin(before)?;
    // The line is cleared first: it may be drawn again.
    let typed = write!(prompt, "\r\x1b[2K{question}").and_then(|()| line(&mut terminal.lock()));
    drop(silent);
    prompt.write_all(b"\n")?;
    typed.map(Some)
}

/// The terminal as it was before it was made silent, for code that makes it visible again.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Switches the echo of the terminal off, until this is dropped.
struct Silent;

impl Silent {
    fn begin(before: Termios) -> io::Result<Self> {
        let mut silent = before.clone();
        // Ctrl-C arrives as a key, so only mindful ends the process by it.
        silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        let mut kept = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(before);
        termios::tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self)
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        give_back();
    }
}

/// Restores the terminal if a secret is being typed on it; for code that ends the process at once.
pub fn restore() {
    // A terminal that the shell took back has the shell's modes, and a background process that sets them is stopped.
    if !termios::tcgetpgrp(io::stdin()).is_ok_and(|front| front != getpgrp()) {
        give_back();
    }
}

fn give_back() {
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // Without a terminal there is nothing to restore.
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Flush, &before);
    }
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
    String::from_utf8(typed).map_err(|_| io::Error::new(ErrorKind::InvalidData, "the typed text is not UTF-8"))
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
