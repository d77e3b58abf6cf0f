//! Debian's PgBouncer before a real server: sessions through its session mode, a refusal in its other modes.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mindful_conformance::not_run;
use mindful_core::engine::Stop;
use mindful_core::event::{Events, Silent};
use mindful_core::settings::Settings;
use mindful_core::workload::{LoopSite, Workload};
use mindful_core::{Engine, ErrorKind};

use mindful_postgres::ENGINE;

use crate::support::{Server, account, dataset, placement, programs, work, workload};

const PROGRAM: &str = "/usr/sbin/pgbouncer";

/// A running PgBouncer with its own folder; ends with the value.
struct Pooler {
    process: Child,
    folder: tempfile::TempDir,
}

impl Pooler {
    /// One that lends out at most `pool` server processes of `server` in `mode`.
    fn start(server: &Server, mode: &str, pool: u32) -> Self {
        let folder = tempfile::Builder::new().prefix("mindful-pool-").tempdir().unwrap();
        let path = folder.path().display();
        let socket = server.socket_folder().display();
        let settings = format!(
            "[databases]\npostgres = host={socket} port={}\n\
             [pgbouncer]\nlisten_addr =\nunix_socket_dir = {path}\nlisten_port = 6432\n\
             auth_type = trust\nauth_file = {path}/users\nlogfile = {path}/log\n\
             pool_mode = {mode}\ndefault_pool_size = {pool}\n",
            server.port()
        );
        let ids = account();
        for (name, text) in [("ini", &*settings), ("users", "\"bench\" \"\"\n")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let mut command = Command::new(PROGRAM);
        command.arg("-q").arg(folder.path().join("ini")).stdout(Stdio::null()).stderr(Stdio::null());
        // It refuses to run as root, as PostgreSQL does.
        if let Some((uid, gid)) = ids {
            chown(folder.path(), Some(uid), Some(gid)).unwrap();
            command.uid(uid).gid(gid).current_dir("/");
        }
        let pooler = Self { process: command.spawn().unwrap(), folder };
        pooler.await_ready();
        pooler
    }

    fn await_ready(&self) {
        let until = Instant::now() + Duration::from_secs(30);
        while Server::sql_at(&self.url(), "SELECT 1").is_err() {
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "PgBouncer does not answer: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn url(&self) -> String {
        let folder = self.folder.path().to_str().unwrap().replace('/', "%2F");
        format!("postgresql://bench@{folder}:6432/postgres")
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The newest server; `None` where there is no PgBouncer to stand before it.
fn server() -> Option<Server> {
    if !Path::new(PROGRAM).exists() {
        not_run("it needs PgBouncer (Debian: pgbouncer)");
        return None;
    }
    Some(Server::start(&programs()[0], &[]))
}

#[test]
fn a_pooler_that_moves_sessions_is_refused_in_one_line() {
    let Some(server) = server() else { return };
    for mode in ["transaction", "statement"] {
        for pool in [1, 20] {
            let pooler = Pooler::start(&server, mode, pool);
            let error = Server::target_at(&pooler.url()).err().expect("no session could be kept");
            assert_eq!(error.kind, ErrorKind::Target, "{mode}: {error}");
            assert!(error.what.contains("changes between statements"), "{mode}: {error}");
            assert!(error.next.contains("session mode") && error.next.contains("own port"), "{mode}: {error}");
        }
    }
    let left = server.sql("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'mindful%'");
    assert!(left.is_empty(), "nothing was made through it: {left:?}");
}

#[test]
fn everything_works_through_a_pooler_that_keeps_sessions() {
    let Some(server) = server() else { return };
    let pooler = Pooler::start(&server, "session", 20);
    let target = Server::target_at(&pooler.url()).unwrap();
    target.load(&dataset(2, 500), &Silent, &Stop::default()).unwrap();
    assert!(target.verify(&Stop::default()).unwrap().schemas.iter().all(|schema| schema.rows > 0));
    let server_loop = workload(2, 500, 8, "20");
    for w in [Workload { looping: LoopSite::Client, ..server_loop.clone() }, server_loop] {
        // Twice: the second time on server processes that the pooler has used and reset.
        for _ in 0..2 {
            target.prepare(&w, 3).unwrap();
            let mut sessions: Vec<_> = (0..3).map(|n| target.session(&w, placement(n, 3, 2)).unwrap()).collect();
            for session in &mut sessions {
                assert_eq!(work(&*target, &mut **session, 0, 50).unwrap().total_ops(), 50);
            }
        }
    }
    assert!(!target.samplers().unwrap().is_empty());
    assert!(!target.cleanup().unwrap().is_empty());
}

#[test]
fn a_pooler_with_room_for_one_session_is_named_at_once() {
    let Some(server) = server() else { return };
    let pooler = Pooler::start(&server, "session", 1);
    let begun = Instant::now();
    let error = Server::target_at(&pooler.url()).err().expect("there is no room for a second session");
    assert_eq!(error.kind, ErrorKind::Target, "{error}");
    assert!(error.next.contains("default_pool_size"), "{error}");
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
}

#[test]
fn ranks_meet_through_a_pooler_that_lends_a_server_a_statement() {
    let Some(server) = server() else { return };
    let pooler = Pooler::start(&server, "transaction", 2);
    let settings = Settings::defaults(ENGINE.options());
    let events = Arc::new(Silent) as Arc<dyn Events>;
    let meeting = ENGINE.meet(&pooler.url(), &settings, &events).unwrap();
    mindful_conformance::meeting::rows_and_chunks_are_kept_apart(&*meeting, &std::thread::sleep);
}
