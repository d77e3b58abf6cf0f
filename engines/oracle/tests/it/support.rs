//! A fresh made-up database, and the engine on it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mindful_conformance::Fixture;
use mindful_oracle::Oracle;

use crate::fake::{Database, Fake, PASSWORD};

pub(crate) static ENGINE: Oracle = Oracle::new(&Fake);

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A fixture on a database that no other test uses, and that database.
pub(crate) fn fixture() -> (Fixture, Arc<Database>) {
    let name = format!("made_up_{}", NUMBER.fetch_add(1, Ordering::SeqCst));
    let database = Database::create(&name);
    let folder = tempfile::tempdir().expect("a folder");
    let mut fixture = Fixture::new(&ENGINE, format!("oracle://bench@host:1521/{name}"))
        .with("password_file", &password_file(folder.path(), PASSWORD))
        .with("wait_sampling", "20ms")
        .keeping(folder);
    fixture.bad_urls.extend(["oracle://bench@host:1521/nowhere".to_owned(), "oracle://bench@alias".to_owned()]);
    (fixture, database)
}

/// The path of a file in `folder` with `password` that only this user can read.
pub(crate) fn password_file(folder: &Path, password: &str) -> String {
    let file = folder.join("password");
    std::fs::write(&file, password).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    file.to_str().unwrap().to_owned()
}
