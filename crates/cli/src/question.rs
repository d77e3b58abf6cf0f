//! Questions before something is removed, or made where it may not have been meant.

use std::io::{BufRead, IsTerminal, Write as _};

use mindful_core::{Error, Result};

/// Asks `question` and waits for a yes or a no; refuses for `verb` where nobody is there to answer.
pub fn yes(verb: &str, question: &str) -> Result<bool> {
    if !somebody_is_there() {
        return Err(Error::plan(format!("{verb} asks before it removes, and nobody is there to answer"), "give --yes"));
    }
    Ok(ask(question))
}

/// Whether somebody can be asked.
pub fn somebody_is_there() -> bool {
    std::io::stdin().is_terminal()
}

/// Asks `question` and waits for a yes or a no.
pub fn ask(question: &str) -> bool {
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
