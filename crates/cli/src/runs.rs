//! Stored runs as others see them, with the names in them or without.

use std::cell::RefCell;

use clap::ArgMatches;
use mindful_analyze::Analysis;
use mindful_core::plan;
use mindful_core::run::Run;
use mindful_core::settings::{Key, Trust};
use mindful_core::{Error, Result};
use mindful_record::redact::{Kind, Redactor};
use mindful_record::{Store, file as record_file};

use crate::registry;

/// Variables that say who uses this host.
const USERS: [&str; 3] = ["USER", "LOGNAME", "SUDO_USER"];

/// Runs of a store as others see them.
pub struct Runs<'a> {
    store: &'a Store,
    redactor: Option<RefCell<Redactor>>,
}

impl<'a> Runs<'a> {
    /// Those of `store`, without names where `--redact` is given.
    pub fn of(store: &'a Store, matches: &ArgMatches) -> Self {
        let redactor = matches.get_flag("redact").then(|| RefCell::new(redactor()));
        Self { store, redactor }
    }

    /// The store they are in.
    pub fn store(&self) -> &'a Store {
        self.store
    }

    /// The run `id` with its analysis.
    pub fn read(&self, id: &str) -> Result<(Run, Analysis)> {
        let run = match &self.redactor {
            Some(redactor) => self.store.read_redacted(id, &mut redactor.borrow_mut(), None)?,
            None => self.store.read(id)?,
        };
        let analysis = mindful_analyze::analyze(&run);
        Ok((run, analysis))
    }

    /// All lines of the record of run `id`: as they stand, where names may stay.
    pub fn lines(&self, id: &str) -> Result<String> {
        if let Some(redactor) = &self.redactor {
            let mut lines = String::new();
            self.store.read_redacted(id, &mut redactor.borrow_mut(), Some(&mut lines))?;
            return Ok(lines);
        }
        let path = self.store.log(id)?;
        record_file::open_itself(&path).and_then(|file| record_file::text(file, u64::MAX - 1)).map_err(|error| {
            Error::run(format!("{} cannot be read: {error}", path.display()), "look at the rights of the run folder")
        })
    }

    /// A name that somebody gave on the command line.
    pub fn name(&self, name: &str) -> String {
        self.redactor.as_ref().map_or_else(|| name.to_owned(), |redactor| redactor.borrow_mut().text(name))
    }
}

/// What takes names out, knowing the keys of all plans, this host and its user.
fn redactor() -> Redactor {
    let keys = plan::KEYS.iter().chain(plan::SWEEP_KEYS).chain(registry::options(None));
    let choice = |key: &'static Key| (key.trust == Trust::Value).then(|| key.name.to_owned());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let users = USERS.iter().filter_map(|variable| std::env::var(variable).ok());
    let known = users.map(|user| (Kind::User, user)).chain([(Kind::Host, host)]);
    Redactor::new(keys.filter_map(choice), known)
}
