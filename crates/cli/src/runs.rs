//! Stored runs as they are shown or exported, with names or redacted.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read as _};

use clap::ArgMatches;
use mindful_analyze::Analysis;
use mindful_core::plan;
use mindful_core::plan::settings::{Key, Trust};
use mindful_core::record::run::Run;
use mindful_core::{Error, Result};
use mindful_record::redact::{Kind, Redactor};
use mindful_record::{Store, file as record_file};

use crate::registry;

/// Variables with the name of the user.
const USERS: [&str; 3] = ["USER", "LOGNAME", "SUDO_USER"];

pub(crate) struct Runs<'a> {
    store: &'a Store,
    redactor: Option<RefCell<Redactor>>,
}

impl<'a> Runs<'a> {
    /// The runs of `store`, redacted if `--redact` is given.
    pub(crate) fn of(store: &'a Store, matches: &ArgMatches) -> Self {
        let redactor = matches.get_flag("redact").then(|| RefCell::new(redactor()));
        Self { store, redactor }
    }

    pub(crate) fn store(&self) -> &'a Store {
        self.store
    }

    pub(crate) fn read(&self, id: &str) -> Result<(Run, Analysis)> {
        let run = match &self.redactor {
            Some(redactor) => self.store.read_redacted(id, &mut redactor.borrow_mut(), None)?,
            None => self.store.read(id)?,
        };
        let analysis = mindful_analyze::analyze(&run);
        Ok((run, analysis))
    }

    /// All complete lines of the record of run `id`.
    pub(crate) fn lines(&self, id: &str) -> Result<String> {
        if let Some(redactor) = &self.redactor {
            let mut lines = String::new();
            self.store.read_redacted(id, &mut redactor.borrow_mut(), Some(&mut lines))?;
            return Ok(lines);
        }
        let path = self.store.log(id)?;
        record_file::open_itself(&path).and_then(whole_lines).map_err(|error| {
            Error::run(format!("cannot read {}: {error}", path.display()), "check the permissions of the run folder")
        })
    }

    /// A name from the command line.
    pub(crate) fn name(&self, name: &str) -> String {
        self.redactor.as_ref().map_or_else(|| name.to_owned(), |redactor| redactor.borrow_mut().text(name))
    }
}

/// The lines of `record` without an incomplete last one. Control characters become spaces.
fn whole_lines(mut record: File) -> io::Result<String> {
    let mut lines = Vec::new();
    record.read_to_end(&mut lines)?;
    lines.truncate(lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1));
    lines.iter_mut().filter(|byte| byte.is_ascii_control() && **byte != b'\n').for_each(|byte| *byte = b' ');
    String::from_utf8(lines).map_err(io::Error::other)
}

/// A redactor that knows all plan keys, this host and its user.
fn redactor() -> Redactor {
    let keys = plan::KEYS.iter().chain(plan::SWEEP_KEYS).chain(registry::options());
    let choice = |key: &'static Key| (key.trust == Trust::Value).then(|| key.name.to_owned());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let users = USERS.iter().filter_map(std::env::var_os).map(|user| user.to_string_lossy().into_owned());
    let known = users.map(|user| (Kind::User, user)).chain([(Kind::Host, host)]);
    Redactor::new(keys.filter_map(choice), known)
}
