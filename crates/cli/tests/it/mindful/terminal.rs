//! mindful in a pseudo-terminal, which `script` of util-linux has.

use std::io::{Read as _, Write as _};
use std::process::{ChildStdin, Command, Stdio};

use mindful_conformance::not_run;

use crate::mindful::Mindful;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_mindful");

pub(crate) fn terminal(mindful: &Mindful, line: &str) -> Command {
    let mut script = Command::new("script");
    script.args(["-qec", line, "/dev/null"]);
    mindful.at_home(script)
}

/// What the terminal shows and the exit code, with `answer` called once it shows `prompt`. `None` without `script`.
pub(crate) fn converse(
    mut terminal: Command,
    prompt: &str,
    answer: impl FnOnce(&mut ChildStdin),
) -> Option<(String, Option<i32>)> {
    let Ok(mut terminal) = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        not_run("`script` of util-linux, which has a terminal of its own, is not there");
        return None;
    };
    let (mut keyboard, mut screen) = (terminal.stdin.take().unwrap(), terminal.stdout.take().unwrap());
    let (mut shown, mut piece, mut answer) = (Vec::new(), [0; 4096], Some(answer));
    while let Ok(length @ 1..) = screen.read(&mut piece) {
        shown.extend_from_slice(&piece[..length]);
        // Input before the prompt is dropped.
        if String::from_utf8_lossy(&shown).contains(prompt)
            && let Some(answer) = answer.take()
        {
            answer(&mut keyboard);
        }
    }
    let code = terminal.wait().unwrap().code();
    Some((String::from_utf8_lossy(&shown).into_owned(), code))
}

pub(crate) fn typed(terminal: Command, prompt: &str, keys: &str) -> Option<(String, Option<i32>)> {
    converse(terminal, prompt, |keyboard| keyboard.write_all(keys.as_bytes()).unwrap())
}
