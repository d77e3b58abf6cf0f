//! Questions before something is removed or created.

use std::io::{BufRead, IsTerminal, Write as _};

use mindful_core::{Error, Result};

/// Asks `question`; refuses for `verb` without a terminal.
pub(crate) fn yes(verb: &str, question: &str) -> Result<bool> {
    if !can_ask() {
        return Err(Error::plan(format!("{verb} needs confirmation, and stdin is not a terminal"), "pass --yes"));
    }
    Ok(ask(question))
}

pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal()
}

pub(crate) fn ask(question: &str) -> bool {
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
