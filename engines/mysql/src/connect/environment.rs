//! What the process's surroundings say about a connection: variables, home folder, user name.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::path::PathBuf;

/// The surroundings, taken once.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    home: Option<PathBuf>,
    user: Option<String>,
    system: Vec<PathBuf>,
}

/// Option files of the whole host.
const OF_THE_HOST: [&str; 2] = ["/etc/my.cnf", "/etc/mysql/my.cnf"];

impl Environment {
    /// Those of this process.
    pub fn of_process() -> Self {
        Self {
            variables: env::vars().filter(|(name, _)| name.starts_with("MYSQL_")).collect(),
            home: env::home_dir(),
            user: whoami::username().ok(),
            system: OF_THE_HOST.map(PathBuf::from).into(),
        }
    }

    /// Option files, the one that decides last.
    pub fn option_files(&self) -> Vec<PathBuf> {
        let own = self.home.iter().map(|home| home.join(".my.cnf"));
        self.system.iter().cloned().chain(own).collect()
    }

    /// A variable, unless it is empty.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// Name of the user this process runs as.
    pub fn user(&self) -> Option<String> {
        self.user.clone()
    }
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
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
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
}
