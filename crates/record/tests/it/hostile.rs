//! Malicious run folders.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use mindful_core::ErrorKind;
use mindful_core::contract::event::{Event, Events, emit_note};
use mindful_record::{Store, read_run};
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::sample::stored;

#[test]
fn a_record_that_is_no_regular_file_is_refused_at_once() {
    let (dir, store, id, log) = stored();
    let elsewhere = dir.path().join("elsewhere.jsonl");
    fs::rename(&log, &elsewhere).unwrap();
    symlink(&elsewhere, &log).unwrap();
    assert!(store.read(&id).unwrap_err().to_string().contains("symbolic link"));
    assert!(store.go_on(&id).is_err() && store.list().unwrap()[0].fault.is_some());
    fs::remove_file(&log).unwrap();
    mkfifoat(CWD, &log, Mode::from_raw_mode(0o600)).unwrap();
    assert!(store.read(&id).unwrap_err().to_string().contains("not a regular file"));
    assert!(store.go_on(&id).is_err() && store.import(&store.run_dir(&id), &|_| Vec::new()).is_err());
    fs::remove_file(&log).unwrap();
    symlink("/dev/zero", &log).unwrap();
    assert!(store.read(&id).is_err());
}

#[test]
fn a_run_folder_that_is_a_link_is_no_run() {
    let (dir, store, id, _) = stored();
    let elsewhere = dir.path().join("elsewhere");
    fs::rename(store.run_dir(&id), &elsewhere).unwrap();
    symlink(&elsewhere, store.run_dir(&id)).unwrap();
    assert!(store.ids().unwrap().is_empty() && store.read(&id).is_err() && store.remove(&id).is_err());
    assert!(elsewhere.join("run.jsonl").exists());
}

#[test]
fn a_line_without_end_is_refused_before_it_fills_memory() {
    let (_dir, store, id, log) = stored();
    let mut file = fs::OpenOptions::new().append(true).open(&log).unwrap();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..65 {
        file.write_all(&piece).unwrap();
    }
    assert!(store.read(&id).unwrap_err().to_string().contains("longer than"));
}

#[test]
fn nested_and_endless_numbers_are_corrupt_lines() {
    let (_dir, store, id, log) = stored();
    let whole = fs::read_to_string(&log).unwrap();
    for line in [
        format!("{{\"event\":\"note\",\"text\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000)),
        "{\"event\":\"loaded\",\"load_s\":1e999}".to_owned(),
        "{\"event\":\"loaded\",\"load_s\":NaN}".to_owned(),
        "{\"event\":\"sample\",\"at_us\":99999999999999999999}".to_owned(),
    ] {
        fs::write(&log, format!("{whole}{line}\n")).unwrap();
        let error = store.read(&id).unwrap_err().to_string();
        assert!(error.contains("is corrupt"), "{error}");
    }
}

#[test]
fn a_run_has_the_name_of_its_folder() {
    let (_dir, store, id, log) = stored();
    let other = "20260101-000000-abc";
    fs::write(&log, fs::read_to_string(&log).unwrap().replacen(&id, other, 1)).unwrap();
    assert_eq!(store.read(&id).unwrap().head.id, id);
    assert_eq!(store.list().unwrap()[0].head.as_ref().unwrap().id, id);
}

#[test]
fn an_import_copies_the_record_alone_and_follows_no_link() {
    let (dir, store, id, log) = stored();
    let to = Store::open(dir.path().join("to"));
    symlink("/etc/passwd", store.run_dir(&id).join("summary.json")).unwrap();
    fs::write(store.run_dir(&id).join("hook-before.out"), "x").unwrap();
    to.import(&store.run_dir(&id), &|_| Vec::new()).unwrap();
    let mut names: Vec<_> = fs::read_dir(to.run_dir(&id)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["imported", "run.jsonl"]);
    let is_own = |store: &Store| store.read_judged(&id).unwrap().1;
    assert!(!is_own(&to) && is_own(&store));
    fs::set_permissions(&log, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(!is_own(&store), "others may have written it");
}

#[test]
fn a_run_that_others_may_rename_is_not_ours() {
    let (_dir, store, id, log) = stored();
    let is_own = || store.read_judged(&id).unwrap().1;
    assert!(is_own() && store.go_on(&id).unwrap().0.own);
    let runs = store.root.join("runs");
    for (folder, mode, own) in [
        (&runs, 0o777, false),
        (&runs, 0o1777, true),
        (&runs, 0o770, true),
        (&runs, 0o700, true),
        (&store.root, 0o707, false),
        (&store.root, 0o700, true),
        (&log.parent().unwrap().to_owned(), 0o720, false),
    ] {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(is_own(), own, "{} {mode:o}", folder.display());
        assert_eq!(store.go_on(&id).unwrap().0.own, own);
    }
}

#[test]
fn a_run_has_one_writer_until_that_is_gone() {
    let (_dir, store, id, log) = stored();
    let before = fs::read(&log).unwrap();
    let first = store.go_on(&id).unwrap();
    let second = store.go_on(&id).unwrap_err();
    assert_eq!(second.kind, ErrorKind::Plan);
    assert!(second.to_string().contains("written by another mindful"), "{second}");
    assert_eq!(fs::read(&log).unwrap(), before);
    drop(first);
    assert!(store.go_on(&id).is_ok());
}

#[test]
fn a_torn_end_of_any_length_is_cut_off() {
    let (_dir, store, id, log) = stored();
    let whole = fs::read(&log).unwrap();
    for torn in [0, 1, (1 << 16) - 1, 1 << 16, 200_000] {
        fs::write(&log, [&whole[..], &vec![b'x'; torn]].concat()).unwrap();
        drop(store.go_on(&id).unwrap());
        assert_eq!(fs::read(&log).unwrap(), whole, "{torn} bytes");
    }
}

#[test]
fn runs_are_closed_to_others() {
    let (_dir, store, id, log) = stored();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(store.root.clone()), mode(store.run_dir(&id)), mode(log)), (0o700, 0o700, 0o600));
}

#[test]
fn texts_of_events_are_stored_without_their_secrets() {
    let (_dir, store, id, log) = stored();
    let (writer, _) = store.go_on(&id).unwrap();
    emit_note(&writer, "hook before: PGPASSWORD=s3cret psql postgres://bench:s3cret@db/bench");
    writer.emit(Event::Finished { interrupted: false, error: Some("http://u:s3cret@db:9100 does not answer".into()) });
    writer.close().unwrap();
    let text = fs::read_to_string(&log).unwrap();
    assert!(!text.contains("s3cret") && text.contains("PGPASSWORD=…"), "{text}");
    assert!(read_run(&log).unwrap().error.unwrap().starts_with("http://u:…@db:9100"));
}

#[test]
fn a_store_that_cannot_be_written_is_reported_before_a_run() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let error = Store::open(dir.path().join("file")).probe().unwrap_err().to_string();
    assert!(error.contains("--store"), "{error}");
    let store = Store::open(dir.path().join("store"));
    store.probe().unwrap();
    assert!(fs::read_dir(&store.root).unwrap().all(|entry| entry.unwrap().file_name() == "runs"), "nothing is left");
}
