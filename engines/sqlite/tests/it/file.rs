//! Effects on the file itself: no debt after a load, no change of foreign files, bad files reported in one line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mindful_conformance::Fixture;
use mindful_core::contract::event::Silent;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::DatasetPlan;
use mindful_core::plan::units::Share;
use mindful_core::workload::{Redo, Workload};
use mindful_core::{Error, ErrorKind};
use rusqlite::Connection;

use crate::fixture;

/// The names of the files in the folder of `path`.
fn companions(path: &Path) -> Vec<PathBuf> {
    mindful_conformance::names(path.parent().unwrap())
}

fn load_error(fixture: &Fixture, plan: &DatasetPlan) -> Error {
    fixture.open().load(plan, &Silent, &StopFlag::default()).expect_err("a load that cannot be")
}

#[test]
fn a_read_only_pass_after_a_load_writes_nothing() {
    let (fixture, path) = fixture::fixture();
    drop(fixture.loaded());
    assert_eq!(companions(&path), [Path::new("mindful.db")], "a load leaves no log");
    let before = std::fs::read(&path).unwrap();
    let whole = Workload { work_unit: fixture.dataset.blocks_per_schema, ..fixture.workload() };
    let reports = fixture.loaded().work_ops(&whole, 1, Some(4));
    assert_eq!(reports[0].total_ops(), 4);
    assert_eq!(companions(&path), [Path::new("mindful.db")]);
    assert!(before == std::fs::read(&path).unwrap(), "reading changed the file");
}

#[test]
fn full_syncs_without_waiting_commits_are_refused() {
    let fixture = fixture::fixture().0.with("synchronous", "full");
    let opened = fixture.loaded();
    let waiting = Workload { update_pct: Share::ALL, ..fixture.workload() };
    opened.target.prepare(&waiting, 1).unwrap();
    let error = opened.target.prepare(&Workload { commit_wait: false, ..waiting }, 1).unwrap_err();
    assert!(error.next.contains("--synchronous normal"), "{error}");
}

#[test]
fn a_stored_proof_counts_until_the_dataset_is_another() {
    let (fixture, path) = fixture::fixture();
    let kept = || fixture.open().stored_proof().unwrap();
    let load = |plan: &DatasetPlan| fixture.open().load(plan, &Silent, &StopFlag::default()).map(|_| ()).unwrap();
    let prove = || {
        let target = fixture.open();
        let proof = target.verify(&StopFlag::default()).unwrap();
        target.store_proof(&proof).unwrap();
        assert_eq!(kept(), Some(proof));
    };
    let alter = |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    assert_eq!(kept(), None, "there is no file");
    load(&fixture.dataset);
    assert_eq!(kept(), None, "nothing was proven yet");
    prove();
    alter("VACUUM");
    assert_eq!(kept(), None, "its rows are in other pages");
    prove();
    load(&DatasetPlan { schemas: fixture.dataset.schemas + 1, ..fixture.dataset.clone() });
    assert_eq!(kept(), None, "the last schema was never proven");
    prove();
    fixture.open().cleanup().unwrap();
    assert_eq!(kept(), None);
    load(&DatasetPlan { seed: fixture.dataset.seed + 1, ..fixture.dataset.clone() });
    assert_eq!(kept(), None, "it is another dataset");
}

#[test]
fn updates_never_grow_the_tables() {
    let (fixture, path) = fixture::fixture();
    drop(fixture.loaded());
    let pages = || -> (i64, i64) {
        let connection = Connection::open(&path).unwrap();
        let one = |sql: &str| connection.query_row(sql, [], |row| row.get(0)).unwrap();
        (one("PRAGMA page_count"), one("PRAGMA freelist_count"))
    };
    let before = pages();
    for redo in [Redo::Light, Redo::Heavy] {
        let update_work_unit = fixture.dataset.blocks_per_schema;
        let workload = Workload { update_pct: Share::ALL, update_work_unit, redo, ..fixture.workload() };
        fixture.loaded().work_ops(&workload, 1, Some(2));
    }
    assert_eq!(pages(), before);
    let proof = fixture.open().verify(&StopFlag::default()).unwrap();
    assert_eq!(proof.failure(), None, "the layout still holds");
}

#[test]
fn objects_of_others_in_the_file_stay() {
    let (fixture, path) = fixture::fixture();
    drop(fixture.loaded());
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE blocks_9 (note); INSERT INTO blocks_9 VALUES ('mine')").unwrap();
    drop(other);
    let target = fixture.open();
    let listed = target.inventory().unwrap();
    let kept: Vec<_> = listed.iter().filter(|object| object.kept_because.is_some()).collect();
    assert!(kept.len() == 1 && kept[0].name == "table blocks_9", "{listed:?}");
    assert_eq!(target.cleanup().unwrap(), listed);
    let left = Connection::open(&path).unwrap();
    let note: String = left.query_row("SELECT note FROM blocks_9", [], |row| row.get(0)).unwrap();
    let tables: i64 = left.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!((note.as_str(), tables), ("mine", 1));
    let error = target.dataset().unwrap_err();
    assert!(error.to_string().contains("mindful did not make"), "{error}");
}

#[test]
fn cleanup_of_our_file_leaves_nothing_next_to_it() {
    let (fixture, path) = fixture::fixture();
    let opened = fixture.loaded();
    let workload = Workload { update_pct: Share::ALL, ..fixture.workload() };
    opened.work(&workload, 1);
    opened.target.cleanup().unwrap();
    assert!(companions(&path).is_empty(), "{:?}", companions(&path));
}

#[test]
fn a_file_in_use_is_not_cleaned_up() {
    let (fixture, path) = fixture::fixture();
    let opened = fixture.loaded();
    let session = opened.session(&fixture.workload(), 0, 1);
    let error = opened.target.cleanup().unwrap_err();
    assert!(error.to_string().contains("locked"), "{error}");
    assert!(path.exists());
    drop(session);
    opened.target.cleanup().unwrap();
    assert!(!path.exists());
}

#[test]
fn a_load_that_does_not_fit_is_refused_with_both_figures() {
    let (fixture, path) = fixture::fixture();
    let plan = DatasetPlan { blocks_per_schema: 1 << 40, ..fixture.dataset.clone() };
    let error = load_error(&fixture, &plan);
    assert_eq!(error.kind, ErrorKind::Target);
    assert!(error.what.contains("needs") && error.what.contains("free"), "{error}");
    assert!(companions(&path).is_empty(), "nothing was made");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let (mut fixture, path) = fixture::fixture();
    let missing = path.parent().unwrap().join("no").join("such");
    fixture.url = format!("sqlite:{}", missing.join("x.db").display());
    let error = load_error(&fixture, &fixture.dataset);
    assert_eq!(error.kind, ErrorKind::Target);
    assert!(error.what.contains(missing.to_str().unwrap()), "{error}");
}

#[test]
fn a_damaged_file_is_reported_and_left() {
    let (fixture, path) = fixture::fixture();
    drop(fixture.loaded());
    let mut bytes = std::fs::read(&path).unwrap();
    // All but the header of the first page: the schema is gone.
    bytes[100..].fill(0xab);
    std::fs::write(&path, &bytes).unwrap();
    let target = fixture.open();
    for error in [target.dataset().unwrap_err(), target.inventory().unwrap_err(), target.cleanup().unwrap_err()] {
        assert_eq!(error.kind, ErrorKind::Target);
        assert!(error.to_string().contains("damaged"), "{error}");
    }
    assert!(bytes == std::fs::read(&path).unwrap());
}

#[test]
fn pages_of_other_lengths_hold_one_row_each_too() {
    for page in ["4KiB", "16KiB", "64KiB"] {
        let (fixture, _) = fixture::fixture();
        let fixture = fixture.with("sqlite_page", page);
        let proof = fixture.loaded().target.verify(&StopFlag::default()).unwrap();
        assert_eq!(proof.failure(), None, "{page}");
    }
}

#[test]
fn a_page_length_that_is_not_the_files_is_refused() {
    let (fixture, _) = fixture::fixture();
    drop(fixture.loaded());
    let refused = fixture.with("sqlite_page", "4KiB").try_open(&Arc::new(Silent));
    assert_eq!(refused.err().unwrap().kind, ErrorKind::Plan);
}

#[test]
fn a_registry_of_more_than_any_file_holds_is_refused() {
    let (fixture, path) = fixture::fixture();
    drop(fixture.loaded());
    let blocks = fixture.dataset.blocks_per_schema;
    for more in ["18446744073709551615", "9223372036854775807", "2305843009213693952"] {
        let connection = Connection::open(&path).unwrap();
        let sql = "UPDATE mindful_dataset SET parameters = replace(parameters, ?1, ?2)";
        let key = |blocks: &str| format!("\"blocks_per_schema\":{blocks}");
        assert_eq!(connection.execute(sql, (key(&blocks.to_string()), key(more))).unwrap(), 1);
        let error = fixture.open().dataset().unwrap_err();
        assert!(error.to_string().contains("more than a file can hold"), "{error}");
        connection.execute(sql, (key(more), key(&blocks.to_string()))).unwrap();
    }
    assert!(fixture.open().dataset().unwrap().is_some());
}
