//! The part of the process environment that a connection uses: variables, home folder, user name. It is read once, and
//! tests bring their own.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use mindful_core::{Error, Result};

#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
    home: Option<PathBuf>,
    user: Option<String>,
}

impl Environment {
    /// Of this process; its variables with names that begin with one of `prefixes`.
    pub fn of_process(prefixes: &[&str]) -> Self {
        let variables = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| prefixes.iter().any(|prefix| name.starts_with(prefix)))
            .collect();
        Self { variables, home: env::home_dir().filter(|home| home.is_absolute()), user: whoami::username().ok() }
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    #[must_use]
    pub fn with_user(mut self, user: &str) -> Self {
        self.user = Some(user.to_owned());
        self
    }

    /// The value of a variable; an empty one counts as unset.
    pub fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name).filter(|value| !value.is_empty())
    }

    /// The same as text; the error does not show the value, which may be a password.
    pub fn text(&self, name: &str) -> Result<Option<String>> {
        let value = self.variable(name).map(|value| value.to_str().map(str::to_owned));
        let not_utf8 = || Error::plan(format!("{name} is not UTF-8"), "set it again in UTF-8, or unset it");
        value.map(|text| text.ok_or_else(not_utf8)).transpose()
    }

    pub fn path(&self, variable: &str) -> Option<PathBuf> {
        self.variable(variable).map(PathBuf::from)
    }

    pub fn in_home(&self, name: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(name))
    }

    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

impl fmt::Debug for Environment {
    /// Names only: a value may be a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}
