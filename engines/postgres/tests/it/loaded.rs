//! Databases with a dataset that was loaded once: a copy takes less than a load.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use mindful_core::Target;

use crate::support::{Server, await_at, load, new_database, shared};

/// A database of its own with a dataset, on a server that all tests of this process share.
pub(crate) struct Loaded {
    server: Arc<Server>,
    name: String,
}

impl Loaded {
    pub(crate) fn new(bin: PathBuf, schemas: u32, blocks: u64) -> Self {
        let server = shared(bin);
        let template = template(&server, schemas, blocks);
        let name = new_database(&server, &format!("TEMPLATE {template} STRATEGY file_copy"));
        Self { server, name }
    }

    pub(crate) fn target(&self) -> Box<dyn Target> {
        self.server.target_as("bench", &self.name, &[]).unwrap()
    }

    pub(crate) fn sql(&self, sql: &str) -> Vec<String> {
        Server::sql_at(&self.url(), sql).unwrap()
    }

    /// Waits until no other client is in it: its work is counted before it is gone.
    pub(crate) fn await_alone(&self) {
        await_at(
            &self.url(),
            "NOT EXISTS (SELECT FROM pg_stat_activity
             WHERE backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid())",
        );
    }

    fn url(&self) -> String {
        self.server.url("bench", &self.name)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let _ = self.server.try_sql(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

fn template(server: &Server, schemas: u32, blocks: u64) -> String {
    let name = format!("loaded_{schemas}_{blocks}");
    let mut made = server.templates.lock().unwrap_or_else(PoisonError::into_inner);
    if !made.contains(&name) {
        server.sql(&format!("CREATE DATABASE {name}"));
        let target = server.target_as("bench", &name, &[]).unwrap();
        load(&*target, schemas, blocks).unwrap();
        made.push(name.clone());
    }
    name
}
