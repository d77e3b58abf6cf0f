//! The contracts between mindful and the engines of measured systems.

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

/// Abilities of an engine. A plan that needs more is refused before anything runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "a list of independent yes-or-no facts, shown as a table")]
pub struct Capabilities {
    /// Creates and keeps its own dataset.
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
    /// Can read by access paths other than the index.
    pub access_paths: bool,
}

impl Capabilities {
    /// Typical capabilities of an engine with its work loop in mindful.
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

/// Static facts about an engine.
#[derive(Debug, Clone, Copy)]
pub struct EngineFacts {
    /// Short name: `postgres`.
    pub name: &'static str,
    /// The URL schemes it answers to, such as `postgres` for `postgres://…`; a bare word such as `embedded` may be one.
    pub schemes: &'static [&'static str],
    /// One line for `mindful engines`.
    pub summary: &'static str,
    /// Its abilities.
    pub capabilities: Capabilities,
    /// Its own options, which are set like plan keys.
    pub options: &'static [Key],
    /// Kinds of findings that only this engine raises.
    pub finding_codes: &'static [Code],
    /// A script that an administrator runs to create the least privileged role for measuring; `None` without roles.
    pub grants: Option<&'static str>,
    /// The environment variable with the password of a target; `None` without passwords.
    pub password_variable: Option<&'static str>,
}

impl EngineFacts {
    /// Facts of an engine without options, roles, passwords and findings of its own.
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
    /// The static facts, from which the other methods take their values.
    fn facts(&self) -> EngineFacts;

    /// See [`EngineFacts::name`].
    fn name(&self) -> &'static str {
        self.facts().name
    }

    /// See [`EngineFacts::capabilities`].
    fn capabilities(&self) -> Capabilities {
        self.facts().capabilities
    }

    /// See [`EngineFacts::options`].
    fn options(&self) -> &'static [Key] {
        self.facts().options
    }

    /// The engine's words for concepts that all engines share.
    fn words(&self) -> Words {
        Words::default()
    }

    /// The names in [`EngineFacts::grants`] that are examples, each with the one of `url` in its place, quoted.
    fn grant_names(&self, _url: &str) -> Result<Vec<(&'static str, String)>> {
        Ok(Vec::new())
    }

    /// The URL without its secrets, for output and storage.
    fn redact(&self, url: &str) -> String;

    /// Parses `url` and the engine's own options and refuses invalid ones. Opens nothing.
    fn parse_options(&self, url: &str, settings: &Settings) -> Result<Arc<dyn EngineOptions>>;

    /// How the engine reads bare files; `None` if it does not.
    fn file_reads(&self) -> Option<&dyn FileReads> {
        None
    }

    /// The option and value that size the server's cache for all of the dataset, or for little of it. `None` if the
    /// server does not belong to mindful.
    fn cache_option(&self, _url: &str, _holds_all: bool) -> Option<(&'static str, &'static str)> {
        None
    }
}

/// The options of an engine for one URL, parsed once. They open its targets.
pub trait EngineOptions: Send + Sync {
    /// Opens (for some engines: starts) the system under test. Changes no data. A server that mindful starts makes room for
    /// `sessions` at once, where that is known.
    fn open(&self, sessions: u32, events: &Arc<dyn Events>) -> Result<Box<dyn Target>>;

    /// The folder in which [`EngineOptions::open`] would first create a server; `None` if a server exists. Changes
    /// nothing and fetches nothing.
    fn find_folder_to_make(&self, _events: &Arc<dyn Events>) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    /// The host view of a server that would be created in `folder`. Refuses in advance the errors of
    /// [`EngineOptions::open`] and of a load of `plan`. Changes nothing.
    fn check_unmade(&self, _folder: &Path, _plan: &Plan) -> Result<HostView> {
        Ok(HostView::default())
    }

    /// Opens the rendezvous of the ranks of a run, which can differ from the measured target; `None` if ranks cannot
    /// meet.
    fn open_rendezvous(&self, _events: &Arc<dyn Events>) -> Result<Option<Box<dyn Rendezvous>>> {
        Ok(None)
    }
}
