//! A server started by hand, on a socket and optionally on a port.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mindful_conformance::{Fixture, quick_place};
use mindful_mysql::ENGINE;
use mindful_mysql::private::USER;
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use tempfile::TempDir;

use crate::shared;
use crate::support::{Kind, made, started};

/// Has data and settings like a private server. Ends when this is dropped.
pub(crate) struct ByHand {
    process: Child,
    pub socket: PathBuf,
    _place: TempDir,
}

/// The command line of a private server: its program and arguments, in which `{}` is its folder.
#[derive(Clone)]
struct Line {
    program: PathBuf,
    words: Vec<String>,
}

/// The one of `kind`, read from a server that is started once.
fn line_of(kind: Kind) -> Line {
    static LINES: Mutex<Vec<(Kind, Line)>> = Mutex::new(Vec::new());
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, line)) = lines.iter().find(|(of, _)| *of == kind) {
        return line.clone();
    }
    let place = quick_place();
    let folder = place.path().join("db");
    let private = started(kind, &folder, &[]);
    let words = fs::read_to_string(format!("/proc/{}/cmdline", private.pid())).unwrap();
    let words = words.split_terminator('\0').skip(1).map(|word| word.replace(folder.to_str().unwrap(), "{}"));
    let program = fs::read_link(format!("/proc/{}/exe", private.pid())).unwrap();
    let line = Line { program, words: words.collect() };
    lines.push((kind, line.clone()));
    line
}

impl ByHand {
    pub(crate) fn start(kind: Kind, extra: &[&str]) -> Self {
        let Line { program, words } = line_of(kind);
        let place = quick_place();
        let folder = place.path().join("db");
        made(kind, &folder);
        let (data, temporary) = (folder.join("data"), folder.join("temporary"));
        let owner = fs::metadata(&data).unwrap();
        fs::create_dir(&temporary).unwrap();
        chown(&temporary, Some(owner.uid()), Some(owner.gid())).unwrap();
        let socket = data.join("by-hand.sock");
        let mut command = Command::new(program);
        command.args(words.iter().map(|word| word.replace("{}", folder.to_str().unwrap())));
        command
            .args([("socket", &socket), ("tmpdir", &temporary)].map(|(of, path)| format!("--{of}={}", path.display())));
        command.args(extra).current_dir(&data).uid(owner.uid()).gid(owner.gid()).stderr(Stdio::null());
        let server = Self { process: command.spawn().unwrap(), socket, _place: place };
        let begun = Instant::now();
        while UnixStream::connect(&server.socket).is_err() {
            assert!(begun.elapsed() < Duration::from_mins(1), "the server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// The same, listening on `port` of this host as well.
    pub(crate) fn on_port(kind: Kind, port: u16, extra: &[&str]) -> Self {
        let port = format!("--port={port}");
        let networking = ["--skip-networking=OFF", "--bind-address=127.0.0.1", &port];
        Self::start(kind, &[&networking[..], extra].concat())
    }

    /// A target on it, with so many blocks a schema.
    pub(crate) fn fixture(&self, blocks: u64) -> Fixture {
        let mut fixture = Fixture::new(&ENGINE, shared::url(&self.socket, "mindful"));
        fixture.dataset.blocks_per_schema = blocks;
        fixture
    }

    pub(crate) fn sql(&self, statements: &[&str]) {
        let socket = Some(self.socket.display().to_string());
        let options = OptsBuilder::new().socket(socket).user(Some(USER)).prefer_socket(false);
        let mut connection = Conn::new(options).unwrap();
        for statement in statements {
            connection.query_drop(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
