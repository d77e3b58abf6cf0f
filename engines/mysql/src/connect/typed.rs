//! Passwords that somebody typed: once a process for each server and user, however often it is opened.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::{Mutex, PoisonError};

use mindful_core::{Error, Result};
use mindful_host::terminal;

static TYPED: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// The password entered for `place`, such as `me@db:3306`.
pub(super) fn password_for(place: &str) -> Option<String> {
    TYPED.lock().unwrap_or_else(PoisonError::into_inner).get(place).cloned()
}

/// Prompts the user at the terminal; `None` without a terminal.
pub(super) fn ask(place: &str) -> Result<Option<String>> {
    terminal::secret(&format!("Password of {place}: ")).map_err(|error| match error.kind() {
        ErrorKind::Interrupted => Error::interrupted(format!("{place}: no password was typed")),
        _ => Error::plan(format!("{place}: no password was read ({error})"), "put it into MYSQL_PWD or ~/.my.cnf"),
    })
}

pub(super) fn keep(place: &str, password: String) {
    TYPED.lock().unwrap_or_else(PoisonError::into_inner).insert(place.to_owned(), password);
}
