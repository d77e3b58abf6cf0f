//! Owners that are killed at any moment.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mindful_conformance::processes::{Owner, guards, kill};
use mindful_conformance::{Notes, names, place, quick_place, with_own_memory};
use mindful_core::workload::draw::mix64;
use mindful_instance::account::OWN;
use mindful_postgres::private::{Instance, Purpose};

use crate::private::support::{gone, log, open, opened, servers, sql, started};

const FOLDER: &str = "KILL_TEST_FOLDER";
const KILLS: &str = "KILL_TEST_ROUNDS";
const SEED: &str = "KILL_TEST_SEED";

const LOADED: u32 = 5_000;

/// A process that other tests start and kill. It opens the server, loads tables, and commits numbers, each reported to
/// the outside after its commit. Run on its own, it does one round and ends.
#[test]
fn owner() {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from);
    let own = folder.is_none().then(quick_place);
    let own_folder = own.as_ref().map(|own| own.path().join("pg"));
    let server = opened(folder.as_ref().or(own_folder.as_ref()).unwrap(), &[]);
    let mut next = 1;
    loop {
        load(&server);
        for _ in 0..50 {
            sql(&server, &format!("INSERT INTO journal VALUES ({next})"));
            println!("committed {next}");
            next += 1;
        }
        if folder.is_none() {
            break;
        }
    }
}

/// A table that is either complete or missing, and a durable journal.
fn load(server: &Instance) {
    server.serve(Purpose::Load).unwrap();
    println!("loading");
    sql(server, "CREATE TABLE IF NOT EXISTS journal (n int)");
    sql(server, "DROP TABLE IF EXISTS loaded");
    let rows = format!("SELECT n, repeat('x', 500) AS filler FROM generate_series(1, {LOADED}) n");
    sql(server, &format!("CREATE TABLE loaded AS {rows}"));
    server.serve(Purpose::Run).unwrap();
    println!("at work");
}

fn owner_in(folder: &Path) -> Owner {
    Owner::start(module_path!(), FOLDER, folder)
}

fn committed(owner: Owner) -> u32 {
    owner.printed().filter_map(|line| line.strip_prefix("committed ")?.parse().ok()).last().unwrap_or(0)
}

#[test]
fn a_killed_owner_leaves_no_server_and_the_next_continues() {
    let place = quick_place();
    let folder = place.path().join("pg");
    let mut owner = owner_in(&folder);
    owner.wait_for("committed 20");
    assert!(!servers(&folder).is_empty());
    owner.kill();
    let took = gone(&folder).unwrap();
    println!("the server was gone {took:?} after its owner");
    let server = started(&folder, &[]);
    assert!(sql(&server, "SELECT count(*) FROM journal").parse::<u32>().unwrap() >= 20);
}

/// The kernel sends SIGHUP to an orphaned process group with a stopped process, including the guard.
#[test]
fn a_server_that_was_stopped_when_its_owner_died_is_ended_too() {
    let place = quick_place();
    let folder = place.path().join("pg");
    let mut owner = owner_in(&folder);
    owner.wait_for("at work");
    for pid in servers(&folder) {
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::STOP);
    }
    owner.kill();
    gone(&folder).unwrap();
    drop(started(&folder, &[]));
}

#[test]
fn a_server_that_outlived_owner_and_guard_is_found_and_stopped() {
    let place = quick_place();
    let folder = place.path().join("pg");
    let mut owner = owner_in(&folder);
    owner.wait_for("at work");
    let guards = guards(&folder.join("pgdata"));
    assert_eq!(guards.len(), 2, "a guard and its watcher");
    guards.into_iter().for_each(kill);
    owner.kill();
    std::thread::sleep(Duration::from_millis(300));
    let left = servers(&folder);
    assert!(!left.is_empty());
    let (server, notes) = open(&folder, &[]);
    let server = server.unwrap();
    assert!(notes.tell("a server of an earlier run"), "{}", notes.all());
    assert!(servers(&folder).iter().all(|pid| !left.contains(pid)));
    assert_eq!(sql(&server, "SELECT count(*) FROM loaded"), LOADED.to_string());
}

#[test]
fn a_killed_server_recovers() {
    let place = quick_place();
    let folder = place.path().join("pg");
    let server = started(&folder, &[]);
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
fn only_a_crash_within_a_load_starts_again() {
    let place = quick_place();
    let folder = place.path().join("pg");
    let server = started(&folder, &[]);
    server.serve(Purpose::Load).unwrap();
    sql(&server, "CREATE TABLE t AS SELECT 42 AS n");
    servers(&folder).into_iter().for_each(kill);
    drop(server);
    let (server, notes) = open(&folder, &[]);
    let server = server.unwrap();
    assert!(notes.tell("made again"), "{}", notes.all());
    assert_eq!(sql(&server, "SELECT count(*) FROM pg_class WHERE relname = 't'"), "0");
    // An orderly end within a load keeps what is complete.
    server.serve(Purpose::Load).unwrap();
    sql(&server, "CREATE TABLE t AS SELECT 43 AS n");
    drop(server);
    assert_eq!(sql(&started(&folder, &[]), "SELECT n FROM t"), "43");
}

#[test]
fn an_interrupt_from_the_terminal_does_not_reach_the_server() {
    let place = quick_place();
    let folder = place.path().join("pg");
    let server = started(&folder, &[]);
    let group =
        |pid: u32| rustix::process::getpgid(rustix::process::Pid::from_raw(pid as i32)).unwrap().as_raw_nonzero().get();
    assert_ne!(group(server.pid()), group(std::process::id()));
}

/// Kills owners at random moments: while they make the data directory, start, load, work and restart; sometimes the
/// guard or every process of the server too. `KILL_TEST_ROUNDS` sets how often, `KILL_TEST_SEED` when.
#[test]
fn an_owner_killed_at_any_moment_leaves_usable_data() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (kills, seed) = (number(KILLS, 12), number(SEED, 1));
    let draw = |round: u64, what: u64| mix64(seed << 32 | round << 1 | what);
    let (mut place, mut rebuilt, mut known) = (quick_place(), 0, 0);
    let [fresh, warm] = [(); 2].map(|()| owner_in(&place.path().join("pg")).time_until("at work"));
    for round in 0..kills {
        // Every third round begins without data, to hit the making of the data directory too.
        if round % 3 == 0 {
            (place, known) = (quick_place(), 0);
        }
        let folder = place.path().join("pg");
        let mut owner = owner_in(&folder);
        // From the start to some way into the work, however fast this machine is.
        let longest = if round % 3 == 0 { fresh } else { warm } * 5 / 4;
        let moment = longest.mul_f64(draw(round, 0) as f64 / u64::MAX as f64);
        std::thread::sleep(moment);
        let how = draw(round, 1) % 4;
        if how == 1 {
            guards(&folder.join("pgdata")).into_iter().for_each(kill);
        }
        owner.kill();
        if how == 2 {
            servers(&folder).into_iter().for_each(kill);
        }
        let acknowledged = known.max(committed(owner));
        let place_of_failure = format!("seed {seed}, round {round}, killed after {moment:?}, way {how}");
        if how == 3 {
            let left = gone(&folder);
            assert!(left.is_ok(), "{place_of_failure}: still there: {left:?}\n{}", log(&folder));
        }
        let (server, notes) = open(&folder, &[]);
        let server =
            server.unwrap_or_else(|error| panic!("{place_of_failure}: {error}\n{}\n{}", notes.all(), log(&folder)));
        known = check(&server, acknowledged, &notes, &place_of_failure);
        rebuilt += u32::from(notes.tell("made again"));
        load(&server);
        drop(server);
        assert_eq!(servers(&folder), [] as [i32; 0], "{place_of_failure}");
    }
    println!("{kills} owners killed, {rebuilt} data directories made again");
}

/// Nothing that was reported as committed is lost, unless the data directory was made again; tables are complete.
fn check(server: &Instance, acknowledged: u32, notes: &Arc<Notes>, place_of_failure: &str) -> u32 {
    let exists = |name: &str| sql(server, &format!("SELECT to_regclass('{name}') IS NOT NULL")) == "t";
    let found =
        if exists("journal") { sql(server, "SELECT coalesce(max(n), 0) FROM journal").parse().unwrap() } else { 0 };
    assert!(
        found >= acknowledged || notes.tell("made again"),
        "{place_of_failure}: {acknowledged} was asked, {found} is there"
    );
    if exists("loaded") {
        assert_eq!(sql(server, "SELECT count(*) FROM loaded"), LOADED.to_string(), "{place_of_failure}");
    }
    assert_eq!(sql(server, "SHOW fsync"), "on");
    found
}
