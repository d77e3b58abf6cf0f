//! Passwords of a MariaDB: from a variable, an option file or the keyboard, and in no line, file or process list.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use mindful_conformance::quick_place;

use crate::mariadb::server::UsersMariaDb;
use crate::mindful::processes::{all, command_line};
use crate::mindful::terminal::{BINARY, terminal, typed};
use crate::mindful::{Mindful, assert_has, ended, files, message, refused_with, wait_until, whole};

const PROMPT: &str = "Password of me@";
const SECRET: &str = "Zx9-unlikely-Qw7";
const SHORT: &str = "--schemas 1 --scale 2MiB --warmup 0s --duration 1s --think-time 50ms..50ms";

struct Bench {
    mindful: Mindful,
    server: UsersMariaDb,
    _place: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let place = quick_place();
        let server = UsersMariaDb::start(&place.path().join("db"), &[]);
        server.sql(&format!("CREATE USER me@localhost IDENTIFIED BY '{SECRET}'"));
        server.sql("GRANT ALL ON bench.* TO me@localhost");
        Self { mindful: Mindful::new(), server, _place: place }
    }

    fn url(&self) -> String {
        self.server.url_of("me", "bench")
    }

    /// A short run with the store as its home, and with only `variables` in its environment.
    fn command(&self, variables: &[(&str, &str)]) -> Command {
        let mut command = self.mindful.command(format!("run --target {} {SHORT}", self.url()));
        command.env_remove("MYSQL_PWD").env("HOME", self.mindful.folder()).envs(variables.iter().copied());
        command
    }

    fn run(&self, variables: &[(&str, &str)]) -> Output {
        self.command(variables).output().unwrap()
    }

    /// The terminal's content after `keys` are typed at the prompt of such a run, and its exit code.
    fn typed(&self, keys: &str) -> (String, Option<i32>) {
        let mut terminal = terminal(&self.mindful, &format!("{BINARY} run --target {} {SHORT}", self.url()));
        terminal.env("HOME", self.mindful.folder()).env_remove("MYSQL_PWD");
        let (shown, code) = typed(terminal, PROMPT, keys).unwrap();
        assert!(shown.contains(PROMPT), "there was no prompt: {shown}");
        (shown, code)
    }
}

fn refused(output: &Output) -> String {
    let line = refused_with(3, output);
    assert!(line.contains("Access denied") && !line.contains(SECRET), "{line}");
    line
}

#[test]
fn a_password_of_a_mariadb_shows_nowhere() {
    let bench = Bench::new();
    assert_has(refused(&bench.run(&[])), "MYSQL_PWD or ~/.my.cnf");

    let file = bench.mindful.path(".my.cnf");
    fs::write(&file, format!("[client]\npassword={SECRET}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert_has(message(&bench.run(&[])), "is not used: others can read it; run `chmod 600` on it");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let by_file = bench.run(&[]);
    fs::remove_file(&file).unwrap();

    let by_variable = bench.command(&[("MYSQL_PWD", SECRET)]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let by_variable = by_variable.unwrap();
    let of_me = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE user = 'me'";
    wait_until("it does not log in", || bench.server.count(of_me) > 0);
    assert!(all().all(|pid| !command_line(pid).contains(SECRET)));
    let by_variable = by_variable.wait_with_output().unwrap();
    let (typed, code) = bench.typed(&format!("mistyped\u{15}{SECRET}\n"));

    assert!(matches!(code, Some(0 | 1)), "{typed}");
    assert!(typed.contains("measuring") && !typed.contains(SECRET) && !typed.contains("mistyped"), "{typed}");
    for output in [&by_file, &by_variable] {
        assert!(ended(output), "{output:?}");
        assert!(!whole(output).contains(SECRET), "{output:?}");
    }
    let stored = files(bench.mindful.folder());
    assert!(stored.len() >= 3, "three runs are stored: {stored:?}");
    for path in stored {
        assert!(!String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(SECRET), "{}", path.display());
    }
}

#[test]
fn a_wrong_or_missing_password_is_reported_in_one_line() {
    let bench = Bench::new();
    for (keys, wanted, why) in [
        ("not-this-one\n", 3, "Access denied for user 'me'@'localhost'"),
        ("begun\u{3}", 130, "no password was typed"),
        ("\u{4}", 2, "no password was read"),
    ] {
        let (shown, code) = bench.typed(keys);
        assert_eq!(code, Some(wanted), "{shown}");
        assert!(shown.lines().any(|line| line.contains(why)), "{shown}");
        assert!(!shown.contains("not-this-one") && !shown.contains("begun"), "{shown}");
    }
}
