//! A tiny database server, and what an instance has to know of it: the smallest [`Program`] there is. It keeps lines in
//! a journal and counts them, for each connection to its socket.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mindful_core::{Error, Result};
use mindful_instance::files::read_text;
use mindful_instance::log::first_with;
use mindful_instance::program::{Chosen, Conditions, Making, Program, Purpose, ServerKind, Site};
use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

pub(crate) static KIND: ServerKind = ServerKind {
    name: "Tiny",
    data: "data",
    first_file: "VERSION",
    plain_files: &["VERSION", "journal"],
    own_files: &["motto"],
    socket: "tiny.sock",
    pid_files: &["tiny.pid"],
    beside_socket: None,
    processes: &["tiny-server"],
    stop: [Signal::TERM, Signal::KILL],
    crashes: &["[PANIC]"],
    has_recovered: "[READY]",
    waits_for_room: &[],
    fixed: &["socket"],
    separator: None,
    least_log_bytes: 1 << 20,
    setting: "greeting=hello",
};

#[derive(Debug, Default, Clone)]
pub(crate) struct Tiny {
    /// This test program under the server's name.
    pub program: PathBuf,
    pub trouble: Option<&'static str>,
    /// Milliseconds between listening and accepting connections.
    pub slow: u32,
    /// Its output instead of stopping in order.
    pub deaf: Option<&'static str>,
    /// Whether its data folder cannot be made.
    pub barren: bool,
}

impl Program for Tiny {
    fn kind(&self) -> &'static ServerKind {
        &KIND
    }

    fn version(&self) -> &'static str {
        "1.0"
    }

    fn initialise(&self, making: &Making<'_>) -> Result<()> {
        let end = if self.barren { "echo '[ERROR] no room' >&2; exit 1" } else { "echo 1.0 >VERSION" };
        let log = making.log_dir.unwrap_or(Path::new(".")).display();
        making.run(making.command("/bin/sh").args(["-c", &format!("cat >{log}/journal; {end}")]), Some("begun\n"))
    }

    fn fits(&self, data: &Path) -> Result<()> {
        match read_text(&data.join(KIND.first_file), 64) {
            Ok(version) if version.trim() == self.version() => Ok(()),
            other => Err(Error::plan(format!("the data is of {other:?}"), "pass another --data-dir")),
        }
    }

    fn choose(&self, conditions: &Conditions<'_>) -> Result<Vec<Chosen>> {
        let of = |name: &str, value: String| Chosen { name: name.to_owned(), value, reason: "a test".to_owned() };
        let sessions = conditions.sessions.next_multiple_of(10).to_string();
        Ok(vec![
            of("TINY_SESSIONS", sessions),
            of("TINY_SAFE", (conditions.purpose == Purpose::Run).to_string()),
            of("TINY_SLOW", self.slow.to_string()),
        ])
    }

    fn before_start(&self, site: &Site<'_>) -> std::io::Result<()> {
        fs::write(site.folder.join("motto"), "small is beautiful")
    }

    fn command_line(&self, site: &Site<'_>, chosen: &[Chosen]) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec!["env".into()];
        line.extend(chosen.iter().map(|one| format!("{}={}", one.name, one.value).into()));
        line.extend(self.trouble.map(|trouble| format!("TINY_TROUBLE={trouble}").into()));
        line.extend(self.deaf.map(|said| format!("TINY_DEAF={said}").into()));
        line.push(format!("{DATA}={}", site.data.display()).into());
        line.push(format!("{LOG}={}", site.log_dir.as_ref().unwrap_or(&site.data).display()).into());
        line.push(format!("{SOCKET}={}", site.socket.join(KIND.socket).display()).into());
        line.push(self.program.clone().into());
        line.extend(["--exact", "tiny::a_torn_line_is_cut_when_the_server_starts", "--nocapture"].map(Into::into));
        line
    }

    fn is_ready(&self, site: &Site<'_>, _pid: u32) -> bool {
        site.is_greeted(&KIND)
    }

    fn complaint(&self, said: &str) -> Option<String> {
        first_with(said, &["[ERROR]"])
    }

    fn next_move(&self, complaint: &str) -> &'static str {
        if complaint.contains("fire") { "call the fire brigade" } else { "read its log" }
    }
}

pub(crate) fn ask(socket_folder: &Path, what: &str) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(socket_folder.join(KIND.socket))?;
    writeln!(stream, "{what}")?;
    let answer = BufReader::new(stream).lines().nth(1).transpose()?.unwrap_or_default();
    Ok(answer)
}

const DATA: &str = "TINY_DATA";
const LOG: &str = "TINY_LOG";
const SOCKET: &str = "TINY_SOCKET";

/// The server that an instance starts, as a process; run on its own, it is the server's own test.
#[test]
fn a_torn_line_is_cut_when_the_server_starts() {
    if let Some(data) = std::env::var_os(DATA) {
        return serve(Path::new(&data));
    }
    let top = tempfile::tempdir().unwrap();
    let path = top.path().join("journal");
    fs::write(&path, "begun\none\ntw").unwrap();
    assert_eq!(recover(&path).1, 2);
    assert_eq!(fs::read_to_string(&path).unwrap(), "begun\none\n");
}

fn serve(data: &Path) {
    // A database works in its data folder.
    std::env::set_current_dir(data).unwrap();
    if let Ok(trouble) = std::env::var("TINY_TROUBLE") {
        panic!("\n[ERROR] {trouble}\n[ERROR] Aborting");
    }
    let (journal, lines) = recover(&Path::new(&std::env::var_os(LOG).unwrap()).join("journal"));
    let socket = std::env::var_os(SOCKET).unwrap();
    let _ = fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).unwrap();
    // Without a signal handler until then, like other servers.
    let (stop, stopped) = std::sync::mpsc::channel();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).unwrap();
    std::thread::spawn(move || signals.forever().for_each(|_| stop.send(()).unwrap()));
    std::thread::sleep(Duration::from_millis(std::env::var("TINY_SLOW").unwrap().parse().unwrap()));
    while stopped.try_recv().is_ok() {}
    std::thread::spawn(move || answer(&listener, journal, lines));
    stopped.recv().unwrap();
    if let Ok(said) = std::env::var("TINY_DEAF") {
        let _ = writeln!(std::io::stderr(), "\n{said}");
        std::thread::sleep(Duration::from_mins(10));
    }
    fs::remove_file(&socket).unwrap();
}

fn answer(listener: &UnixListener, mut journal: File, mut lines: usize) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        // A client that only probes may be gone.
        let _ = writeln!(stream, "Tiny {}", std::process::id());
        let mut asked = String::new();
        let _ = BufReader::new(&stream).read_line(&mut asked);
        let reply = match asked.trim() {
            "count" => lines.to_string(),
            "settings" => ["TINY_SESSIONS", "TINY_SAFE"].map(|name| std::env::var(name).unwrap()).join(" "),
            "" => continue,
            line => {
                writeln!(journal, "{line}").and_then(|()| journal.sync_data()).unwrap();
                lines += 1;
                "written".to_owned()
            }
        };
        let _ = writeln!(stream, "{reply}");
    }
}

/// The journal without a line that a crash tore, and how many it has.
fn recover(path: &Path) -> (File, usize) {
    let text = fs::read_to_string(path).unwrap();
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let journal = OpenOptions::new().append(true).open(path).unwrap();
    journal.set_len(whole as u64).unwrap();
    (journal, text[..whole].lines().count())
}
