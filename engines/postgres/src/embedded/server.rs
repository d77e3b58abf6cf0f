//! The running server, and the guard that ends it when mindful does.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use mindful_core::event::{Events, note};
use mindful_core::{Error, Result};

use super::access::Access;
use super::binaries::Binaries;
use super::cluster::{DYNAMIC_MEMORY, complaint};
use super::settings::Chosen;
use mindful_instance::account::Account;
use mindful_instance::files::{own_file, read_text};
use mindful_instance::log::Log;

/// Port of the private server: part of the name of its socket, no TCP.
pub const PORT: u16 = 5432;

const GUARD: &str = include_str!("guard.sh");
const POLL: Duration = Duration::from_millis(3);

/// Where a server runs.
#[derive(Debug)]
pub struct Site<'a> {
    /// Its binaries.
    pub binaries: &'a Binaries,
    /// Its user.
    pub account: &'a Account,
    /// Its data directory.
    pub data: PathBuf,
    /// Folder of its socket.
    pub socket: PathBuf,
    /// Its log.
    pub log: PathBuf,
    /// The file that its processes keep locked.
    pub lock: PathBuf,
    /// The two files that say who may connect.
    pub access: Access,
}

/// A server that is ready, until this is dropped.
#[derive(Debug)]
pub struct Server {
    guard: Child,
    pipe: Option<ChildStdin>,
    pid: u32,
}

impl Server {
    /// Starts the server and waits until it takes connections, crash recovery included.
    pub fn start(site: &Site<'_>, chosen: &[Chosen], events: &dyn Events) -> Result<Self> {
        let failed = |error: std::io::Error| Error::target(format!("cannot start PostgreSQL: {error}"), "");
        let log = Log::from_now(&site.log).map_err(failed)?;
        let mut command = site.account.command("/bin/sh", Path::new("/"));
        command.args(["-c", GUARD, "mindful-guard"]).arg(site.binaries.program("postgres")).arg("-D").arg(&site.data);
        command.args(["-c", DYNAMIC_MEMORY]);
        for (name, value) in wiring(site) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        for one in chosen {
            command.arg("-c").arg(format!("{}={}", one.name, one.value));
        }
        let lock = lock(&site.lock).map_err(failed)?;
        command.stdin(Stdio::piped()).stdout(lock).stderr(log.append().map_err(failed)?);
        let mut guard = command.spawn().map_err(failed)?;
        let pipe = guard.stdin.take();
        let mut server = Self { guard, pipe, pid: 0 };
        server.await_ready(site, &log, events)?;
        Ok(server)
    }

    /// The process id of the postmaster.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    fn await_ready(&mut self, site: &Site<'_>, log: &Log, events: &dyn Events) -> Result<()> {
        let began = Instant::now();
        let mut reported = false;
        loop {
            if let Some(pid) = ready(site) {
                self.pid = pid;
                return Ok(());
            }
            if let Ok(Some(status)) = self.guard.try_wait() {
                let why = complaint(&log.said()).unwrap_or_else(|| format!("it ended with {status}"));
                return Err(Error::target(
                    format!("PostgreSQL {} did not start: {why}", site.binaries.version),
                    format!("see {}; --set changes server settings", log.path().display()),
                ));
            }
            if !reported && began.elapsed() > Duration::from_secs(3) {
                note(events, "PostgreSQL is still starting, as after a crash it replays its log first");
                reported = true;
            }
            std::thread::sleep(POLL);
        }
    }

    /// Stops the server in order: sessions are ended, what is cached is written.
    pub fn stop(&mut self) -> Result<()> {
        if let Some(mut pipe) = self.pipe.take() {
            let _ = pipe.write_all(b"stop\n");
        }
        self.guard.wait().map(drop).map_err(|error| Error::run(format!("waiting for PostgreSQL to stop: {error}"), ""))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// The settings that keep the server to itself: no TCP, and a socket for its owner alone.
fn wiring(site: &Site<'_>) -> [(&'static str, String); 10] {
    // A list of folders in which quotes keep a comma from being a separator.
    let folder = format!("\"{}\"", site.socket.display().to_string().replace('"', "\"\""));
    [
        ("listen_addresses", String::new()),
        ("port", PORT.to_string()),
        ("unix_socket_directories", folder),
        ("unix_socket_permissions", "0700".to_owned()),
        ("hba_file", site.access.rules.display().to_string()),
        ("ident_file", site.access.users.display().to_string()),
        ("logging_collector", "off".to_owned()),
        ("log_destination", "stderr".to_owned()),
        ("cluster_name", "mindful".to_owned()),
        // So much that the files of DYNAMIC_MEMORY are hardly written to: what sessions share and count is in memory.
        ("min_dynamic_shared_memory", "16MB".to_owned()),
    ]
}

/// The postmaster that the guard started, once it says that it takes connections: the first line of its own file is its
/// process id, the last its state.
fn ready(site: &Site<'_>) -> Option<u32> {
    let started = read_text(&site.lock, 64).ok()?;
    let text = read_text(&site.data.join("postmaster.pid"), 4096).ok()?;
    let same = text.lines().next()?.trim() == started.trim();
    (same && text.lines().last()?.trim() == "ready").then(|| started.trim().parse().ok()).flatten()
}

/// The lock for a new server; the last process of an earlier one may need a moment to let go of it.
fn lock(path: &Path) -> io::Result<File> {
    let file = own_file(path)?;
    let began = Instant::now();
    while file.try_lock().is_err() {
        if began.elapsed() > Duration::from_secs(10) {
            return Err(io::Error::other(format!("{} stays locked by an earlier server", path.display())));
        }
        std::thread::sleep(POLL);
    }
    file.set_len(0)?;
    Ok(file)
}
