//! The SQLite engine: one file, read and written inside mindful's own process.

mod checks;
mod counters;
mod error;
mod file;
mod filler;
mod judge;
mod load;
mod objects;
mod options;
mod proof;
mod registry;
mod session;
mod statement;
mod stored;
mod target;
mod watch;

use std::sync::Arc;

use mindful_core::Result;
use mindful_core::contract::description::Words;
use mindful_core::contract::engine::{Capabilities, Engine, EngineFacts, EngineOptions};
use mindful_core::contract::event::Events;
use mindful_core::contract::target::Target;
use mindful_core::plan::settings::Settings;
use mindful_core::ranks::rendezvous::{self, Rendezvous};

pub use options::KEYS;

use file::DatabaseFile;
use options::Options;
use target::SqliteTarget;

pub static ENGINE: Sqlite = Sqlite;

#[derive(Debug, Clone, Copy)]
pub struct Sqlite;

impl Engine for Sqlite {
    fn facts(&self) -> EngineFacts {
        let summary = "SQLite in one file: nothing to install, always through the page cache, one writer at a time";
        let can = Capabilities { concurrent_writers: false, ..Capabilities::CLIENT_LOOP };
        EngineFacts { options: KEYS, ..EngineFacts::new("sqlite", &["sqlite"], summary, can) }
    }

    fn words(&self) -> Words {
        Words::new("WAL", "cache hits", "index and interior-page reads")
    }

    fn redact(&self, url: &str) -> String {
        url.to_owned()
    }

    fn parse_options(&self, url: &str, settings: &Settings) -> Result<Arc<dyn EngineOptions>> {
        let options = Options::from_settings(settings)?;
        file::parse(url)?;
        Ok(Arc::new(SqliteOptions { url: url.to_owned(), options }))
    }
}

struct SqliteOptions {
    url: String,
    options: Options,
}

impl EngineOptions for SqliteOptions {
    fn open(&self, _sessions: u32, _events: &Arc<dyn Events>) -> Result<Box<dyn Target>> {
        let file = DatabaseFile::from_url(&self.url, self.options.page_bytes)?;
        Ok(Box::new(SqliteTarget::new(file, self.options)))
    }

    fn open_rendezvous(&self, _events: &Arc<dyn Events>) -> Result<Option<Box<dyn Rendezvous>>> {
        Err(rendezvous::file_target_error("SQLite"))
    }
}
