//! Files with foreign objects under mindful's names: none of them is run, and none is removed.

use mindful_core::ErrorKind;
use mindful_core::contract::event::Silent;
use mindful_core::contract::stop_flag::StopFlag;
use rusqlite::Connection;

use crate::fixture;

/// Runs forever when it is read.
const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";

/// The error of every use of a loaded file after `laid`; the file is unchanged.
fn refused(laid: &str) -> String {
    let (fixture, path) = fixture::fixture();
    drop(fixture.loaded());
    Connection::open(&path).unwrap().execute_batch(laid).unwrap();
    let before = std::fs::read(&path).unwrap();
    let (target, stop) = (fixture.open(), StopFlag::default());
    let errors = [
        target.dataset().unwrap_err(),
        target.load(&fixture.dataset, &Silent, &stop).unwrap_err(),
        target.verify(&stop).unwrap_err(),
        target.stored_proof().unwrap_err(),
        target.prepare(&fixture.workload(), 1).unwrap_err(),
        target.inventory().unwrap_err(),
        target.cleanup().unwrap_err(),
    ];
    for error in &errors {
        assert_eq!((error.kind, error), (ErrorKind::Target, &errors[0]), "{laid}");
    }
    assert!(before == std::fs::read(&path).unwrap(), "{laid}");
    errors[0].to_string()
}

#[test]
fn no_sqlite_table_of_others_is_taken_for_ours() {
    let endless_view = format!("{ENDLESS} SELECT i AS schema, 1 AS table_bytes, 1 AS index_bytes FROM n");
    for (laid, why) in [
        (
            format!("DROP TABLE mindful_schema; CREATE VIEW mindful_schema AS {endless_view}"),
            "mindful_schema: is a view",
        ),
        (
            format!(
                "DROP TABLE mindful_dataset; CREATE VIEW Mindful_DATASET AS {ENDLESS} SELECT i AS parameters FROM n"
            ),
            "mindful_dataset: is a view",
        ),
        (format!("DROP TABLE blocks_1; CREATE VIEW blocks_1 AS {ENDLESS} SELECT i AS k FROM n"), "blocks_1: is a view"),
        (
            "DROP TABLE mindful_schema; CREATE VIRTUAL TABLE mindful_schema USING dbstat (main)".to_owned(),
            "mindful_schema: is a virtual table",
        ),
        (
            format!("CREATE TRIGGER t AFTER UPDATE ON blocks_1 BEGIN INSERT INTO mindful_schema {endless_view}; END"),
            "blocks_1: has the trigger t",
        ),
        (
            "CREATE TRIGGER t BEFORE DELETE ON mindful_dataset BEGIN SELECT 1; END".to_owned(),
            "mindful_dataset: has the trigger t",
        ),
        ("CREATE INDEX i ON blocks_2 (abs(k))".to_owned(), "blocks_2: has the index i"),
        ("CREATE INDEX i ON blocks_1 (k) WHERE k > 1".to_owned(), "blocks_1: has the index i"),
        (
            "DROP INDEX blocks_1_k; CREATE UNIQUE INDEX blocks_1_k ON blocks_1 (k) WHERE k > 1".to_owned(),
            "blocks_1: has the index blocks_1_k",
        ),
        (
            "ALTER TABLE blocks_1 ADD COLUMN x INTEGER AS (k + 1)".to_owned(),
            "blocks_1: has other columns or constraints",
        ),
        (
            "ALTER TABLE mindful_schema ADD COLUMN x INTEGER CHECK (x > 1)".to_owned(),
            "mindful_schema: has other columns or constraints",
        ),
    ] {
        let line = refused(&laid);
        let (table, what) = why.split_once(": ").unwrap();
        assert!(line.contains(&format!("{table} is not as mindful made it: it {what}")), "{laid}: {line}");
        assert!(line.contains("mindful.db") && line.contains("left untouched"), "{line}");
    }
}

#[test]
fn code_of_others_next_to_our_sqlite_tables_never_runs() {
    let (fixture, path) = fixture::fixture();
    drop(fixture.loaded());
    let other = Connection::open(&path).unwrap();
    let views =
        ["dbstat", "json_each"].map(|name| format!("CREATE VIEW {name} AS {ENDLESS} SELECT i FROM n;")).concat();
    other.execute_batch(&views).unwrap();
    other
        .execute_batch(&format!(
            "CREATE TABLE letters (text, pos REFERENCES blocks_1 (pos) ON DELETE CASCADE);
             INSERT INTO letters VALUES ('mine', 1);
             CREATE TRIGGER t AFTER DELETE ON letters BEGIN INSERT INTO letters {ENDLESS} SELECT i, NULL FROM n; END"
        ))
        .unwrap();
    drop(other);
    let target = fixture.open();
    assert_eq!(target.verify(&StopFlag::default()).unwrap().failure(), None);
    let removed = target.cleanup().unwrap();
    let kept: Vec<&str> = removed.iter().filter(|one| one.kept_because.is_some()).map(|one| &*one.name).collect();
    assert_eq!(kept, ["view dbstat", "view json_each", "table letters", "trigger t"]);
    let left = Connection::open(&path).unwrap();
    assert_eq!(left.query_row("SELECT text FROM letters", [], |row| row.get::<_, String>(0)).unwrap(), "mine");
}
