//! MariaDB and MySQL as programs that an instance runs: how their data folder is made, how they are started and
//! understood.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;

use mindful_core::{Error, Result};
use mindful_instance::capacity;
use mindful_instance::files::{own_file, read_text};
use mindful_instance::options::Mode;
use mindful_instance::program::{Chosen, Conditions, Making, Program, ServerKind, Site};

use super::help::{self, complaint};
use super::programs::Programs;
use super::{kind, settings};
use crate::flavor::{Flavor, Version};

/// The server that was found, with the user's settings for it.
#[derive(Debug)]
pub(super) struct Server {
    pub programs: Programs,
    pub mode: Mode,
    pub cache: Option<u64>,
    pub set: Vec<(String, String)>,
}

impl Server {
    fn version(&self) -> &Version {
        &self.programs.version
    }

    /// The arguments of a server without option files and without TLS, which takes seconds to prepare.
    fn common(&self, data: &Path, log: Option<&Path>) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec!["--no-defaults".into(), joined("--datadir=", data)];
        line.extend(log.map(|log| joined("--innodb-log-group-home-dir=", log)));
        line.extend(help::messages(&self.programs.bin).into_iter().map(Into::into));
        line.extend(["--loose-skip-ssl", "--skip-networking", "--skip-name-resolve"].map(Into::into));
        if self.version().flavor == Flavor::MySql {
            line.extend(["--loose-mysqlx=OFF", "--loose-auto-generate-certs=OFF"].map(Into::into));
            line.extend(
                ["sha256", "caching-sha2"]
                    .map(|kind| OsString::from(format!("--loose-{kind}-password-auto-generate-rsa-keys=OFF"))),
            );
        }
        line
    }

    /// MariaDB's own script does the same. A statement is a line.
    fn system_tables(&self) -> Result<String> {
        let bin = &self.programs.bin;
        let scripts = help::find_messages(bin).as_deref().and_then(help::scripts);
        let scripts = scripts.ok_or_else(|| {
            Error::target(
                format!(
                    "the scripts that make MariaDB's system tables are not in the installation of {}",
                    bin.display()
                ),
                "install all of it, or omit --mysql-bin",
            )
        })?;
        let mut sql = "create database mysql;\nuse mysql;\n".to_owned();
        for script in scripts {
            sql += &fs::read_to_string(&script).map_err(|error| help::unreadable(&script, &error))?;
        }
        Ok(sql)
    }
}

impl Program for Server {
    fn kind(&self) -> &'static ServerKind {
        kind::of_flavor(self.version().flavor)
    }

    fn version(&self) -> &str {
        &self.programs.full
    }

    fn initialise(&self, making: &Making<'_>) -> Result<()> {
        let mut make = making.command(self.programs.server());
        make.args(self.common(making.data, making.log_dir)).args(settings::of_a_new_folder(self.version()));
        // Another server that starts meanwhile removes temporary tables in a common folder.
        make.arg(joined("--tmpdir=", making.data));
        match self.version().flavor {
            Flavor::MariaDb => making.run(make.arg("--bootstrap"), Some(&self.system_tables()?))?,
            Flavor::MySql => making.run(make.arg("--initialize-insecure"), None)?,
        }
        let path = making.data.join(kind::MADE_BY);
        let written = own_file(&path).and_then(|mut file| writeln!(file, "{}", self.version()));
        written.map_err(|error| Error::target(format!("cannot write {} ({error})", path.display()), ""))
    }

    fn fits(&self, data: &Path) -> Result<()> {
        let path = data.join(kind::MADE_BY);
        let made_by = read_text(&path, 64).map_err(|error| help::unreadable(&path, &error))?;
        let version = self.version();
        let line = format!("{} {}.{}.", version.flavor.name(), version.major, version.minor);
        if made_by.starts_with(&line) {
            return Ok(());
        }
        Err(Error::plan(
            format!("{} is of {}, the program is {version}", data.display(), made_by.trim()),
            "pass --mysql-flavor or --mysql-bin of that version, or another --data-dir",
        ))
    }

    fn choose(&self, conditions: &Conditions<'_>) -> Result<Vec<Chosen>> {
        let lio = self.mode == Mode::Lio;
        let known = settings::Known {
            version: self.version().clone(),
            mode: self.mode,
            cache: self.cache,
            connections: capacity::connections_for(conditions.sessions),
            data_bytes: if lio { settings::bytes_of_tables(conditions.data) } else { 0 },
            free_log_bytes: conditions.free_log_bytes,
            memory_bytes: capacity::memory_bytes(),
            direct: conditions.direct,
        };
        settings::choose(&known, conditions.purpose, &self.set)
    }

    fn passes_page_cache(&self, chosen: &[Chosen]) -> bool {
        settings::is_direct(chosen.iter().map(|one| (one.name.as_str(), one.value.as_str())))
    }

    fn command_line(&self, site: &Site<'_>, chosen: &[Chosen]) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec![self.programs.server().into()];
        line.extend(self.common(&site.data, site.log_dir.as_deref()));
        line.push(joined("--socket=", &site.socket.join(kind::SOCKET)));
        line.push(joined("--pid-file=", &site.data.join(kind::PID_FILE)));
        // The only folder besides the data folder that the server may write; its files there are temporary.
        line.push(joined("--tmpdir=", site.socket));
        line.extend(chosen.iter().map(|one| format!("--{}={}", one.name, one.value).into()));
        line
    }

    fn is_ready(&self, site: &Site<'_>, _pid: u32) -> bool {
        site.is_greeted(self.kind())
    }

    fn complaint(&self, said: &str) -> Option<String> {
        complaint(said)
    }

    fn next_move(&self, complaint: &str) -> &'static str {
        if complaint.contains("No space left") || complaint.contains("disk is full") {
            "free some space, or name another --data-dir"
        } else {
            "--set changes server settings"
        }
    }
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(path);
    argument
}
