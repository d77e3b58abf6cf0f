//! What the tests share: a place, the servers there are, a query.

use std::path::Path;
use std::sync::Arc;

use mindful_conformance::processes::{last_log, working_in};
use mindful_conformance::{Notes, copy_of_one, open_with};
use mindful_core::contract::event::Events;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::{Engine, Result, Target};
use mindful_mysql::private::{self, Instance, USER};
use mindful_mysql::{ENGINE, Flavor};
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub flavor: Flavor,
    pub options: &'static [(&'static str, &'static str)],
}

/// MariaDB 11.4, fetched.
pub(crate) const MARIADB: Kind = Kind { flavor: Flavor::MariaDb, options: &[] };
/// MySQL 8.0, fetched.
pub(crate) const MYSQL: Kind = Kind { flavor: Flavor::MySql, options: &[] };
/// MariaDB 10.11, of the system.
pub(crate) const OLDER: Kind = Kind { flavor: Flavor::MariaDb, options: &[("mysql_bin", "/usr/sbin")] };

impl Kind {
    /// The same; fails if a program that the gate installs is missing.
    pub(crate) fn here(self) -> Self {
        let missing = self == OLDER && !Path::new("/usr/sbin/mariadbd").exists();
        assert!(!missing, "apt-get install --no-install-recommends mariadb-server-core");
        self
    }
}

/// Runs `test` for several kinds, side by side.
pub(crate) fn each<T: Copy + Send, const N: usize>(of: [T; N], test: impl Fn(T) + Sync) {
    let test = &test;
    std::thread::scope(|scope| of.into_iter().for_each(|one| drop(scope.spawn(move || test(one)))));
}

pub(crate) fn settings(kind: Kind, folder: &Path, extra: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::defaults(ENGINE.options());
    let data_dir = folder.display().to_string();
    for (name, value) in [("data_dir", data_dir.as_str())].iter().chain(kind.here().options).chain(extra) {
        settings.set(name, *value, Origin::Flag(format!("--{}", name.replace('_', "-"))));
    }
    settings
}

pub(crate) fn open(kind: Kind, folder: &Path, extra: &[(&str, &str)]) -> (Result<Instance>, Arc<Notes>) {
    let notes = Arc::new(Notes::default());
    let events: Arc<dyn Events> = notes.clone();
    (private::open(&private::Options::parse(&settings(kind, folder, extra), kind.flavor).unwrap(), 0, &events), notes)
}

/// A private server without data in `folder`, which must not exist: a copy, because making one takes seconds of CPU.
pub(crate) fn made(kind: Kind, folder: &Path) {
    copied("private", kind, folder, |folder| drop(opened(kind, folder, &[("set", small_log(kind))])));
}

/// A copy of the result of `make`, which is kept under `name`.
pub(crate) fn copied(name: &str, kind: Kind, folder: &Path, make: impl FnOnce(&Path)) {
    let of = kind.options.iter().fold(kind.flavor.name().to_owned(), |of, (_, value)| of + &value.replace('/', "-"));
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{of}"));
    copy_of_one(&place, &std::env::current_exe().unwrap(), folder, make);
}

/// Keeps the log small: a copy has no holes, and a start with another size makes it again.
pub(crate) fn small_log(kind: Kind) -> &'static str {
    if kind == MYSQL { "innodb_redo_log_capacity=32M" } else { "innodb_log_file_size=32M" }
}

/// Starts the one in `folder`, or one without data, which must work.
pub(crate) fn started(kind: Kind, folder: &Path, extra: &[(&str, &str)]) -> Instance {
    if !folder.exists() {
        made(kind, folder);
    }
    let given = extra.iter().filter(|(name, _)| *name == "set").map(|(_, set)| *set);
    let set = given.fold(small_log(kind).to_owned(), |all, set| format!("{all},{set}"));
    opened(kind, folder, &[extra, &[("set", &set)]].concat())
}

/// Opens the private server in `folder` which must work.
pub(crate) fn opened(kind: Kind, folder: &Path, extra: &[(&str, &str)]) -> Instance {
    let (server, notes) = open(kind, folder, extra);
    server.unwrap_or_else(|error| panic!("{error}\n{}\n{}", notes.all(), last_log(folder)))
}

pub(crate) fn refusal(kind: Kind, folder: &Path, extra: &[(&str, &str)]) -> String {
    match open(kind, folder, extra).0 {
        Ok(_) => panic!("{} was not refused", folder.display()),
        Err(error) => error.to_string(),
    }
}

/// A target of `user` on the server, as on a foreign server.
pub(crate) fn target(server: &Instance, user: &str, options: &[(&str, &str)]) -> Result<Box<dyn Target>> {
    target_at(&format!("mysql://{user}@localhost?socket={}", server.socket().display()), options)
}

pub(crate) fn target_at(url: &str, options: &[(&str, &str)]) -> Result<Box<dyn Target>> {
    let events: Arc<dyn Events> = Arc::new(Notes::default());
    open_with(&ENGINE, url, options, &events)
}

pub(crate) fn connect(server: &Instance) -> Conn {
    let socket = server.socket().display().to_string();
    Conn::new(OptsBuilder::new().socket(Some(socket)).user(Some(USER)).prefer_socket(false)).unwrap()
}

/// Runs a statement and returns the first column of all rows, one a line.
pub(crate) fn sql(server: &Instance, text: &str) -> String {
    let rows = connect(server).query::<mysql::Row, _>(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let first = |mut row: mysql::Row| row.take::<Option<String>, _>(0).flatten().unwrap_or_default();
    rows.into_iter().map(first).collect::<Vec<_>>().join("\n")
}

/// Server processes that work in the data folder below `folder`.
pub(crate) fn servers(folder: &Path) -> Vec<i32> {
    working_in(&folder.join("data"))
}
