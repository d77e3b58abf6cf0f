//! Stored runs as they are shown or exported, with names or redacted.

use std::cell::RefCell;

use clap::ArgMatches;
use mindful_analyze::Analysis;
use mindful_core::Result;
use mindful_core::plan;
use mindful_core::plan::settings::{Key, Trust};
use mindful_core::record::run::Run;
use mindful_record::Store;
use mindful_record::redact::{NameKind, Redactor};

use crate::registry;

/// Bytes of a record that are passed on at once.
const PIECE: usize = 256 << 10;
const USERS: [&str; 3] = ["USER", "LOGNAME", "SUDO_USER"];

pub(crate) struct Runs<'a> {
    store: &'a Store,
    redactor: Option<RefCell<Redactor>>,
}

impl<'a> Runs<'a> {
    pub(crate) fn of(store: &'a Store, matches: &ArgMatches) -> Self {
        let redactor = matches.get_flag("redact").then(|| RefCell::new(redactor()));
        Self { store, redactor }
    }

    pub(crate) fn store(&self) -> &'a Store {
        self.store
    }

    pub(crate) fn read(&self, id: &str) -> Result<(Run, Analysis)> {
        self.read_in(self.store, id)
    }

    /// The same from another store, redacted by the same names.
    pub(crate) fn read_in(&self, store: &Store, id: &str) -> Result<(Run, Analysis)> {
        let run = match &self.redactor {
            Some(redactor) => store.read_redacted(id, &mut redactor.borrow_mut())?,
            None => store.read(id)?,
        };
        let analysis = mindful_analyze::analyze(&run);
        Ok((run, analysis))
    }

    /// Passes the complete lines of the record of run `id` to `each`, some at a time. Nothing in them steers a terminal.
    pub(crate) fn lines(&self, id: &str, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        let mut piece = String::new();
        let mut add = |line: &str| {
            // White space between the words of a line may be anything.
            let line = line.replace(|c: char| c.is_ascii_control() && c != '\u{7f}', " ");
            piece.push_str(&mindful_report::escape_json(&line));
            piece.push('\n');
            if piece.len() < PIECE {
                return Ok(());
            }
            each(&std::mem::take(&mut piece))
        };
        match &self.redactor {
            Some(redactor) => self.store.each_redacted_line(id, &mut redactor.borrow_mut(), &mut add)?,
            None => self.store.each_line(id, &mut add)?,
        }
        each(&piece)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        self.redactor.as_ref().map_or_else(|| name.to_owned(), |redactor| redactor.borrow_mut().text(name))
    }
}

/// A redactor with all plan keys, this host and its user.
fn redactor() -> Redactor {
    let keys = plan::KEYS.iter().chain(plan::SWEEP_KEYS).chain(registry::options());
    let choice = |key: &'static Key| (key.trust == Trust::Value).then(|| key.name.to_owned());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let users = USERS.iter().filter_map(std::env::var_os).map(|user| user.to_string_lossy().into_owned());
    let known = users.map(|user| (NameKind::User, user)).chain([(NameKind::Host, host)]);
    Redactor::new(keys.filter_map(choice), known)
}
