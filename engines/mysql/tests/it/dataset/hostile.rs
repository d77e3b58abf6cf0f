//! Databases with foreign objects: none of them is run, and none is removed.

use mindful_conformance::{dataset_plan, quick_place};
use mindful_core::contract::event::Silent;
use mindful_core::contract::slice::Placement;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::units::Share;
use mindful_core::workload::{LoopSite, Workload};
use mindful_core::{ErrorKind, Target};
use mindful_mysql::private::Instance;

use crate::support::{MARIADB, sql, started, target};

fn loaded(server: &Instance, namespace: &str) -> Box<dyn Target> {
    let target = target(server, "root", &[("namespace", namespace)]).unwrap();
    target.load(&dataset_plan(1, 200), &Silent, &StopFlag::default()).unwrap();
    target
}

fn refused(server: &Instance, namespace: &str, why: &str) {
    let target = target(server, "root", &[("namespace", namespace)]).unwrap();
    let stop = StopFlag::default();
    let errors = [
        target.dataset().unwrap_err(),
        target.load(&dataset_plan(1, 200), &Silent, &stop).unwrap_err(),
        target.prepare(&Workload::reads_only(1, 200, 1), 1).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind, ErrorKind::Target, "{error}");
        assert!(error.to_string().contains(why), "{error} does not say {why}");
    }
}

#[test]
fn no_mariadb_registry_of_others_is_read_whatever_it_is() {
    let place = quick_place();
    let server = started(MARIADB, &place.path().join("db"), &[]);
    // Running code of others leaves a row.
    sql(&server, "CREATE DATABASE trap");
    sql(&server, "CREATE TABLE trap.sprung (n INT) ENGINE = InnoDB");
    let leaves = "INSERT INTO trap.sprung VALUES (1)";
    sql(&server, &format!("CREATE FUNCTION trap.spring() RETURNS INT MODIFIES SQL DATA BEGIN {leaves}; RETURN 1; END"));
    sql(&server, "CREATE DATABASE lair");
    sql(&server, "CREATE VIEW lair.registry AS SELECT 'blocks_1' AS name, trap.spring() AS shape");
    refused(&server, "lair", "was not made by mindful");
    sql(&server, "CREATE DATABASE theirs");
    sql(&server, "CREATE TABLE theirs.letters (n INT) ENGINE = InnoDB");
    refused(&server, "theirs", "holds tables and was not made by mindful");

    let ours = loaded(&server, "ours");
    for (lay, why, lift) in [
        (
            format!("CREATE TRIGGER ours.t BEFORE INSERT ON ours.registry FOR EACH ROW {leaves}"),
            "registry` is not as mindful made it: it has the trigger t",
            "DROP TRIGGER ours.t",
        ),
        (
            "ALTER TABLE ours.registry ADD CONSTRAINT c CHECK (shape > 0)".to_owned(),
            "it has the constraint c",
            "ALTER TABLE ours.registry DROP CONSTRAINT c",
        ),
        (
            "ALTER TABLE ours.registry ADD COLUMN x INT".to_owned(),
            "it has the column x int",
            "ALTER TABLE ours.registry DROP COLUMN x",
        ),
        (
            "ALTER TABLE ours.registry ENGINE = Aria".to_owned(),
            "it is a table of Aria",
            "ALTER TABLE ours.registry ENGINE = InnoDB",
        ),
        (
            format!("CREATE TRIGGER ours.t BEFORE UPDATE ON ours.blocks_1 FOR EACH ROW {leaves}"),
            "`blocks_1` is not as mindful made it: it has the trigger t",
            "SELECT 1",
        ),
    ] {
        sql(&server, &lay);
        refused(&server, "ours", why);
        sql(&server, lift);
    }
    // The table is ours even with foreign additions, and removing it runs nothing.
    let removed = ours.cleanup().unwrap();
    assert!(removed.iter().all(|object| object.kept_because.is_none()), "{removed:?}");
    assert_eq!(sql(&server, "SHOW DATABASES LIKE 'ours'"), "");
    assert_eq!(sql(&server, "SELECT COUNT(*) FROM trap.sprung"), "0");
}

#[test]
fn a_number_that_others_wrote_takes_no_room_in_a_proof() {
    let place = quick_place();
    let server = started(MARIADB, &place.path().join("db"), &[]);
    let target = loaded(&server, "mindful");
    for blocks in [199, 201, 1_u64 << 42] {
        sql(&server, &format!("UPDATE mindful.registry SET `blocks` = {blocks} WHERE name = 'blocks_1'"));
        for proof in [target.verify(&StopFlag::default()), target.verify_all(&StopFlag::default())] {
            let line = proof.unwrap_err().to_string();
            assert!(line.contains(&format!("not the keys 1 to {blocks}")) && !line.contains('\n'), "{line}");
        }
    }
    // A remote user may read no file: there the server answers for each row.
    sql(&server, "CREATE USER elsewhere@localhost IDENTIFIED BY ''");
    sql(&server, "GRANT ALL ON mindful.* TO elsewhere@localhost");
    let line = crate::support::target(&server, "elsewhere", &[]).unwrap().verify(&StopFlag::default()).unwrap_err();
    assert!(line.to_string().contains("does not hold the keys 1 to 4398046511104"), "{line}");
}

#[test]
fn cleanup_of_a_mariadb_leaves_foreign_objects() {
    let place = quick_place();
    let server = started(MARIADB, &place.path().join("db"), &[]);
    // A name is quoted, whatever it contains.
    let odd = "a`b'; DROP DATABASE c; -- \"";
    let target = loaded(&server, odd);
    assert_eq!(target.dataset().unwrap().map(|dataset| dataset.blocks_per_schema), Some(200));
    let quoted = "`a``b'; DROP DATABASE c; -- \"`";
    sql(&server, &format!("CREATE TABLE {quoted}.letters (n INT) ENGINE = InnoDB"));
    sql(&server, &format!("CREATE FUNCTION {quoted}.greet() RETURNS INT RETURN 1"));
    let left: Vec<String> = target
        .cleanup()
        .unwrap()
        .into_iter()
        .filter(|object| object.kept_because.is_some())
        .map(|object| object.name)
        .collect();
    assert_eq!(left, [format!("{quoted}.`letters`"), format!("{quoted}.`greet`"), quoted.to_owned()]);
    assert_eq!(sql(&server, &format!("SHOW TABLES FROM {quoted}")), "letters");
    // The rest is no longer mindful's.
    assert!(target.dataset().unwrap_err().to_string().contains("was not made by mindful"));
}

#[test]
fn cleanup_leaves_a_database_that_mindful_did_not_create() {
    let place = quick_place();
    let server = started(MARIADB, &place.path().join("db"), &[]);
    sql(&server, "CREATE DATABASE bench");
    let target = loaded(&server, "bench");
    let removed = target.cleanup().unwrap();
    assert!(removed.last().unwrap().kept_because.as_ref().is_some_and(|why| why.contains("DROP DATABASE")));
    assert_eq!(sql(&server, "SHOW DATABASES LIKE 'bench'"), "bench");
    assert_eq!(sql(&server, "SHOW TABLES FROM bench"), "");
    assert!(target.dataset().unwrap().is_none(), "the empty database can be used again");
}

#[test]
fn two_on_a_mariadb_namespace_share_it_or_are_refused() {
    let place = quick_place();
    let server = started(MARIADB, &place.path().join("db"), &[]);
    let (first, workload) = (loaded(&server, "mindful"), Workload::reads_only(1, 200, 1));
    first.prepare(&workload, 1).unwrap();
    first.prepare(&workload, 2).unwrap();
    let second = target(&server, "root", &[]).unwrap();
    for error in [second.prepare(&workload, 1).unwrap_err(), second.cleanup().unwrap_err()] {
        assert!(error.what.contains("uses namespace `mindful` (connection"), "{error}");
        assert!(error.next.contains("--shared") && error.next.contains("--namespace"), "{error}");
    }
    let sharing = target(&server, "root", &[("shared", "on")]).unwrap();
    sharing.prepare(&workload, 1).unwrap();
    drop(first);
    assert!(second.cleanup().is_err(), "a sharing run exists too");
    drop(sharing);
    second.prepare(&workload, 1).unwrap();
    second.cleanup().unwrap();
}

/// Settings that others can impose on every session of a user, each with its worst value.
const BAD: [&str; 28] = [
    "sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,IGNORE_SPACE,NO_UNSIGNED_SUBTRACTION'",
    "sql_select_limit = 1",
    "max_join_size = 1",
    "sql_big_selects = 0",
    "sql_safe_updates = 1",
    "sql_auto_is_null = 1",
    "sql_quote_show_create = 0",
    "sql_buffer_result = 1",
    "autocommit = 0",
    "completion_type = 2",
    "tx_read_only = 1",
    "time_zone = '+05:45'",
    "timestamp = 1",
    "character_set_client = latin1",
    "character_set_results = latin1",
    "collation_connection = latin1_german2_ci",
    "div_precision_increment = 0",
    "group_concat_max_len = 4",
    "max_sort_length = 64",
    "wait_timeout = 1",
    "net_read_timeout = 1",
    "net_write_timeout = 1",
    "idle_transaction_timeout = 1",
    "unique_checks = 0",
    "foreign_key_checks = 0",
    "profiling = 1",
    "tmp_disk_table_size = 1024",
    "max_statement_time = 0.001",
];

#[test]
fn no_setting_of_others_changes_what_mindful_finds_in_a_mariadb() {
    let place = quick_place();
    let server = started(MARIADB, &place.path().join("db"), &[]);
    drop(loaded(&server, "ours"));
    sql(&server, "CREATE USER harried@localhost");
    sql(&server, "GRANT ALL ON ours.* TO harried@localhost");
    let all = BAD.map(|setting| format!("SET SESSION {setting}")).join("; ").replace('\'', "\'\'");
    sql(&server, &format!("SET GLOBAL init_connect = '{all}'"));
    let target = target(&server, "harried", &[("namespace", "ours")]).unwrap();
    assert!(target.dataset().unwrap().is_some());
    let w = Workload { update_pct: Share::ALL, ..Workload::reads_only(1, 200, 4) };
    let placement = Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 };
    for loop_site in [LoopSite::Server, LoopSite::Client] {
        let w = Workload { loop_site, ..w.clone() };
        target.prepare(&w, 1).unwrap();
        drop(target.session(&w, placement).unwrap());
    }
    assert_eq!(target.verify(&StopFlag::default()).unwrap().failure(), None);
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    assert!(target.dataset().unwrap().is_some(), "it is cut off while it waits");
}
