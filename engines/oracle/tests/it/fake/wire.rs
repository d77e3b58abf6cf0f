//! A server that speaks Oracle's protocol, of another maker (PyPI seerdb), with a made-up database behind it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use mindful_conformance::whole_tool;

use super::{Database, relay};

pub(crate) struct Server {
    child: Child,
    pub port: u16,
}

impl Server {
    /// Serves `database` as a server of that field version does: 8 is 12.2, 24 the newest; `None` after a notice that
    /// this host has none.
    pub(crate) fn start(database: &Arc<Database>, field_version: u32) -> Option<Self> {
        Self::start_with(database, field_version, &[])
    }

    /// The same with TLS, with the certificate and key of these files.
    pub(crate) fn start_with(database: &Arc<Database>, field_version: u32, certificate: &[&Path]) -> Option<Self> {
        let paths = [whole_tool("seerdb-3.3.0")?, whole_tool("pycryptodome-4.4.0")?];
        let python_path = std::env::join_paths(paths).expect("a path");
        let script = root().join("engines/oracle/tests/tools/ttc_relay.py");
        let relay = relay::lend(database).to_string();
        let mut child = Command::new("python3")
            .arg(script)
            .args([&field_version.to_string(), &relay])
            .args(certificate)
            .env("PYTHONPATH", python_path)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 is there: apt-get install python3");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let port = line.trim().parse().expect("a port: the server did not start");
        let server = Self { child, port };
        server.wait();
        Some(server)
    }

    fn wait(&self) {
        for _ in 0..500 {
            if std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("the server does not listen");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../..").canonicalize().expect("the workspace")
}
