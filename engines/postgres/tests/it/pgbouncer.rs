//! Debian's PgBouncer before a server, for the tests of this engine and those of the binary.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mindful_conformance::not_run;

const PROGRAM: &str = "/usr/sbin/pgbouncer";

/// It only names the socket: nothing listens on TCP.
const PORT: u16 = 6432;

pub(crate) struct Behind<'a> {
    pub folder: &'a Path,
    /// The number in the socket's name.
    pub port: u16,
    pub database: &'a str,
    /// A role that both accept without a password.
    pub role: &'a str,
    /// User and group it runs as; it refuses to run as root, like PostgreSQL.
    pub account: Option<(u32, u32)>,
}

/// Whether it is installed. If not, prints that a test did not run.
pub(crate) fn at_hand() -> bool {
    let there = Path::new(PROGRAM).exists();
    if !there {
        not_run("it needs PgBouncer (Debian: pgbouncer)");
    }
    there
}

/// A running PgBouncer with its own folder; ends with the value.
pub(crate) struct Pooler {
    process: Child,
    folder: tempfile::TempDir,
    user_and_database: [String; 2],
}

impl Pooler {
    /// One that lends at most `pool` server processes of `server` in `mode`.
    pub(crate) fn start(server: &Behind<'_>, mode: &str, pool: u32) -> Self {
        let folder = tempfile::Builder::new().prefix("mindful-pool-").tempdir().unwrap();
        let path = folder.path().display();
        let Behind { folder: socket, port, database, role, account } = server;
        let settings = format!(
            "[databases]\n{database} = host={} port={port}\n\
             [pgbouncer]\nlisten_addr =\nunix_socket_dir = {path}\nlisten_port = {PORT}\n\
             auth_type = trust\nauth_file = {path}/users\nlogfile = {path}/log\n\
             pool_mode = {mode}\ndefault_pool_size = {pool}\n",
            socket.display()
        );
        for (name, text) in [("ini", settings), ("users", format!("\"{role}\" \"\"\n"))] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let mut command = Command::new(PROGRAM);
        command.arg("-q").arg(folder.path().join("ini")).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some((uid, gid)) = *account {
            chown(folder.path(), Some(uid), Some(gid)).unwrap();
            command.uid(uid).gid(gid).current_dir("/");
        }
        let user_and_database = [role, database].map(|name| (*name).to_owned());
        let pooler = Self { process: command.spawn().unwrap(), folder, user_and_database };
        pooler.await_ready();
        pooler
    }

    fn await_ready(&self) {
        let until = Instant::now() + Duration::from_secs(30);
        let socket = self.folder.path().join(format!(".s.PGSQL.{PORT}"));
        while UnixStream::connect(&socket).is_err() {
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "PgBouncer does not answer: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn url(&self) -> String {
        let folder = self.folder.path().to_str().unwrap().replace('/', "%2F");
        let [role, database] = &self.user_and_database;
        format!("postgresql://{role}@{folder}:{PORT}/{database}")
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
