//! Properties of the file that must not change during a measurement: the file itself, its length, its mode, and its
//! writers.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use mindful_core::Result;
use mindful_core::contract::watch::{Circumstance, Decides, Watch};
use mindful_core::workload::Workload;
use rusqlite::Connection;

use crate::error::explain;

pub(crate) struct FileWatch {
    path: PathBuf,
    connection: Connection,
    /// Whether mindful's sessions update the tables.
    updates: bool,
    /// SQLite's count of commits by others than this connection, when it was read first.
    first_version: Option<i64>,
}

impl FileWatch {
    pub(crate) fn new(path: PathBuf, connection: Connection, workload: &Workload) -> Self {
        Self { path, connection, updates: !workload.update_pct.is_none(), first_version: None }
    }

    fn pragma(&self, name: &str) -> Result<i64> {
        let value = self.connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
        value.map_err(|error| explain(&self.path, &error))
    }
}

impl Watch for FileWatch {
    fn name(&self) -> &'static str {
        "file"
    }

    fn read(&mut self) -> Result<Vec<Circumstance>> {
        let file = self.path.metadata().ok().map(|file| format!("{}:{}", file.dev(), file.ino()));
        let mode = self.connection.query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0)).ok();
        let mut found = vec![
            Circumstance::new("database file", file, Decides::Layout),
            Circumstance::new("journal_mode", mode, Decides::Work),
        ];
        for name in ["schema_version", "page_count", "freelist_count"] {
            found.push(Circumstance::new(name, Some(self.pragma(name)?.to_string()), Decides::Layout));
        }
        let version = self.pragma("data_version")?;
        let commits = version - *self.first_version.get_or_insert(version);
        if !self.updates {
            found.push(Circumstance::new("commits of others", Some(commits.to_string()), Decides::Layout));
        }
        Ok(found)
    }
}
