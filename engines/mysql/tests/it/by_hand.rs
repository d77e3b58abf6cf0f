//! A server that somebody starts by hand, on a socket and, where that is asked for, on a port.

use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mindful_mysql::server::USER;
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};

use crate::support::{Kind, started};

/// Has the data and the settings of a private server that has ended. Ends when this is dropped.
pub struct ByHand {
    process: Child,
    pub socket: PathBuf,
}

impl ByHand {
    pub fn start(kind: Kind, folder: &Path, extra: &[&str]) -> Self {
        let private = started(kind, folder, &[]);
        let (pid, data) = (private.pid(), private.data());
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
        let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap();
        drop(private);
        let owner = fs::metadata(&data).unwrap();
        let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty()).skip(1);
        let socket = data.join("by-hand.sock");
        let mut command = Command::new(program);
        command.args(words.map(OsStr::from_bytes)).arg(format!("--socket={}", socket.display())).args(extra);
        command.current_dir(&data).uid(owner.uid()).gid(owner.gid()).stderr(Stdio::null());
        let server = Self { process: command.spawn().unwrap(), socket };
        let begun = Instant::now();
        while UnixStream::connect(&server.socket).is_err() {
            assert!(begun.elapsed() < Duration::from_mins(1), "the server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// The same, listening on `port` of this host as well.
    pub fn on_port(kind: Kind, folder: &Path, port: u16, extra: &[&str]) -> Self {
        let port = format!("--port={port}");
        let networking = ["--skip-networking=OFF", "--bind-address=127.0.0.1", &port];
        Self::start(kind, folder, &[&networking[..], extra].concat())
    }

    /// Its administrator does `statements`.
    pub fn sql(&self, statements: &[&str]) {
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

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
