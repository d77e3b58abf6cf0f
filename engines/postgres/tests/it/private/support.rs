//! What the tests share: a place, a server, a query.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mindful_conformance::processes::{last_log, working_in};
use mindful_conformance::{Notes, copy_of_one, quick_place};
use mindful_core::Result;
use mindful_core::contract::event::Events;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_postgres::private::{self, DATABASE, Instance, KEYS, PORT, USER};

use tempfile::TempDir;

use crate::support::sql_by;

pub(super) fn settings(folder: &Path, extra: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::defaults(KEYS.iter().chain(mindful_instance::options::KEYS));
    let data_dir = folder.display().to_string();
    for (name, value) in [("data_dir", data_dir.as_str())].iter().chain(extra) {
        settings.set(name, *value, Origin::Flag(format!("--{}", name.replace('_', "-"))));
    }
    settings
}

pub(super) fn open(folder: &Path, extra: &[(&str, &str)]) -> (Result<Instance>, Arc<Notes>) {
    let notes = Arc::new(Notes::default());
    let events: Arc<dyn Events> = notes.clone();
    (private::open(&private::Options::parse(&settings(folder, extra)).unwrap(), 0, &events), notes)
}

/// Opens it, which must work. If it is missing, it is a copy of one without data, because making one takes half a
/// second of CPU.
pub(super) fn started(folder: &Path, extra: &[(&str, &str)]) -> Instance {
    if !folder.exists() {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("private-postgres");
        copy_of_one(&place, &std::env::current_exe().unwrap(), folder, |folder| drop(opened(folder, &[])));
    }
    opened(folder, extra)
}

/// The same in a new folder, which goes with the first value.
pub(super) fn fresh(extra: &[(&str, &str)]) -> (TempDir, PathBuf, Instance) {
    let place = quick_place();
    let folder = place.path().join("pg");
    let server = started(&folder, extra);
    (place, folder, server)
}

/// The same; made if it is missing.
pub(super) fn opened(folder: &Path, extra: &[(&str, &str)]) -> Instance {
    let (server, notes) = open(folder, extra);
    server.unwrap_or_else(|error| panic!("{error}\n{}\n{}", notes.all(), last_log(folder)))
}

pub(super) fn refusal(folder: &Path, extra: &[(&str, &str)]) -> String {
    match open(folder, extra).0 {
        Ok(_) => panic!("{} was not refused", folder.display()),
        Err(error) => error.to_string(),
    }
}

/// Runs statements and returns the first column of all rows, one a line.
pub(super) fn sql(server: &Instance, text: &str) -> String {
    query(server, text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The same, but it may fail.
pub(super) fn query(server: &Instance, text: &str) -> Result<String, tokio_postgres::Error> {
    let mut config = tokio_postgres::Config::new();
    config.host_path(server.socket_folder()).port(PORT).user(USER).dbname(DATABASE);
    Ok(sql_by(&config, text)?.join("\n"))
}

/// Server processes that work in the data directory below `folder`.
pub(super) fn servers(folder: &Path) -> Vec<i32> {
    working_in(&folder.join("pgdata"))
}

pub(super) fn mode_and_owner(path: &Path) -> (u32, u32) {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    (meta.permissions().mode() & 0o7777, meta.uid())
}
