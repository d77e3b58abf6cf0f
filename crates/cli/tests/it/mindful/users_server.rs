//! A server of the user's own, which keeps running during the runs on it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mindful_conformance::{copy_of_one, place};
use mindful_core::contract::event::{Events, Silent};
use mindful_core::plan::settings::{Origin, Settings};
use mindful_postgres::private::{self, DATABASE, Instance, KEYS, PORT, USER};
use tokio::runtime::Runtime;

use crate::mindful::private::copy_to;
use crate::mindful::report::{Report, while_repeated};
use crate::mindful::{Mindful, Words};

/// Stops when this is dropped.
pub(crate) struct UsersServer {
    server: Instance,
    runtime: Runtime,
}

impl UsersServer {
    /// Started with `set`, settings as in postgresql.conf with commas between them, and the dataset of a short run in it.
    pub(crate) fn start(mindful: &Mindful, set: &str) -> Self {
        let folder = mindful.path("users");
        if !folder.exists() {
            copy_to(&folder);
        }
        Self::at(&folder, set)
    }

    /// The same with a mindful for runs on it, next to other tests.
    pub(crate) fn beside_others(set: &str) -> (Mindful, Self) {
        let mindful = Mindful::beside_others(place());
        let server = Self::start(&mindful, set);
        (mindful, server)
    }

    /// The same in a folder of the caller's choice; if it is missing, a copy of one without data, because making one
    /// takes half a second of CPU.
    pub(crate) fn at(folder: &Path, set: &str) -> Self {
        Self::of(folder, &[("set", set)])
    }

    pub(crate) fn of(folder: &Path, options: &[(&str, &str)]) -> Self {
        if !folder.exists() {
            let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("private-empty-postgres");
            copy_of_one(&empty, &std::env::current_exe().unwrap(), folder, |folder| drop(Self::open(folder, &[])));
        }
        Self::open(folder, options)
    }

    fn open(folder: &Path, options: &[(&str, &str)]) -> Self {
        let mut settings = Settings::defaults(KEYS);
        settings.set("data_dir", folder.to_string_lossy(), Origin::Default);
        for (name, value) in options {
            settings.set(name, *value, Origin::Default);
        }
        let options = private::Options::parse(&settings).unwrap();
        let server = private::open(&options, 0, &(Arc::new(Silent) as Arc<dyn Events>)).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { server, runtime }
    }

    pub(crate) fn url(&self) -> String {
        self.url_as(USER)
    }

    pub(crate) fn admit(&self, mindful: &Mindful, role: &str) -> String {
        let mut rules = std::fs::OpenOptions::new().append(true).open(mindful.path("users/access.conf")).unwrap();
        writeln!(rules, "local all {role} trust").unwrap();
        self.sql("SELECT pg_reload_conf()");
        self.url_as(role)
    }

    /// The folder of its socket, the number in the socket's name, and its database.
    pub(crate) fn place(&self) -> (PathBuf, u16, &'static str) {
        (self.server.socket_folder().to_owned(), PORT, DATABASE)
    }

    fn url_as(&self, user: &str) -> String {
        let folder = self.server.socket_folder().display().to_string().replace('/', "%2F");
        format!("postgresql://{user}@{folder}:{PORT}/{DATABASE}")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }

    pub(crate) fn run(&self, mindful: &Mindful, args: impl Words) -> Report {
        mindful.short_run((["--target", &self.url()], args))
    }

    /// A short run, while `sql` is repeated.
    pub(crate) fn run_beside(&self, mindful: &Mindful, args: impl Words, sql: &str) -> Report {
        while_repeated(|| self.sql(sql), || self.run(mindful, args))
    }

    pub(crate) fn sql(&self, sql: &str) {
        self.sql_in(DATABASE, sql);
    }

    pub(crate) fn sql_in(&self, database: &str, sql: &str) {
        let url = self.url();
        let url = format!("{}/{database}", url.rsplit_once('/').unwrap().0);
        self.runtime.block_on(async { connect(&url).await.batch_execute(sql).await.unwrap() });
    }

    /// Does `sql` in a transaction that stays open until this is dropped.
    pub(crate) fn hold(&self, sql: &str) -> tokio_postgres::Client {
        self.runtime.block_on(async {
            let client = connect(&self.url()).await;
            client.batch_execute(&format!("BEGIN; {sql}")).await.unwrap();
            client
        })
    }

    pub(crate) fn count(&self, sql: &str) -> usize {
        self.runtime.block_on(async { connect(&self.url()).await.query(sql, &[]).await.unwrap().len() })
    }
}

async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
