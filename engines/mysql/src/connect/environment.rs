//! The part of the environment that a connection uses, for both clients: variables, option files, and places of
//! sockets.

use std::path::{Path, PathBuf};

use mindful_core::Result;
use mindful_sql::connect::environment::Environment as Process;

#[derive(Debug, Clone, Default)]
pub(super) struct Environment {
    pub process: Process,
    pub system: Vec<PathBuf>,
    pub sockets: Vec<PathBuf>,
}

/// Variables of the two clients begin so.
const PREFIXES: [&str; 2] = ["MYSQL_", "MARIADB_"];

const OF_THE_HOST: [&str; 2] = ["/etc/my.cnf", "/etc/mysql/my.cnf"];

const SOCKETS: [&str; 5] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
    "/tmp/mysqld.sock",
];

impl Environment {
    pub(super) fn of_process() -> Self {
        Self {
            process: Process::of_process(&PREFIXES),
            system: OF_THE_HOST.map(PathBuf::from).into(),
            sockets: SOCKETS.map(PathBuf::from).into(),
        }
    }

    /// Option files, the one that decides last: of the host, of the server's folder, of the user.
    pub(super) fn option_files(&self) -> Vec<PathBuf> {
        let of_server = self.name_set("HOME").and_then(|name| self.process.path(&name));
        let of_server = of_server.map(|folder| Path::new(&folder).join("my.cnf"));
        self.system.iter().cloned().chain(of_server).chain(self.process.in_home(".my.cnf")).collect()
    }

    /// The suffix of groups in option files that are read in addition to the usual ones.
    pub(super) fn group_suffix(&self) -> Result<Option<String>> {
        self.name_set("GROUP_SUFFIX").map_or(Ok(None), |name| self.process.text(&name))
    }

    /// The encrypted file of logins that `mysql_config_editor` writes, where there is one.
    pub(super) fn login_file(&self) -> Option<PathBuf> {
        let named = self.process.path("MYSQL_TEST_LOGIN_FILE");
        named.or_else(|| self.process.in_home(".mylogin.cnf")).filter(|path| path.exists())
    }

    /// The full name of a variable that is set; MariaDB's precedes MySQL's.
    fn name_set(&self, name: &str) -> Option<String> {
        let names = PREFIXES.iter().rev().map(|prefix| format!("{prefix}{name}"));
        names.into_iter().find(|name| self.process.variable(name).is_some())
    }
}
