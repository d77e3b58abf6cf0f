//! A PostgreSQL of the tests' own, with passwords and TLS, on a free loopback port and a socket.

use std::env;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use mindful_conformance::keys::Authority;
use mindful_conformance::quick_folder;
use mindful_postgres::connect::{Connection, Environment, Server};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

/// Password of the superuser `postgres`; nothing else in any test looks like it.
pub(super) const PASSWORD: &str = "Zx9-unlikely-Qw7";

const HBA: &str = "\
local   all  all                    scram-sha-256
hostssl all  by_certificate   all   cert
hostssl all  only_encrypted   all   scram-sha-256
host    all  only_encrypted   all   reject
hostnossl all only_plain      all   scram-sha-256
host    all  only_plain       all   reject
host    all  stranger         all   reject
host    all  all              all   scram-sha-256
";

/// A running server. Dropping the last holder ends it.
pub(super) struct Cluster {
    folder: TempDir,
    server: Child,
    pub port: u16,
    pub authority: Authority,
}

/// The server all tests of this process share while any of them runs.
pub(super) async fn cluster() -> Arc<Cluster> {
    static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
    let cluster = {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Cluster::start());
            *shared = Arc::downgrade(&started);
            started
        })
    };
    cluster.await_ready().await;
    cluster
}

impl Cluster {
    fn start() -> Self {
        let account = Account::unprivileged();
        let folder = tempfile::Builder::new().prefix("connect-").tempdir_in(quick_folder()).unwrap();
        account.give(folder.path());
        let data = folder.path().join("data");
        let password_file = folder.path().join("password");
        fs::write(&password_file, PASSWORD).unwrap();
        account.give(&password_file);
        let made = account
            .command("initdb", folder.path())
            .args(["--no-sync", "--username=postgres", "--encoding=UTF8", "--no-locale", "--auth=scram-sha-256"])
            .arg("--pwfile")
            .arg(&password_file)
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb failed: {}", String::from_utf8_lossy(&made.stderr));
        let authority = Authority::new("the authority of the tests");
        let pair = authority.sign("server", &["localhost"]);
        fs::write(data.join("pg_hba.conf"), HBA).unwrap();
        for (name, text) in
            [("server.crt", &pair.certificate), ("server.key", &pair.key), ("ca.crt", &authority.certificate)]
        {
            fs::write(data.join(name), text).unwrap();
            fs::set_permissions(data.join(name), PermissionsExt::from_mode(0o600)).unwrap();
            account.give(&data.join(name));
        }
        let port = free_port();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let server = account
            .command("postgres", folder.path())
            .arg("-D")
            .arg(&data)
            .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"])
            .args(["-c", "ssl=on", "-c", "ssl_ca_file=ca.crt", "-c", "ssl_min_protocol_version=TLSv1.2"])
            .arg("-c")
            .arg(format!("unix_socket_directories={}", folder.path().display()))
            .stderr(log)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { folder, server, port, authority }
    }

    async fn await_ready(&self) {
        let deadline = Instant::now() + Duration::from_mins(2);
        loop {
            let server = Server::parse_in(&self.url(), &Environment::default()).unwrap();
            let Err(error) = server.connect(0).await else { return };
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "the server does not start: {error}\n{log}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The superuser's URL by TCP.
    pub(super) fn url(&self) -> String {
        format!("postgres://postgres:{PASSWORD}@127.0.0.1:{}/postgres", self.port)
    }

    pub(super) fn socket_url(&self) -> String {
        let folder = self.folder().display();
        format!("postgres://postgres:{PASSWORD}@/postgres?host={folder}&port={}", self.port)
    }

    /// The folder of its socket, for files of the tests too.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) async fn admin(&self) -> Connection {
        Server::parse_in(&self.url(), &Environment::default()).unwrap().connect(0).await.unwrap()
    }

    /// Makes a role of this name with this password, both any text, unless it exists.
    pub(super) async fn role(&self, name: &str, password: &str) {
        let quoted =
            |text: &str, quote: char| format!("{quote}{}{quote}", text.replace(quote, &format!("{quote}{quote}")));
        let (role, password) = (quoted(name, '"'), quoted(password, '\''));
        self.admin().await.batch_execute(&format!("CREATE ROLE {role} LOGIN PASSWORD {password}")).await.unwrap();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.server), Signal::QUIT);
        let _ = self.server.wait();
    }
}

pub(super) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// PostgreSQL refuses to run as root; another user then runs it.
struct Account {
    binaries: PathBuf,
    ids: Option<(u32, u32)>,
}

impl Account {
    fn unprivileged() -> Self {
        let ids =
            geteuid().is_root().then(|| ids_of("postgres").or_else(|| ids_of("nobody")).expect("some other user"));
        Self { binaries: binaries(), ids }
    }

    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        command.current_dir(folder).env("LC_ALL", "C").stdin(Stdio::null());
        if let Some((user, group)) = self.ids {
            command.uid(user).gid(group);
        }
        command
    }

    fn give(&self, path: &Path) {
        if let Some((user, group)) = self.ids {
            chown(path, Some(user), Some(group)).unwrap();
        }
    }
}

fn ids_of(name: &str) -> Option<(u32, u32)> {
    let accounts = fs::read_to_string("/etc/passwd").ok()?;
    let fields: Vec<_> = accounts.lines().find(|line| line.split(':').next() == Some(name))?.split(':').collect();
    Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
}

/// The folder with `initdb` and `postgres`: from PATH, else the newest of the usual version folders.
fn binaries() -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut versions: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .collect();
    versions.sort();
    env::split_paths(&path)
        .chain(versions.into_iter().rev())
        .find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
        .expect("these tests need a PostgreSQL server: install the package `postgresql`")
}
