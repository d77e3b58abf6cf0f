//! What the process's surroundings say about a connection: variables, home folder, user name.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use mindful_core::{Error, Result};

/// The surroundings, taken once.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
    home: Option<PathBuf>,
    user: Option<String>,
    system: Vec<PathBuf>,
    sockets: Vec<PathBuf>,
}

/// Variables of the two clients begin so.
const PREFIXES: [&str; 2] = ["MYSQL_", "MARIADB_"];

/// Option files of the whole host.
const OF_THE_HOST: [&str; 2] = ["/etc/my.cnf", "/etc/mysql/my.cnf"];

/// Where distributions put the socket.
const SOCKETS: [&str; 5] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
    "/tmp/mysqld.sock",
];

impl Environment {
    /// Those of this process.
    pub fn of_process() -> Self {
        let variables = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| PREFIXES.iter().any(|of| name.starts_with(of)))
            .collect();
        Self {
            variables,
            home: env::home_dir().filter(|home| home.is_absolute()),
            user: whoami::username().ok(),
            system: OF_THE_HOST.map(PathBuf::from).into(),
            sockets: SOCKETS.map(PathBuf::from).into(),
        }
    }

    /// Where a server of this host may listen, most likely first.
    pub fn sockets(&self) -> &[PathBuf] {
        &self.sockets
    }

    /// Option files, the one that decides last: of the host, of the server's folder, of the user.
    pub fn option_files(&self) -> Vec<PathBuf> {
        let of_server = self.of_either("HOME").map(|(_, folder)| Path::new(folder).join("my.cnf"));
        let own = self.home.iter().map(|home| home.join(".my.cnf"));
        self.system.iter().cloned().chain(of_server).chain(own).collect()
    }

    /// What ends the names of groups in option files that are read beside the usual ones.
    pub fn group_suffix(&self) -> Result<Option<String>> {
        self.of_either("GROUP_SUFFIX").map(|(name, value)| text(&name, value)).transpose()
    }

    /// The file of logins that `mysql_config_editor` writes, where there is one.
    pub fn login_file(&self) -> Option<PathBuf> {
        let usual = || self.home.as_ref().map(|home| home.join(".mylogin.cnf"));
        self.value("MYSQL_TEST_LOGIN_FILE").map(PathBuf::from).or_else(usual).filter(|path| path.exists())
    }

    /// The variable of MariaDB's client, which goes before that of MySQL's, and its name.
    fn of_either(&self, name: &str) -> Option<(String, &OsString)> {
        let of = |prefix: &&str| {
            let name = format!("{prefix}{name}");
            self.value(&name).map(|value| (name, value))
        };
        PREFIXES.iter().rev().find_map(of)
    }

    /// A variable, unless it is empty; one that is no text is refused.
    pub fn variable(&self, name: &str) -> Result<Option<String>> {
        self.value(name).map(|value| text(name, value)).transpose()
    }

    fn value(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name).filter(|value| !value.is_empty())
    }

    /// Name of the user this process runs as.
    pub fn user(&self) -> Option<String> {
        self.user.clone()
    }
}

/// The text of a variable; the message shows nothing of it, for it may be a password.
fn text(name: &str, value: &OsStr) -> Result<String> {
    let text = value.to_str().map(str::to_owned);
    text.ok_or_else(|| Error::plan(format!("{name} is not UTF-8"), "set it anew in UTF-8, or unset it"))
}

impl fmt::Debug for Environment {
    /// Names alone: a value may be a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
impl Environment {
    /// Surroundings that say nothing.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The same with `name` set.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    /// The same with this home folder.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// The same with this user.
    #[must_use]
    pub fn with_user(mut self, user: &str) -> Self {
        self.user = Some(user.to_owned());
        self
    }

    /// The same with sockets looked for here.
    #[must_use]
    pub fn with_sockets(mut self, sockets: &[&PathBuf]) -> Self {
        self.sockets = sockets.iter().map(|socket| (*socket).clone()).collect();
        self
    }
}
