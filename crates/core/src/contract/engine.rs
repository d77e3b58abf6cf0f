//! The contracts between mindful and whatever it measures.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::contract::description::{HostView, Words};
use crate::contract::error::Result;
use crate::contract::event::Events;
use crate::contract::file_read::FileReads;
use crate::contract::target::Target;
use crate::plan::Plan;
use crate::plan::settings::{Key, Settings};
use crate::ranks::rendezvous::Rendezvous;
use crate::result::finding::Code;

/// What an engine can do. A plan that asks for more is refused before anything runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "a list of independent yes-or-no facts, shown as a table")]
pub struct Capabilities {
    /// Makes and keeps a dataset of its own.
    pub loads: bool,
    /// Updates blocks.
    pub updates: bool,
    /// Scans a whole table.
    pub scans: bool,
    /// Runs the work loop inside the database.
    pub server_side_loop: bool,
    /// Runs the work loop in mindful.
    pub client_side_loop: bool,
    /// Keeps a rate (open loop) in its client-side loop.
    pub rate: bool,
    /// Commits less often than every operation, or without waiting.
    pub commit_modes: bool,
    /// Has many writers at a time.
    pub concurrent_writers: bool,
    /// Reads by other access paths than the index, as asked.
    pub access_paths: bool,
}

impl Capabilities {
    /// Typical capabilities of an engine with its work loop in mindful; an engine overrides those that differ.
    pub const CLIENT_LOOP: Self = Self {
        loads: true,
        updates: true,
        scans: true,
        server_side_loop: false,
        client_side_loop: true,
        rate: true,
        commit_modes: true,
        concurrent_writers: true,
        access_paths: false,
    };
}

/// What is known of an engine before it is used.
#[derive(Debug, Clone, Copy)]
pub struct EngineFacts {
    /// Short name: `postgres`.
    pub name: &'static str,
    /// The URL schemes it answers to, such as `postgres` for `postgres://…`; a bare word such as `embedded` may be one.
    pub schemes: &'static [&'static str],
    /// One line for `mindful engines`.
    pub summary: &'static str,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Options of its own, given like any plan key.
    pub options: &'static [Key],
    /// Kinds of findings that it alone raises.
    pub finding_codes: &'static [Code],
    /// A script that makes the least role it can be measured with, for an administrator; `None` where there are no roles.
    pub grants: Option<&'static str>,
    /// The variable from which it takes the password of a target; `None` where there are no passwords.
    pub password_variable: Option<&'static str>,
}

impl EngineFacts {
    /// Those of an engine without options, roles and passwords that raises no findings of its own.
    pub const fn new(
        name: &'static str,
        schemes: &'static [&'static str],
        summary: &'static str,
        capabilities: Capabilities,
    ) -> Self {
        let (options, finding_codes): (&[Key], &[Code]) = (&[], &[]);
        Self { name, schemes, summary, capabilities, options, finding_codes, grants: None, password_variable: None }
    }
}

/// A kind of system that can be measured; one static value for each.
pub trait Engine: Sync {
    /// What is known of it.
    fn facts(&self) -> EngineFacts;

    /// See [`EngineFacts::name`].
    fn name(&self) -> &'static str {
        self.facts().name
    }

    /// See [`EngineFacts::schemes`].
    fn schemes(&self) -> &'static [&'static str] {
        self.facts().schemes
    }

    /// See [`EngineFacts::summary`].
    fn summary(&self) -> &'static str {
        self.facts().summary
    }

    /// See [`EngineFacts::capabilities`].
    fn capabilities(&self) -> Capabilities {
        self.facts().capabilities
    }

    /// See [`EngineFacts::options`].
    fn options(&self) -> &'static [Key] {
        self.facts().options
    }

    /// See [`EngineFacts::finding_codes`].
    fn finding_codes(&self) -> &'static [Code] {
        self.facts().finding_codes
    }

    /// See [`EngineFacts::grants`].
    fn grants(&self) -> Option<&'static str> {
        self.facts().grants
    }

    /// See [`EngineFacts::password_variable`].
    fn password_variable(&self) -> Option<&'static str> {
        self.facts().password_variable
    }

    /// What it calls what every engine has.
    fn words(&self) -> Words {
        Words::default()
    }

    /// The names in [`Engine::grants`] that are examples, each with the one of `url` in its place, quoted.
    fn grant_names(&self, _url: &str) -> Result<Vec<(&'static str, String)>> {
        Ok(Vec::new())
    }

    /// The URL without its secrets, for output and storage.
    fn redact(&self, url: &str) -> String;

    /// Parses `url` and the engine's own options and refuses what makes no sense. Opens nothing.
    fn parse_options(&self, url: &str, settings: &Settings) -> Result<Arc<dyn EngineOptions>>;

    /// How it reads bare files, where that is what it does.
    fn file_reads(&self) -> Option<&dyn FileReads> {
        None
    }

    /// The option and its value by which the server behind `url` gets a cache that holds all of the dataset, or little
    /// of it; `None` if the server is not mindful's own.
    fn cache_option(&self, _url: &str, _holds_all: bool) -> Option<(&'static str, &'static str)> {
        None
    }
}

/// The options of an engine for one URL, parsed once: what opens its targets.
pub trait EngineOptions: Send + Sync {
    /// Opens (for some engines: starts) the system under test. Changes no data. A server that mindful starts makes room for
    /// `sessions` at once, where that is known.
    fn open(&self, sessions: u32, events: &Arc<dyn Events>) -> Result<Box<dyn Target>>;

    /// The folder in which [`EngineOptions::open`] would make a server first; `None` where there is something to open.
    /// Changes nothing and fetches nothing.
    fn find_folder_to_make(&self, _events: &Arc<dyn Events>) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Where the server would be that is to be made in `folder`. Refuses what [`EngineOptions::open`] and a load of `plan`
    /// would refuse. Changes nothing.
    fn check_unmade(&self, _folder: &Path, _plan: &Plan) -> Result<HostView> {
        Ok(HostView::default())
    }

    /// Opens the place where ranks of a run meet, which need not be the target they measure; `None` where ranks cannot meet.
    fn open_rendezvous(&self, _events: &Arc<dyn Events>) -> Result<Option<Box<dyn Rendezvous>>> {
        Ok(None)
    }
}
