//! The password of an account: typed at a terminal, from the environment, from a file of its own; and in no output or file.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use super::fake::wire::Server;
use super::fake::{Database, PASSWORD};
use super::{Place, text};
use crate::mindful::Mindful;

/// What a terminal shows of a load of `place` on which `keys` are typed once it asks, and its exit code.
fn typed(place: &Place, keys: &str) -> (String, Option<i32>) {
    let binary = env!("CARGO_BIN_EXE_mindful");
    let line = format!("{binary} load --target {} --schemas 1 --scale 400", place.target);
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).current_dir(place.mindful.folder()).env_remove("ORACLE_PASSWORD");
    terminal.env("MINDFUL_STORE", place.mindful.folder()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut terminal = terminal.spawn().expect("script is there: apt-get install bsdutils");
    let (mut typing, mut shown) = (terminal.stdin.take().unwrap(), terminal.stdout.take().unwrap());
    let (mut reported, mut part, mut asked) = (Vec::new(), [0; 4096], false);
    while let Ok(length @ 1..) = shown.read(&mut part) {
        reported.extend(&part[..length]);
        if !asked && String::from_utf8_lossy(&reported).contains("Password of bench") {
            asked = true;
            typing.write_all(keys.as_bytes()).unwrap();
        }
    }
    let reported = String::from_utf8_lossy(&reported).into_owned();
    assert!(asked, "nobody was asked: {reported}");
    (reported, terminal.wait().unwrap().code())
}

/// Whether a file under `folder` holds the password.
fn holds_password(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return holds_password(&path);
        }
        String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).contains(PASSWORD)
    })
}

#[test]
fn a_password_is_asked_for_and_shows_nowhere() {
    let database = Database::create("asked");
    let Some(server) = Server::start(&database, 24) else { return };
    let target = format!("oracle://bench@127.0.0.1:{}/made_up", server.port);
    let place = Place { mindful: Mindful::new(), target };
    let nobody = place.mindful.command(&["load", "--target", &place.target]).env_remove("ORACLE_PASSWORD").output();
    let nobody = nobody.unwrap();
    let reported = text(&nobody);
    assert!(
        nobody.status.code() == Some(2) && reported.contains("set ORACLE_PASSWORD, or give --password-file"),
        "{reported}"
    );
    let (reported, code) = typed(&place, "wrong\n");
    assert!(code == Some(3) && reported.contains("ORA-01017") && !reported.contains("wrong"), "{code:?}: {reported}");
    let (reported, code) = typed(&place, &format!("{PASSWORD}\n"));
    assert!(code == Some(0) && !reported.contains(PASSWORD), "{code:?}: {reported}");
    assert!(database.state().tables.contains_key("MINDFUL_BLOCKS_1"));
    let run = ["--schemas", "1", "--scale", "400", "--sessions", "1", "--warmup", "0s", "--duration", "1s"];
    place.run("run", &run);
    assert!(!holds_password(place.mindful.folder()), "a stored file tells the password");
}

/// The modes of a terminal, as `stty` names them, after such a load got `signal` once it asked.
fn modes_after(place: &Place, signal: &str) -> String {
    let [pid, modes, script] = ["pid", "modes", "load.sh"].map(|name| place.mindful.folder().join(name));
    let load = format!("{} load --target {}", env!("CARGO_BIN_EXE_mindful"), place.target);
    let lines = format!("sh -c 'echo $$ > {}; exec {load}'\nstty -a > {}\n", pid.display(), modes.display());
    fs::write(&script, lines).unwrap();
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &format!("sh {}", script.display()), "/dev/null"]).current_dir(place.mindful.folder());
    terminal.env("MINDFUL_STORE", place.mindful.folder()).env_remove("ORACLE_PASSWORD");
    let mut terminal = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut reported, mut part, mut asked) = (Vec::new(), [0; 4096], false);
    let mut shown = terminal.stdout.take().unwrap();
    while let Ok(length @ 1..) = shown.read(&mut part) {
        reported.extend(&part[..length]);
        if !asked && String::from_utf8_lossy(&reported).contains("Password of bench") {
            asked = true;
            let number = fs::read_to_string(&pid).unwrap();
            assert!(Command::new("kill").args([signal, number.trim()]).status().unwrap().success());
        }
    }
    assert!(asked, "nobody was asked: {}", String::from_utf8_lossy(&reported));
    terminal.wait().unwrap();
    fs::read_to_string(&modes).unwrap()
}

#[test]
fn a_signal_at_a_password_gives_the_terminal_back() {
    let database = Database::create("left");
    let Some(server) = Server::start(&database, 24) else { return };
    for signal in ["-INT", "-TERM", "-HUP"] {
        let target = format!("oracle://bench@127.0.0.1:{}/made_up", server.port);
        let reported = modes_after(&Place { mindful: Mindful::new(), target }, signal);
        for mode in ["echo", "icanon", "isig"] {
            assert!(reported.split_ascii_whitespace().any(|word| word == mode), "no {mode} after {signal}: {reported}");
        }
    }
}
