//! Owners that are killed at any moment.

use std::path::{Path, PathBuf};

use mindful_conformance::processes::{Owner, guards, kill};
use mindful_conformance::{Notes, place};
use mindful_core::workload::draw::mix64;
use mindful_mysql::private::{Instance, Purpose};

use crate::support::{MARIADB, gone, log, open, opened, servers, sql};

const FOLDER: &str = "KILL_TEST_FOLDER";
const KILLS: &str = "KILL_TEST_ROUNDS";
const SEED: &str = "KILL_TEST_SEED";

const LOADED: u32 = 5_000;

/// A process that other tests start and kill. It opens the server, loads tables, and commits numbers, each reported to
/// the outside after its commit. Run on its own, it does one round and ends.
#[test]
fn owner() {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from);
    let own = folder.is_none().then(place);
    let own_folder = own.as_ref().map(|own| own.path().join("db"));
    let server = opened(MARIADB, folder.as_ref().or(own_folder.as_ref()).unwrap(), &[]);
    let mut next = 1;
    loop {
        load(&server);
        for _ in 0..50 {
            sql(&server, &format!("INSERT INTO mine.journal VALUES ({next})"));
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
    sql(server, "CREATE DATABASE IF NOT EXISTS mine");
    sql(server, "CREATE TABLE IF NOT EXISTS mine.journal (n INT PRIMARY KEY) ENGINE = InnoDB");
    sql(server, "DELETE FROM mine.journal");
    sql(server, "DROP TABLE IF EXISTS mine.loaded");
    let rows = format!("SELECT seq, REPEAT('x', 500) AS filler FROM mine.seq_1_to_{LOADED}");
    sql(server, &format!("CREATE TABLE mine.loaded ENGINE = InnoDB {rows}"));
    server.serve(Purpose::Run).unwrap();
    println!("at work");
}

fn owner_in(folder: &Path) -> Owner {
    Owner::start(module_path!(), FOLDER, folder)
}

/// The last number it reported as committed since its last load began.
fn committed(owner: Owner) -> u32 {
    owner.printed().fold(0, |last, line| match line.strip_prefix("committed ") {
        Some(number) => number.parse().unwrap_or(last),
        None if line.contains("loading") => 0,
        None => last,
    })
}

/// Kills owners at random moments: while they make the data folder, start, load, work and restart; sometimes the guard
/// or the server too. `KILL_TEST_ROUNDS` sets how often, `KILL_TEST_SEED` when.
#[test]
fn a_mariadb_stays_usable_if_its_owner_is_killed_at_any_moment() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (kills, seed) = (number(KILLS, 3), number(SEED, 1));
    let draw = |round: u64, what: u64| mix64(seed << 32 | round << 1 | what);
    let (mut place, mut rebuilt) = (place(), 0);
    let [fresh, warm] = [(); 2].map(|()| owner_in(&place.path().join("db")).time_until("at work"));
    for round in 0..kills {
        // Every third round begins without data, to hit the making of the data folder too.
        if round % 3 == 0 {
            place = mindful_conformance::place();
        }
        let folder = place.path().join("db");
        let mut owner = owner_in(&folder);
        // From the start to some way into the work, however fast this machine is.
        let longest = if round % 3 == 0 { fresh } else { warm } * 5 / 4;
        let moment = longest.mul_f64(draw(round, 0) as f64 / u64::MAX as f64);
        std::thread::sleep(moment);
        let how = draw(round, 1) % 4;
        if how == 1 {
            guards(&folder.join("data")).into_iter().for_each(kill);
        }
        owner.kill();
        if how == 2 {
            servers(&folder).into_iter().for_each(kill);
        }
        let acknowledged = committed(owner);
        let at = format!("seed {seed}, round {round}, killed after {moment:?}, way {how}");
        if how == 3 {
            let left = gone(&folder);
            assert!(left.is_ok(), "{at}: still there: {left:?}\n{}", log(&folder));
        }
        let (server, notes) = open(MARIADB, &folder, &[]);
        let server = server.unwrap_or_else(|error| panic!("{at}: {error}\n{}\n{}", notes.all(), log(&folder)));
        check(&server, acknowledged, &notes, &at);
        rebuilt += u32::from(notes.tell("made again"));
        drop(server);
        assert_eq!(servers(&folder), [] as [i32; 0], "{at}");
    }
    println!("{kills} owners killed, {rebuilt} data folders made again");
}

/// Nothing that was reported as committed is lost, unless the data folder was made again; tables are complete.
fn check(server: &Instance, acknowledged: u32, notes: &Notes, at: &str) {
    let exists = |name: &str| {
        let tables = "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'mine'";
        sql(server, &format!("{tables} AND TABLE_NAME = '{name}'")) == "1"
    };
    let number = |text: &str| sql(server, text).parse::<u32>().unwrap();
    let found = if exists("journal") { number("SELECT COALESCE(MAX(n), 0) FROM mine.journal") } else { 0 };
    assert!(found >= acknowledged || notes.tell("made again"), "{at}: {acknowledged} was reported, {found} is there");
    if exists("loaded") {
        // A statement that makes and fills a table is not a transaction: the table is complete unless the kill was
        // within it.
        let rows = number("SELECT COUNT(*) FROM mine.loaded");
        assert!(rows == LOADED || rows == 0, "{at}: {rows} rows");
    }
    assert_eq!(sql(server, "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit"), "1");
}
