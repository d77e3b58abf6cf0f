//! The differences between database servers: the interface of an instance to its program.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use mindful_core::contract::fact::chosen_key;
use mindful_core::{Error, Result};
use rustix::process::Signal;

use crate::account::Account;
use crate::log::Log;

/// Static facts about a database server.
#[derive(Debug)]
pub struct ServerKind {
    /// For messages: `PostgreSQL`.
    pub name: &'static str,
    /// Name of the data folder within the instance's folder.
    pub data: &'static str,
    /// A file that every data folder has, once it is made.
    pub first_file: &'static str,
    /// Files of the data folder that are read before the server runs, by mindful or by the server itself, which would wait
    /// for a pipe.
    pub plain_files: &'static [&'static str],
    /// Files in the instance's folder in addition to those of every instance.
    pub own_files: &'static [&'static str],
    pub socket: &'static str,
    /// Its files with the number of its first process, in the data folder. A server does not start while a process has that
    /// number, even one that has ended and was not waited for.
    pub pid_files: &'static [&'static str],
    /// Name of the file that the server creates next to its socket, if it does.
    pub beside_socket: Option<&'static str>,
    /// Names of its processes in `/proc/PID/comm`. All of them work in the data folder.
    pub processes: &'static [&'static str],
    /// The signal that stops it in order, even with connected clients, and the one that stops it when that took too
    /// long.
    pub stop: [Signal; 2],
    /// The lines of its log when it has crashed and recovers, and when it has recovered. In between an orderly stop
    /// waits for the recovery.
    pub crashes: &'static [&'static str],
    pub has_recovered: &'static str,
    /// Log messages while it waits for room on a full disk. A server in that state ignores an orderly stop.
    pub waits_for_room: &'static [&'static str],
    /// Settings reserved for mindful, because its own connection or the safety of the folder depends on them.
    pub fixed: &'static [&'static str],
    /// Separator of folders in a setting with a list, if quoting is impossible: the instance's folder must not contain
    /// it.
    pub separator: Option<char>,
    /// Bytes that a new log takes before anything is loaded.
    pub least_log_bytes: u64,
    /// A setting and a value, as an example: `shared_buffers=64MB`.
    pub setting: &'static str,
}

/// The programs of a database server: how they are found, and how its data is made, started and read.
pub trait Program: Send + Sync {
    fn kind(&self) -> &'static ServerKind;

    /// Such as `18.6`.
    fn version(&self) -> &str;

    /// Whether the program that creates a data folder needs the name of its user.
    fn needs_user_name(&self) -> bool {
        false
    }

    /// Makes a data folder in an empty folder. It needs no sync.
    fn initialise(&self, making: &Making<'_>) -> Result<()>;

    fn fits(&self, data: &Path) -> Result<()>;

    fn choose(&self, conditions: &Conditions<'_>) -> Result<Vec<Chosen>>;

    /// Whether reads of a server with these settings leave nothing in the page cache.
    fn passes_page_cache(&self, _chosen: &[Chosen]) -> bool {
        false
    }

    /// The folder below the data folder that holds the data itself, for its size and its share of the page cache.
    fn tables(&self) -> &'static str {
        ""
    }

    fn before_start(&self, _site: &Site<'_>) -> io::Result<()> {
        Ok(())
    }

    /// The server program and its arguments: it stays in the foreground and accepts connections only by the socket.
    fn command_line(&self, site: &Site<'_>, chosen: &[Chosen]) -> Vec<OsString>;

    /// Whether the server with first process `pid` accepts connections; called every few milliseconds.
    fn is_ready(&self, site: &Site<'_>, pid: u32) -> bool;

    /// The line that best explains the end of the server, or of the program that makes its data folder, from its
    /// output.
    fn complaint(&self, said: &str) -> Option<String>;

    /// The remedy for such a complaint.
    fn next_move(&self, complaint: &str) -> &'static str;

    /// Whether the server of this data folder was shut down in order. `status` is the exit status of its last first
    /// process, if known.
    fn was_shut_down(&self, _data: &Path, status: Option<i32>) -> bool {
        status == Some(0)
    }

    /// Removes remains of a killed server outside of its data folder. The folder is removed next.
    fn release(&self, _data: &Path, _account: &Account) {}
}

/// The line that best explains why a program ended, from its output: a full disk causes all other faults.
pub(crate) fn find_complaint(program: &dyn Program, said: &str) -> Option<String> {
    let full: Vec<&str> = said.lines().filter(|line| line.contains("No space left on device")).collect();
    let of_full = if full.is_empty() { None } else { program.complaint(&full.join("\n")) };
    of_full.or_else(|| program.complaint(said))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Load,
    Run,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    pub name: String,
    pub value: String,
    /// One clause.
    pub reason: String,
}

impl Chosen {
    pub fn of(name: &str, value: impl Into<String>, reason: &str) -> Self {
        Self { name: name.to_owned(), value: value.into(), reason: reason.to_owned() }
    }

    pub fn fact(self) -> (String, String) {
        (chosen_key(&self.name), format!("{} ({})", self.value, self.reason))
    }
}

/// Conditions for the choice of settings, in addition to the program's own options.
#[derive(Debug, Clone, Copy)]
pub struct Conditions<'a> {
    pub purpose: Purpose,
    /// Most sessions it has to carry.
    pub sessions: u32,
    pub data: &'a Path,
    /// Bytes that were free for its log when the instance was opened.
    pub free_log_bytes: u64,
    /// Whether its file system takes direct I/O.
    pub direct: bool,
}

#[derive(Debug, Clone)]
pub struct Site<'a> {
    pub account: &'a Account,
    /// The instance's folder, which only mindful may write.
    pub folder: &'a Path,
    pub data: PathBuf,
    /// The folder for its log, if that is not in the data folder.
    pub log_dir: Option<PathBuf>,
    pub socket: &'a Path,
}

impl Site<'_> {
    /// Whether the server greets a new connection on its socket, as many do. Listening is not enough: a server may
    /// listen long before it accepts connections, and may miss its stop signal until then.
    pub fn is_greeted(&self, kind: &ServerKind) -> bool {
        let greeting = UnixStream::connect(self.socket.join(kind.socket)).and_then(|mut stream| {
            stream.set_read_timeout(Some(GREETING))?;
            stream.read_exact(&mut [0])
        });
        greeting.is_ok()
    }
}

/// Longest wait for a greeting.
const GREETING: Duration = Duration::from_millis(500);

pub struct Making<'a> {
    /// The folder, empty and of the server's user.
    pub data: &'a Path,
    /// The folder for the server's log, likewise, if that is not to be in the data folder.
    pub log_dir: Option<&'a Path>,
    pub account: &'a Account,
    pub(crate) log: &'a Log,
    pub program: &'a dyn Program,
}

impl Making<'_> {
    /// A command of that user, which works in the folder.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        self.account.command(program, self.data)
    }

    pub fn run(&self, command: &mut Command, input: Option<&str>) -> Result<()> {
        let name = Path::new(command.get_program()).display().to_string();
        let failed =
            |why: String| Error::target(format!("{name}: {why}"), format!("see {}", self.log.path().display()));
        let mut go = || {
            command.stdin(Stdio::piped()).stdout(self.log.append()?).stderr(self.log.append()?);
            let mut child = command.spawn()?;
            if let (Some(text), Some(mut stdin)) = (input, child.stdin.take()) {
                stdin.write_all(text.as_bytes())?;
            }
            child.wait()
        };
        match go().map_err(|error: io::Error| failed(error.to_string()))? {
            status if status.success() => Ok(()),
            status => Err(failed(find_complaint(self.program, &self.log.said()).unwrap_or_else(|| status.to_string()))),
        }
    }
}
