//! One private server of each kind for all tests that need no server of their own: each gets a database.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use mindful_conformance::{Fixture, place, quick_place};
use mindful_core::dataset::DatasetPlan;
use mindful_mysql::ENGINE;
use mindful_mysql::private::Instance;
use tempfile::TempDir;

use crate::support::{Kind, copied, made, small_log, started};

/// A private server that stops with its last test.
pub(crate) struct Shared {
    pub server: Instance,
    /// Unused databases with the dataset of the suite.
    loaded: Mutex<Vec<String>>,
    _place: TempDir,
}

/// A server for tests that do not depend on its device: nothing waits for it, and nothing is written twice.
const NOTHING_WAITS: [(&str, &str); 1] = [("set", "innodb_flush_method=nosync,innodb_doublewrite=OFF")];

/// Blocks that a private server of a test's own comes with.
pub(crate) const BLOCKS: u64 = 3_000;

/// The server of `kind`, started at the first request.
pub(crate) fn server(kind: Kind) -> Arc<Shared> {
    static SHARED: Mutex<Vec<(Kind, Weak<Shared>)>> = Mutex::new(Vec::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = shared.iter().find(|(of, _)| *of == kind).and_then(|(_, server)| server.upgrade()) {
        return server;
    }
    let place = quick_place();
    let server = started(kind, &place.path().join("db"), &NOTHING_WAITS);
    let server = Arc::new(Shared { server, loaded: Mutex::default(), _place: place });
    shared.retain(|(of, _)| *of != kind);
    shared.push((kind, Arc::downgrade(&server)));
    server
}

pub(crate) fn url(socket: &Path, database: &str) -> String {
    format!("mysql://root@localhost/{database}?socket={}", socket.display())
}

pub(crate) fn name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// A fresh target on the shared server of `kind`. Its dataset is loaded for each test: an index of two pages is enough.
pub(crate) fn fixture(kind: Kind) -> Fixture {
    let shared = server(kind);
    let mut fixture = Fixture::new(&ENGINE, url(&shared.server.socket(), &name())).keeping(shared);
    fixture.dataset.blocks_per_schema = 350;
    fixture
}

/// The same, loaded maybe by a test before. A property that changes the whole server has a server of its own.
pub(crate) fn maybe_loaded(kind: Kind) -> Fixture {
    let thread = std::thread::current();
    if thread.name().is_some_and(|name| name.ends_with("::fewer_commits_are_kept_or_refused")) {
        return own(kind);
    }
    let server = server(kind);
    let free = server.loaded.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let lent = Lent { name: free.unwrap_or_else(name), server };
    Fixture::new(&ENGINE, url(&lent.server.server.socket(), &lent.name)).keeping(lent)
}

/// A database that the next test may use, unless this one fails.
struct Lent {
    name: String,
    server: Arc<Shared>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let name = std::mem::take(&mut self.name);
            self.server.loaded.lock().unwrap_or_else(PoisonError::into_inner).push(name);
        }
    }
}

/// A target on a private server of its own, a copy of one that loaded [`BLOCKS`] of one schema.
pub(crate) fn own(kind: Kind) -> Fixture {
    let place = place();
    let folder = place.path().join("db");
    copied("loaded", kind, &folder, |folder| {
        made(kind, folder);
        drop(private(kind, folder).loaded());
    });
    private(kind, &folder).keeping(place)
}

fn private(kind: Kind, folder: &Path) -> Fixture {
    let url = format!("{}:", kind.flavor.name().to_lowercase());
    let folder = folder.display().to_string();
    let mut fixture = Fixture::new(&ENGINE, url).with("data_dir", &folder).with("set", small_log(kind));
    fixture.dataset = DatasetPlan { schemas: 1, blocks_per_schema: BLOCKS, scan_blocks: 0, ..fixture.dataset };
    kind.options.iter().fold(fixture, |fixture, (name, value)| fixture.with(name, value))
}
