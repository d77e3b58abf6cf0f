//! PostgreSQL as a program of an instance: the creation of its data directory, its start, and its messages.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::Path;

use mindful_core::{Error, Result};
use mindful_instance::account::Account;
use mindful_instance::files::{bytes_below, open_file, read_text};
use mindful_instance::log::last_with;
use mindful_instance::options::Mode;
use mindful_instance::program::{Chosen, Conditions, Making, Program, ServerKind, Site};
use mindful_instance::{capacity, shared_memory};

use super::access::{self, USER};
use super::binaries::Binaries;
use super::kind::KIND;
use super::settings;

pub const DATABASE: &str = "mindful";

/// Port of the private server: part of the name of its socket, no TCP.
pub const PORT: u16 = 5432;

/// Segments that come and go while the server works are files of its data directory: they go with it, and nothing is left
/// in `/dev/shm` when it is killed.
const DYNAMIC_MEMORY: &str = "dynamic_shared_memory_type=mmap";

/// The PostgreSQL that was found, with the user's settings for it.
#[derive(Debug)]
pub(super) struct Cluster {
    pub binaries: Binaries,
    pub mode: Mode,
    pub cache: Option<u64>,
    pub set: Vec<(String, String)>,
}

impl Program for Cluster {
    fn kind(&self) -> &'static ServerKind {
        &KIND
    }

    fn version(&self) -> &str {
        &self.binaries.version
    }

    /// `initdb` does.
    fn needs_user_name(&self) -> bool {
        true
    }

    /// Nothing is synced on the way.
    fn initialise(&self, making: &Making<'_>) -> Result<()> {
        let mut initdb = making.command(self.binaries.program("initdb"));
        initdb.arg("-D").arg(making.data).args(["--username", USER, "--auth=trust", "--encoding=UTF8", "--locale=C"]);
        initdb.args(["--data-checksums", "--no-instructions", "--no-sync"]);
        if let Some(log) = making.log_dir {
            initdb.arg("--waldir").arg(log);
        }
        if self.binaries.major >= 16 {
            initdb.args(["-c", DYNAMIC_MEMORY]);
        }
        making.run(&mut initdb, None)?;
        let mut single = making.command(self.binaries.program("postgres"));
        single.args(["--single", "-F", "-D"]).arg(making.data);
        single.args(["-c", "exit_on_error=on", "-c", DYNAMIC_MEMORY, "template1"]);
        making.run(&mut single, Some(&format!("CREATE DATABASE {DATABASE}\n")))
    }

    fn fits(&self, data: &Path) -> Result<()> {
        let version = read_text(&data.join(KIND.first_file), 64);
        let version = version.map_err(|error| Error::target(format!("{}: {error}", data.display()), ""))?;
        let major = version.trim();
        if major == self.binaries.major.to_string() {
            return Ok(());
        }
        Err(Error::plan(
            format!("{} is of PostgreSQL {major}, the binaries are {}", data.display(), self.binaries.version),
            format!("pass --pg-version {major} (or its --pg-bin), or another --data-dir"),
        ))
    }

    fn choose(&self, conditions: &Conditions<'_>) -> Result<Vec<Chosen>> {
        let lio = self.mode == Mode::Lio;
        let known = settings::Known {
            major: self.binaries.major,
            mode: self.mode,
            cache: self.cache,
            connections: capacity::connections_for(conditions.sessions),
            data_bytes: if lio { bytes_below(&conditions.data.join(self.tables())) } else { 0 },
            free_log_bytes: conditions.free_log_bytes,
            memory_bytes: capacity::memory_bytes(),
            direct: conditions.direct,
        };
        settings::choose(&known, conditions.purpose, &self.set)
    }

    fn passes_page_cache(&self, chosen: &[Chosen]) -> bool {
        chosen.iter().any(|one| one.name == "debug_io_direct" && super::settings::is_direct_io(&one.value))
    }

    fn tables(&self) -> &'static str {
        "base"
    }

    fn before_start(&self, site: &Site<'_>) -> io::Result<()> {
        access::write(site.folder)
    }

    fn command_line(&self, site: &Site<'_>, chosen: &[Chosen]) -> Vec<OsString> {
        let mut line = vec![self.binaries.program("postgres").into(), "-D".into(), site.data.clone().into()];
        let chosen = chosen.iter().map(|one| format!("{}={}", one.name, one.value));
        let wiring = wiring(site).into_iter().map(|(name, value)| format!("{name}={value}"));
        for setting in [DYNAMIC_MEMORY.to_owned()].into_iter().chain(wiring).chain(chosen) {
            line.extend(["-c".into(), setting.into()]);
        }
        line
    }

    /// The first line of the server's own file is its process id, the last its state.
    fn is_ready(&self, site: &Site<'_>, pid: u32) -> bool {
        let Ok(text) = read_text(&site.data.join("postmaster.pid"), 4096) else { return false };
        let (first, last) = (text.lines().next(), text.lines().last());
        first.is_some_and(|first| first.trim() == pid.to_string()) && last.is_some_and(|last| last.trim() == "ready")
    }

    /// The last fatal line, else the last error, else the last of all; without its time and process.
    fn complaint(&self, said: &str) -> Option<String> {
        complaint(said)
    }

    fn next_move(&self, _complaint: &str) -> &'static str {
        "--set changes server settings"
    }

    /// `pg_control` begins with two words of versions (8 and 4 and 4 bytes), then the state, 1 is "shut down"
    /// (PostgreSQL's `catalog/pg_control.h`).
    fn was_shut_down(&self, data: &Path, _status: Option<i32>) -> bool {
        let mut head = [0; 20];
        let read = open_file(&data.join("global/pg_control")).and_then(|mut file| file.read_exact(&mut head));
        read.is_ok() && head[16..] == 1_u32.to_ne_bytes()
    }

    /// The System V segment, which the next server of the data directory would have removed. The seventh line of
    /// `postmaster.pid` is its key and its id (PostgreSQL's `utils/pidfile.h`).
    fn release(&self, data: &Path, account: &Account) {
        let text = read_text(&data.join("postmaster.pid"), 4096).unwrap_or_default();
        let mut numbers = text.lines().nth(6).unwrap_or_default().split_whitespace().map(str::parse::<u64>);
        if let (Some(Ok(key)), Some(Ok(id))) = (numbers.next(), numbers.next()) {
            // A key is 32 bits, which the server writes as 64.
            shared_memory::release(key as u32, id as u32, account);
        }
    }
}

fn complaint(said: &str) -> Option<String> {
    [&["FATAL:", "PANIC:"][..], &["ERROR:", "error:"], &[""]].iter().find_map(|words| last_with(said, words))
}

/// The settings that isolate the server: no TCP, and a socket for its owner only.
fn wiring(site: &Site<'_>) -> [(&'static str, String); 10] {
    // A list of folders in which quotes keep a comma from being a separator.
    let folder = format!("\"{}\"", site.socket.display().to_string().replace('"', "\"\""));
    let own = |name: &str| site.folder.join(name).display().to_string();
    [
        ("listen_addresses", String::new()),
        ("port", PORT.to_string()),
        ("unix_socket_directories", folder),
        ("unix_socket_permissions", "0700".to_owned()),
        ("hba_file", own(access::RULES)),
        ("ident_file", own(access::USERS)),
        ("logging_collector", "off".to_owned()),
        ("log_destination", "stderr".to_owned()),
        ("cluster_name", "mindful".to_owned()),
        // So large that the files of DYNAMIC_MEMORY are hardly written: the sessions' shared counters are in memory.
        ("min_dynamic_shared_memory", "16MB".to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_part_of_the_sockets_name() {
        assert_eq!(KIND.socket, format!(".s.PGSQL.{PORT}"));
    }

    #[test]
    fn the_fatal_line_is_reported_before_errors_and_the_last_line() {
        let fatal = "1 [2] FATAL:  out of memory\n1 [2] ERROR:  also\n1 [2] LOG:  database system is shut down";
        assert_eq!(complaint(fatal).as_deref(), Some("out of memory"));
        assert_eq!(complaint("initdb: error: no space\nremoving data").as_deref(), Some("no space"));
        assert_eq!(complaint("one\ntwo\n").as_deref(), Some("two"));
        assert_eq!(complaint(""), None);
    }
}
