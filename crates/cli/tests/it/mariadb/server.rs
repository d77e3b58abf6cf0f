//! A MariaDB of the user's own, which keeps running during the runs on it.

use std::path::Path;
use std::sync::Arc;

use mindful_conformance::{copy_of_one, place};
use mindful_core::Engine as _;
use mindful_core::contract::event::{Events, Silent};
use mindful_core::plan::settings::{Origin, Settings};
use mindful_mysql::private::{self, Instance, USER};
use mindful_mysql::{ENGINE, Flavor};
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};

use crate::mindful::private::{SMALL_LOG, mariadb_to};
use crate::mindful::report::Report;
use crate::mindful::{Mindful, Words};

pub(crate) fn connect(socket: &Path) -> Conn {
    let socket = Some(socket.display().to_string());
    Conn::new(OptsBuilder::new().socket(socket).user(Some(USER)).prefer_socket(false)).unwrap()
}

/// Stops when this is dropped.
pub(crate) struct UsersMariaDb(Instance);

impl UsersMariaDb {
    /// In `folder`, with options of the private server; if it is missing, a copy of one without data, because making
    /// one takes seconds of CPU. A copy has its log in its folder: one with a `log_dir` is made.
    pub(crate) fn start(folder: &Path, options: &[(&str, &str)]) -> Self {
        if !folder.exists() && options.iter().all(|(name, _)| *name != "log_dir") {
            let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("private-empty-mariadb");
            let program = std::env::current_exe().unwrap();
            copy_of_one(&empty, &program, folder, |folder| drop(Self::open(folder, &[("set", SMALL_LOG)])));
        }
        let given = options.iter().filter(|(name, _)| *name == "set").map(|(_, set)| *set);
        let set = given.fold(SMALL_LOG.to_owned(), |all, set| format!("{all},{set}"));
        Self::open(folder, &[options, &[("set", &set)]].concat())
    }

    /// The same with a mindful for runs on it, next to other tests, and with the dataset of a short run in it.
    pub(crate) fn beside_others(options: &[(&str, &str)]) -> (Mindful, Self) {
        let mindful = Mindful::beside_others(place());
        mariadb_to(&mindful.path("users"));
        let server = Self::start(&mindful.path("users"), options);
        (mindful, server)
    }

    fn open(folder: &Path, options: &[(&str, &str)]) -> Self {
        let mut settings = Settings::defaults(ENGINE.options());
        settings.set("data_dir", folder.to_string_lossy(), Origin::Default);
        for (name, value) in options {
            settings.set(name, *value, Origin::Default);
        }
        let options = private::Options::parse(&settings, Flavor::MariaDb).unwrap();
        Self(private::open(&options, 0, &(Arc::new(Silent) as Arc<dyn Events>)).unwrap())
    }

    pub(crate) fn url(&self) -> String {
        self.url_of(USER, "mindful")
    }

    pub(crate) fn url_of(&self, user: &str, database: &str) -> String {
        format!("mysql://{user}@localhost/{database}?socket={}", self.0.socket().display())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.pid()
    }

    pub(crate) fn run(&self, mindful: &Mindful, args: impl Words) -> Report {
        mindful.short_run((["--target", &self.url()], args))
    }

    pub(crate) fn connect(&self) -> Conn {
        connect(&self.0.socket())
    }

    pub(crate) fn sql(&self, sql: &str) {
        self.connect().query_drop(sql).unwrap();
    }

    pub(crate) fn count(&self, sql: &str) -> u64 {
        self.connect().query_first(sql).unwrap().unwrap()
    }
}
