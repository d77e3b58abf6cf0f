//! A private server for tests, of any PostgreSQL with its programs in a folder.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

pub(crate) use mindful_conformance::dataset_plan as dataset;
use mindful_conformance::{Fixture, copy_folder, network, open_with, quick_folder, slice_of};
use mindful_core::contract::event::{Events, Silent};
use mindful_core::contract::metric::Sampler;
use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Dataset, LayoutProof};
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::plan::units::Share;
use mindful_core::plan::{self, Plan};
use mindful_core::workload::Workload;
use mindful_core::{Engine, Result, Session, Target};
use mindful_instance::fetch::BASE;
use mindful_postgres::ENGINE;
use mindful_postgres::private;
use tokio_postgres::Config;

/// Longest wait for something that a server does at once, unless the host is busy.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// Sessions in a slice, as the end of a SELECT.
pub(crate) const IN_A_SLICE: &str = "FROM pg_stat_activity WHERE query LIKE 'CALL pg_temp.slice%' AND state = 'active'";

/// Of a template, MB: the usual 16 would be half of the copied bytes.
const WAL_FILE_MB: u32 = 1;

/// Only names the socket: nothing listens on TCP.
const SOCKET_ONLY: u16 = 5432;

/// A running server with its own folder; ends with the value.
pub(crate) struct Server {
    process: Child,
    folder: tempfile::TempDir,
    port: u16,
    /// Unused databases with the dataset of the suite.
    loaded: Mutex<Vec<String>>,
}

/// A foreign transaction, open until this is dropped.
pub(crate) struct Held {
    _client: tokio_postgres::Client,
    _runtime: tokio::runtime::Runtime,
}

impl Server {
    pub(crate) fn start(bin: &Path, settings: &[&str]) -> Self {
        Self::start_at(&quick_folder(), bin, SOCKET_ONLY, settings)
    }

    /// The same on a disk, so that commits wait for it.
    pub(crate) fn start_on_disk(bin: &Path, settings: &[&str]) -> Self {
        Self::start_at(&std::env::temp_dir(), bin, SOCKET_ONLY, settings)
    }

    /// The same, on a port of 127.0.0.1 too.
    pub(crate) fn start_on_tcp(bin: &Path) -> Self {
        Self::start_at(&quick_folder(), bin, free_port(), &["listen_addresses=127.0.0.1"])
    }

    fn start_at(place: &Path, bin: &Path, port: u16, settings: &[&str]) -> Self {
        Self::start_prepared(place, bin, port, settings, |_| ())
    }

    /// The same after `prepare` has changed its data folder.
    pub(crate) fn start_prepared(
        place: &Path,
        bin: &Path,
        port: u16,
        settings: &[&str],
        prepare: impl FnOnce(&Path),
    ) -> Self {
        let folder = tempfile::Builder::new().prefix("mindful-pg-").tempdir_in(place).unwrap();
        let account = account();
        give(folder.path(), account);
        let data = folder.path().join("data");
        copy_folder(&template(bin, account), &data);
        prepare(&data);
        let mut postgres = as_account(&bin.join("postgres"), account);
        postgres.arg("-D").arg(&data).arg("-k").arg(folder.path()).args(["-c", "listen_addresses=", "-p"]);
        postgres.arg(port.to_string());
        let usual = ["autovacuum=off", "shared_buffers=64MB", "max_wal_size=2GB"];
        for setting in usual.iter().chain(own_reads(&data)).chain(settings) {
            postgres.arg("-c").arg(setting);
        }
        // A file, not a pipe: it is not read, and a server that logs much would wait for a reader.
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let process = postgres.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let mut server = Self { process, folder, port, loaded: Mutex::default() };
        server.await_ready();
        server
    }

    fn await_ready(&mut self) {
        let until = Instant::now() + Duration::from_mins(1);
        while self.try_sql("SELECT 1").is_err() {
            if self.process.try_wait().unwrap().is_some() || Instant::now() > until {
                let log = self.log();
                self.process.wait().unwrap();
                panic!("the server did not start: {log}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Bytes of the first schema's table and its index.
    pub(crate) fn table_bytes(&self) -> f64 {
        self.figure("SELECT pg_relation_size('mindful.blocks_1') + pg_relation_size('mindful.blocks_1_k')")
    }

    /// Almost no update of that table left its block, and its size is about the same. A session without a CPU keeps old
    /// versions: on a full host a few blocks overflow if they are visited often meanwhile.
    pub(crate) fn assert_updated_in_place(&self, bytes_before: f64) {
        const OVERFLOWN: f64 = 0.01;
        let of_table = "FROM pg_stat_user_tables WHERE relname = 'blocks_1'";
        let bytes = self.table_bytes();
        assert!(bytes <= bytes_before * (1.0 + OVERFLOWN), "{bytes_before} bytes became {bytes}");
        let updates = self.figure(&format!("SELECT n_tup_upd {of_table}"));
        let left = self.figure(&format!("SELECT n_tup_upd - n_tup_hot_upd {of_table}"));
        assert!(updates > 0.0 && left <= updates * OVERFLOWN, "{left} of {updates} updates left their block");
    }

    pub(crate) fn figure(&self, text: &str) -> f64 {
        self.sql(text)[0].parse().unwrap()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    pub(crate) fn url(&self, user: &str, database: &str) -> String {
        let folder = self.folder.path().to_str().unwrap().replace('/', "%2F");
        format!("postgresql://{user}@{folder}:{}/{database}", self.port)
    }

    pub(crate) fn target(&self, options: &[(&str, &str)]) -> Result<Box<dyn Target>> {
        self.target_as("bench", "postgres", options)
    }

    /// Opens it with so many schemas of so many blocks.
    pub(crate) fn loaded(&self, schemas: u32, blocks: u64) -> Box<dyn Target> {
        self.loaded_with(&[], schemas, blocks)
    }

    pub(crate) fn loaded_with(&self, options: &[(&str, &str)], schemas: u32, blocks: u64) -> Box<dyn Target> {
        let target = self.target(options).unwrap();
        load(&*target, schemas, blocks).unwrap();
        target
    }

    pub(crate) fn target_as(&self, user: &str, database: &str, options: &[(&str, &str)]) -> Result<Box<dyn Target>> {
        open_with(&ENGINE, &self.url(user, database), options, &(Arc::new(Silent) as Arc<dyn Events>))
    }

    pub(crate) fn target_at(url: &str) -> Result<Box<dyn Target>> {
        open_with(&ENGINE, url, &[], &(Arc::new(Silent) as Arc<dyn Events>))
    }

    pub(crate) fn socket_folder(&self) -> &Path {
        self.folder.path()
    }

    /// The port of 127.0.0.1 it listens on, if it does.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Ends it at once, without a message to its clients, like a crash.
    pub(crate) fn crash(&self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
    }

    /// Waits until `condition` holds, over one connection; a busy host may be slow.
    pub(crate) fn await_that(&self, condition: &str) {
        let until = Instant::now() + PATIENCE;
        let sql = format!("SELECT ({condition})::text");
        runtime().block_on(async {
            let client = connected(&self.url("bench", "postgres").parse().unwrap()).await.unwrap();
            while first_column(&client, &sql).await.unwrap() != ["true"] {
                assert!(Instant::now() < until, "not within {PATIENCE:?}: {condition}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
    }

    pub(crate) fn await_slice(&self) {
        self.await_that(&format!("EXISTS (SELECT {IN_A_SLICE})"));
    }

    pub(crate) fn await_lock(&self) {
        self.await_that("EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock')");
    }

    /// Runs SQL in a transaction that stays open.
    pub(crate) fn hold(&self, sql: &str) -> Held {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let client = connected(&self.url("bench", "postgres").parse().unwrap()).await.unwrap();
            client.batch_execute(&format!("BEGIN; {sql}")).await.unwrap();
            client
        });
        Held { _client: client, _runtime: runtime }
    }

    /// Runs SQL next to mindful, like another user of the server; returns the first column of each row.
    pub(crate) fn sql(&self, sql: &str) -> Vec<String> {
        self.try_sql(sql).unwrap()
    }

    /// The same, but it may fail.
    pub(crate) fn try_sql(&self, sql: &str) -> Result<Vec<String>, tokio_postgres::Error> {
        Self::sql_at(&self.url("bench", "postgres"), sql)
    }

    /// The same for the role and database of `url`.
    pub(crate) fn sql_at(url: &str, sql: &str) -> Result<Vec<String>, tokio_postgres::Error> {
        sql_by(&url.parse()?, sql)
    }
}

pub(crate) fn sql_by(config: &Config, sql: &str) -> Result<Vec<String>, tokio_postgres::Error> {
    runtime().block_on(async { first_column(&connected(config).await?, sql).await })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

async fn connected(config: &Config) -> Result<tokio_postgres::Client, tokio_postgres::Error> {
    let (client, connection) = config.connect(tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn first_column(client: &tokio_postgres::Client, sql: &str) -> Result<Vec<String>, tokio_postgres::Error> {
    let rows = client.simple_query(sql).await?.into_iter().filter_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
        _ => None,
    });
    Ok(rows.collect())
}

impl Drop for Server {
    fn drop(&mut self) {
        // At once, because the result of a checkpoint is not needed.
        self.crash();
        let _ = self.process.wait();
    }
}

/// User and group for a server when the test runs as root, which PostgreSQL refuses.
pub(crate) fn account() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
    let of = |name: &str| {
        let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(|field| field.parse().unwrap());
        Some((fields.next()?, fields.next()?))
    };
    Some(of("postgres").or_else(|| of("nobody")).unwrap())
}

/// From version 18 on a process reads for itself, like on a private server: waking a worker for each read would add
/// half to a load's CPU.
fn own_reads(data: &Path) -> &'static [&'static str] {
    let version: u32 = std::fs::read_to_string(data.join("PG_VERSION")).unwrap().trim().parse().unwrap();
    if version >= 18 { &["io_method=sync"] } else { &[] }
}

pub(crate) fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Gives a path to the user that runs servers.
pub(crate) fn give(path: &Path, account: Option<(u32, u32)>) {
    if let Some((uid, gid)) = account {
        std::os::unix::fs::chown(path, Some(uid), Some(gid)).unwrap();
    }
}

fn as_account(program: &Path, account: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/");
    if let Some((uid, gid)) = account {
        command.uid(uid).gid(gid);
    }
    command
}

/// A cluster that was never started, made once for all test programs that run with `bin`: initdb takes seconds of CPU,
/// a copy does not.
fn template(bin: &Path, account: Option<(u32, u32)>) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let one_at_a_time = std::fs::File::create(target.join("cluster.lock")).unwrap();
    one_at_a_time.lock().unwrap();
    let name = bin.to_string_lossy().replace('/', "_");
    let template = target.join(format!("cluster-of-two-{WAL_FILE_MB}{name}"));
    if !template.exists() {
        let folder = tempfile::Builder::new().prefix("mindful-pg-").tempdir().unwrap();
        give(folder.path(), account);
        let data = folder.path().join("data");
        let mut initdb = as_account(&bin.join("initdb"), account);
        initdb.args(["-U", "bench", "-A", "trust", "-E", "UTF8", "--locale=C", "-N", "-k"]);
        initdb.arg(format!("--wal-segsize={WAL_FILE_MB}")).arg("-D").arg(&data);
        let made = initdb.output().unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        // A third of its files is a database that nobody copies.
        let template0 =
            "UPDATE pg_database SET datistemplate = false WHERE datname = 'template0'\nDROP DATABASE template0\n";
        alone(bin, &data, template0);
        let half = target.join("cluster.half");
        let _ = std::fs::remove_dir_all(&half);
        copy_folder(&data, &half);
        std::fs::rename(&half, &template).unwrap();
    }
    template
}

/// Runs `statements`, each a line, in a cluster whose server does not run.
pub(crate) fn alone(bin: &Path, data: &Path, statements: &str) {
    let mut single = as_account(&bin.join("postgres"), account());
    single.args(["--single", "-F", "-c", "exit_on_error=on", "-D"]).arg(data).arg("postgres");
    let single = single.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    single.stdin.as_ref().unwrap().write_all(statements.as_bytes()).unwrap();
    let ended = single.wait_with_output().unwrap();
    assert!(ended.status.success(), "postgres --single: {}", String::from_utf8_lossy(&ended.stderr));
}

/// The folders of the PostgreSQL programs to test against: those of the private server, which is the newest, then what
/// the system or `TEST_PG_BIN` (folders with colons between them) has in addition; otherwise an older one that is
/// fetched. So there are two at least, the newest first and an older one last.
pub(crate) fn programs() -> Vec<PathBuf> {
    let mut found = vec![fetched("18")];
    let given = std::env::var_os("TEST_PG_BIN").unwrap_or_default();
    found.extend(std::env::split_paths(&given).filter(|bin| bin.join("initdb").exists()));
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        found.extend(versions.flatten().map(|v| v.path().join("bin")).filter(|bin| bin.join("initdb").exists()));
    }
    found.dedup();
    if found.len() == 1 {
        found.push(fetched("16"));
    }
    found
}

/// Whether programs of `version` are on this machine, or can be fetched. If not, prints that a test did not run.
pub(crate) fn at_hand(version: &str) -> bool {
    programs_of(version, "off").is_ok() || network(BASE)
}

/// The folder of the private server's programs of `version`; fetches missing ones.
pub(crate) fn fetched(version: &str) -> PathBuf {
    programs_of(version, "on").unwrap()
}

fn programs_of(version: &str, fetch: &str) -> Result<PathBuf> {
    let mut settings = Settings::defaults(ENGINE.options());
    settings.set("pg_version", version, Origin::Default);
    settings.set("fetch", fetch, Origin::Default);
    private::programs(&private::Options::parse(&settings)?, &Silent)
}

/// Settings of a server for tests that do not depend on its device: no commit and no checkpoint waits for it.
pub(crate) const NOTHING_WAITS: [&str; 1] = ["fsync=off"];

/// Options of a target that samples no waits.
pub(crate) const NO_WAITS: [(&str, &str); 1] = [("wait_sampling", "off")];

pub(crate) fn each_server(test: impl Fn(&Server)) {
    each_server_with(&NOTHING_WAITS, test);
}

pub(crate) fn each_server_with(settings: &[&str], test: impl Fn(&Server)) {
    for bin in programs() {
        test(&Server::start(&bin, settings));
    }
}

/// A fixture for the conformance suite: a new database on a server that all tests of this process share.
pub(crate) fn fixture(bin: PathBuf) -> Fixture {
    let server = shared(bin);
    at(&server.url("bench", &new_database(&server))).keeping(server)
}

/// The same, loaded maybe by a test before.
pub(crate) fn maybe_loaded(bin: PathBuf) -> Fixture {
    let server = shared(bin);
    let free = server.loaded.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let lent = Lent { name: free.unwrap_or_else(|| new_database(&server)), server };
    at(&lent.server.url("bench", &lent.name)).keeping(lent)
}

/// A database that the next test may use, unless this one fails.
struct Lent {
    name: String,
    server: Arc<Server>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let name = std::mem::take(&mut self.name);
            self.server.loaded.lock().unwrap_or_else(PoisonError::into_inner).push(name);
        }
    }
}

/// The server with `bin` that tests of this process share; stopped with the last of them.
fn shared(bin: PathBuf) -> Arc<Server> {
    static SHARED: Mutex<Vec<(PathBuf, Weak<Server>)>> = Mutex::new(Vec::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let running = shared.iter().find(|(path, _)| *path == bin).and_then(|(_, server)| server.upgrade());
    running.unwrap_or_else(|| {
        let server = Arc::new(Server::start(&bin, &NOTHING_WAITS));
        shared.retain(|(path, _)| *path != bin);
        shared.push((bin, Arc::downgrade(&server)));
        server
    })
}

fn new_database(server: &Server) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("suite_{}", NUMBER.fetch_add(1, Ordering::SeqCst));
    server.sql(&format!("CREATE DATABASE {name}"));
    name
}

fn at(url: &str) -> Fixture {
    let mut fixture = Fixture::new(&ENGINE, url);
    fixture.bad_urls =
        ["postgres://x@%2Fno%2Fsuch%2Fplace/x", "postgres://x@127.0.0.1:1/x", "postgres://[", "embedded:x"]
            .map(str::to_owned)
            .to_vec();
    fixture
}

pub(crate) fn load(target: &dyn Target, schemas: u32, blocks: u64) -> Result<Dataset> {
    target.load(&dataset(schemas, blocks), &Silent, &StopFlag::default())
}

pub(crate) fn proof(target: &dyn Target) -> LayoutProof {
    target.verify(&StopFlag::default()).unwrap()
}

/// The plan with these options and defaults.
pub(crate) fn plan(options: &[(&str, &str)]) -> Plan {
    let mut settings = Settings::defaults(plan::KEYS);
    for (name, value) in options {
        settings.set(name, *value, Origin::Flag(format!("--{name}")));
    }
    Plan::from_settings(&settings).unwrap()
}

pub(crate) fn workload(schemas: u32, scale: u64, work_unit: u64, update_percent: &str) -> Workload {
    let update_pct = Share::parse(update_percent).unwrap();
    Workload { seed: 7, update_pct, ..Workload::reads_only(schemas, scale, work_unit) }
}

pub(crate) fn placement(session: u32, sessions: u32, schemas: u32) -> Placement {
    Placement { session, sessions, schema: session % schemas + 1, endpoint: 0 }
}

/// The session of prepared work that has no other.
pub(crate) fn session(target: &dyn Target, workload: &Workload) -> Box<dyn Session> {
    target.prepare(workload, 1).unwrap();
    target.session(workload, placement(0, 1, 1)).unwrap()
}

/// The known values of `samplers` now, by metric; of several with one name the first counts.
pub(crate) fn readings(samplers: &mut [Box<dyn Sampler>]) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    for sampler in samplers {
        let values = sampler.read().unwrap();
        for (metric, value) in sampler.metrics().iter().zip(values).filter_map(|(metric, value)| Some((metric, value?)))
        {
            all.entry(metric.name.clone()).or_insert(value);
        }
    }
    all
}

/// A session does exactly `ops` operations from number `first` on.
pub(crate) fn work(target: &dyn Target, session: &mut dyn Session, first: u64, ops: u64) -> Result<SliceReport> {
    session.run_slice(&SliceOrder { first_op: first, max_ops: Some(ops), ..slice_of(target, 120_000_000) })
}
