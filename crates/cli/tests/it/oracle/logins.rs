//! The password of an account: typed at a terminal, from the environment, from a file of its own; and in no output or file.

use std::fs;
use std::process::Command;

use super::fake::wire::Server;
use super::fake::{Database, PASSWORD};
use super::{Place, SHORT, made_up};
use crate::mindful::terminal::{converse, terminal, typed};
use crate::mindful::{Mindful, assert_has, files, refused};

const PROMPT: &str = "Password of bench";

/// `line` in a terminal without a password in its environment.
fn without_password(place: &Place, line: &str) -> Command {
    let mut terminal = terminal(&place.mindful, line);
    terminal.env_remove("ORACLE_PASSWORD");
    terminal
}

/// The terminal's content after `keys` are typed at the prompt of a load of `place`, and its exit code.
fn load(place: &Place, keys: &str) -> (String, Option<i32>) {
    let line = format!("{} load --target {} --schemas 1 --scale 400", env!("CARGO_BIN_EXE_mindful"), place.target);
    let (shown, code) = typed(without_password(place, &line), PROMPT, keys).unwrap();
    assert!(shown.contains(PROMPT), "there was no prompt: {shown}");
    (shown, code)
}

#[test]
fn a_password_is_asked_for_and_shows_nowhere() {
    let Some((database, _server, place)) = made_up("asked", 24) else { return };
    let nobody = place.command("load").env_remove("ORACLE_PASSWORD").output().unwrap();
    assert_has(refused(&nobody), "set ORACLE_PASSWORD, or pass --password-file");
    let (shown, code) = load(&place, "wrong\n");
    assert!(code == Some(3) && shown.contains("ORA-01017") && !shown.contains("wrong"), "{code:?}: {shown}");
    let (shown, code) = load(&place, &format!("{PASSWORD}\n"));
    assert!(code == Some(0) && !shown.contains(PASSWORD), "{code:?}: {shown}");
    assert!(database.state().tables.contains_key("MINDFUL_BLOCKS_1"));
    place.run(("run", SHORT));
    for file in files(place.mindful.folder()) {
        assert!(!String::from_utf8_lossy(&fs::read(&file).unwrap()).contains(PASSWORD), "{}", file.display());
    }
}

/// The modes of a terminal, as `stty` names them, after `signal` at the prompt of such a load.
fn modes_after(place: &Place, signal: &str) -> String {
    let [pid, modes, script] = ["pid", "modes", "load.sh"].map(|name| place.mindful.path(name));
    let load = format!("{} load --target {}", env!("CARGO_BIN_EXE_mindful"), place.target);
    let lines = format!("sh -c 'echo $$ > {}; exec {load}'\nstty -a > {}\n", pid.display(), modes.display());
    fs::write(&script, lines).unwrap();
    let terminal = without_password(place, &format!("sh {}", script.display()));
    let signalled = converse(terminal, PROMPT, |_| {
        let number = fs::read_to_string(&pid).unwrap();
        assert!(Command::new("kill").args([signal, number.trim()]).status().unwrap().success());
    });
    let (shown, _) = signalled.unwrap();
    assert!(shown.contains(PROMPT), "there was no prompt: {shown}");
    fs::read_to_string(&modes).unwrap()
}

#[test]
fn a_signal_at_a_password_gives_the_terminal_back() {
    let database = Database::create("left");
    let Some(server) = Server::start(&database, 24) else { return };
    for signal in ["-INT", "-TERM", "-HUP"] {
        let target = format!("oracle://bench@127.0.0.1:{}/made_up", server.port);
        let modes = modes_after(&Place { mindful: Mindful::new(), target }, signal);
        for mode in ["echo", "icanon", "isig"] {
            assert!(modes.split_ascii_whitespace().any(|word| word == mode), "no {mode} after {signal}: {modes}");
        }
    }
}
