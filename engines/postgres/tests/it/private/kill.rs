//! Owners that are killed at any moment.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mindful_conformance::processes::{Owner, gone, kill, kill_owners_at_any_moment, own_server};
use mindful_conformance::{Notes, names, place, quick_place, with_own_memory};
use mindful_host::ownership::OWN;
use mindful_postgres::private::{Instance, Purpose};

use crate::private::support::{fresh, open, opened, servers, sql, started};

const LOADED: u32 = 5_000;

/// A process that other tests start and kill.
#[test]
fn owner() {
    own_server(
        |folder| opened(folder, &[]),
        load,
        |server, number| drop(sql(server, &format!("INSERT INTO journal VALUES ({number})"))),
    );
}

/// A table that is either complete or missing, and a durable journal.
fn load(server: &Instance) {
    server.serve(Purpose::Load).unwrap();
    sql(server, "CREATE TABLE IF NOT EXISTS journal (n int)");
    sql(server, "DELETE FROM journal");
    sql(server, "DROP TABLE IF EXISTS loaded");
    let rows = format!("SELECT n, repeat('x', 500) AS filler FROM generate_series(1, {LOADED}) n");
    sql(server, &format!("CREATE TABLE loaded AS {rows}"));
    server.serve(Purpose::Run).unwrap();
}

/// The kernel sends SIGHUP to an orphaned process group with a stopped process, including the guard.
#[test]
fn a_server_that_was_stopped_when_its_owner_died_is_ended_too() {
    let place = quick_place();
    let folder = place.path().join("pg");
    let mut owner = Owner::start(module_path!(), &folder);
    owner.wait_for("at work");
    for pid in servers(&folder) {
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::STOP);
    }
    owner.kill();
    gone(&folder.join("pgdata")).unwrap();
    drop(started(&folder, &[]));
}

#[test]
fn a_killed_server_recovers() {
    let (_place, folder, server) = fresh(&[]);
    sql(&server, "CREATE TABLE t AS SELECT 42 AS n");
    servers(&folder).into_iter().for_each(kill);
    drop(server);
    let (server, notes) = open(&folder, &[]);
    assert_eq!(sql(&server.unwrap(), "SELECT n FROM t"), "42");
    assert!(notes.tell("recovers first"), "{}", notes.all());
}

/// The files in /dev/shm, and the segments of System V.
fn shared_memory() -> (Vec<PathBuf>, usize) {
    let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    (names(Path::new("/dev/shm")), segments.lines().count() - 1)
}

#[test]
fn a_killed_server_leaves_no_shared_memory() {
    if !with_own_memory() {
        return;
    }
    for user in [&[][..], &[("run_as", "nobody")]] {
        let place = place();
        let [kept, anew, lost] = ["kept", "anew", "lost"].map(|name| place.path().join(name));
        let own = user.is_empty();
        for folder in [&kept, &anew, &lost] {
            let server = if own { started(folder, user) } else { opened(folder, user) };
            if folder == &anew {
                server.serve(Purpose::Load).unwrap();
            }
            let at_work = "SELECT count(*) FROM pg_stat_activity, generate_series(1, 1000)";
            sql(&server, at_work);
            assert_eq!(names(Path::new("/dev/shm")), [] as [PathBuf; 0], "segments are files of the data directory");
            servers(folder).into_iter().for_each(kill);
        }
        if own {
            // No server can identify these any more, but their user is mindful's own, and has no other process.
            fs::remove_dir_all(&lost).unwrap();
            fs::write("/dev/shm/PostgreSQL.1", "of an older mindful").unwrap();
            std::os::unix::fs::chown("/dev/shm/PostgreSQL.1", Some(OWN), Some(OWN)).unwrap();
            fs::write("/dev/shm/theirs", "of somebody else").unwrap();
        } else {
            assert_eq!(shared_memory().1, 3, "each has one of System V, by which a second server is kept out");
        }
        // The watcher of the servers waits for a second more, and nothing is cleared while it exists.
        std::thread::sleep(Duration::from_millis(1_500));
        for folder in [&kept, &anew] {
            let (server, notes) = open(folder, user);
            server.unwrap().destroy().unwrap();
            assert_eq!(notes.tell("made again"), folder == &anew, "{}", notes.all());
        }
        if own {
            assert_eq!(shared_memory(), (vec![PathBuf::from("theirs")], 0));
            fs::remove_file("/dev/shm/theirs").unwrap();
        } else {
            drop(opened(&lost, user));
            assert_eq!(shared_memory(), (Vec::new(), 0));
        }
    }
}

#[test]
fn an_interrupt_from_the_terminal_does_not_reach_the_server() {
    let (_place, _, server) = fresh(&[]);
    let group =
        |pid: u32| rustix::process::getpgid(rustix::process::Pid::from_raw(pid as i32)).unwrap().as_raw_nonzero().get();
    assert_ne!(group(server.pid()), group(std::process::id()));
}

#[test]
fn an_owner_killed_at_any_moment_leaves_usable_data() {
    kill_owners_at_any_moment(12, "pgdata", module_path!(), |folder| open(folder, &[]), check);
}

/// Nothing that was reported as committed is lost, unless the data directory was made again; tables are complete.
fn check(server: &Instance, acknowledged: u32, notes: &Notes, at: &str) {
    let exists = |name: &str| sql(server, &format!("SELECT to_regclass('{name}') IS NOT NULL")) == "t";
    let found: u32 =
        if exists("journal") { sql(server, "SELECT coalesce(max(n), 0) FROM journal").parse().unwrap() } else { 0 };
    assert!(found >= acknowledged || notes.tell("made again"), "{at}: {acknowledged} was reported, {found} is there");
    if exists("loaded") {
        assert_eq!(sql(server, "SELECT count(*) FROM loaded"), LOADED.to_string(), "{at}");
    }
    assert_eq!(sql(server, "SHOW fsync"), "on");
}
