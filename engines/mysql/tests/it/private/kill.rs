//! Owners that are killed at any moment.

use mindful_conformance::Notes;
use mindful_conformance::processes::{kill_owners_at_any_moment, own_server};
use mindful_mysql::private::{Instance, Purpose};

use crate::support::{MARIADB, open, opened, sql};

const LOADED: u32 = 5_000;

/// A process that the other test starts and kills.
#[test]
fn owner() {
    own_server(
        |folder| opened(MARIADB, folder, &[]),
        load,
        |server, number| drop(sql(server, &format!("INSERT INTO mine.journal VALUES ({number})"))),
    );
}

/// A table that is either complete or missing, and a durable journal.
fn load(server: &Instance) {
    server.serve(Purpose::Load).unwrap();
    sql(server, "CREATE DATABASE IF NOT EXISTS mine");
    sql(server, "CREATE TABLE IF NOT EXISTS mine.journal (n INT PRIMARY KEY) ENGINE = InnoDB");
    sql(server, "DELETE FROM mine.journal");
    sql(server, "DROP TABLE IF EXISTS mine.loaded");
    let rows = format!("SELECT seq, REPEAT('x', 500) AS filler FROM mine.seq_1_to_{LOADED}");
    sql(server, &format!("CREATE TABLE mine.loaded ENGINE = InnoDB {rows}"));
    server.serve(Purpose::Run).unwrap();
}

#[test]
fn a_mariadb_stays_usable_if_its_owner_is_killed_at_any_moment() {
    kill_owners_at_any_moment(3, "data", module_path!(), |folder| open(MARIADB, folder, &[]), check);
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
