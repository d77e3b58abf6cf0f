//! Fetching, from a source on this machine.

use std::fs::{self, Permissions};
use std::io::{Cursor, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use mindful_conformance::http::{answer, serve};
use mindful_conformance::{Notes, names, place};
use mindful_core::{Error, Result};
use mindful_host::binary::hexadecimal;
use mindful_instance::account::Account;
use mindful_instance::fetch::{Artefact, Contents, Files, fetch};
use sha2::{Digest, Sha256, Sha512};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn jar() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for name in ["linux/bin/server", "linux/share/messages"] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(b"#!/bin/sh\necho served\n").unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The archive of another server: coordinates, hash and files.
fn artefact(sha256: Option<&'static str>) -> Artefact {
    Artefact {
        what: "Server 1.2".to_owned(),
        coordinates: ["org.some".to_owned(), "server".to_owned(), "1.2".to_owned()],
        sha256,
        contents: Contents::Jar(Files { below: "linux/", names: &["bin/server", "share/"], programs: &["bin/server"] }),
    }
}

/// A repository with that jar and its hash; accepts every client.
fn source() -> (String, &'static str) {
    let bytes = jar();
    let pinned = hexadecimal(&Sha256::digest(&bytes)).leak();
    let base = serve(move |request, stream| {
        let hashed = request.contains("/org/some/server/1.2/server-1.2.jar.sha512 ");
        let body = if hashed { hexadecimal(&Sha512::digest(&bytes)).into_bytes() } else { bytes.clone() };
        let _ = stream.write_all(&answer("200 OK\r\nConnection: close", body));
    });
    (base, pinned)
}

fn top() -> (TempDir, PathBuf) {
    let top = place();
    let shelf = top.path().join("shelf");
    (top, shelf)
}

fn fetched(artefact: &Artefact, base: &str, shelf: &std::path::Path) -> (Result<PathBuf, Error>, String) {
    let (notes, account) = (Notes::default(), Account::choose(None).unwrap());
    let result = fetch(artefact, base, shelf, "1.2", &account, &notes);
    (result, notes.all())
}

#[test]
fn fetched_programs_are_complete_and_belong_to_mindful() {
    let (base, pinned) = source();
    let (_top, shelf) = top();
    let (result, notes) = fetched(&artefact(Some(pinned)), &base, &shelf);
    let folder = result.unwrap();
    assert_eq!((folder, notes.as_str()), (shelf.join("1.2"), ""));
    for (name, mode) in [("", 0o755), ("bin", 0o755), ("bin/server", 0o755), ("share/messages", 0o644)] {
        let meta = fs::metadata(shelf.join("1.2").join(name)).unwrap();
        assert_eq!((meta.mode() & 0o7777, meta.uid()), (mode, rustix::process::geteuid().as_raw()), "{name}");
    }
    assert_eq!(names(&shelf), ["1.2", "fetch.lock"].map(PathBuf::from));
}

#[test]
fn unpinned_archives_are_reported_and_wrong_ones_dropped() {
    let (base, _) = source();
    let (_top, shelf) = top();
    let other = artefact(Some("0000000000000000000000000000000000000000000000000000000000000000"));
    let refusal = fetched(&other, &base, &shelf).0.unwrap_err().to_string();
    assert!(refusal.contains("but 0000"), "{refusal}");
    assert_eq!(names(&shelf), [PathBuf::from("fetch.lock")]);
    let (result, notes) = fetched(&artefact(None), &base, &shelf);
    assert!(result.unwrap().join("bin/server").exists());
    assert!(notes.contains("not pinned in mindful"), "{notes}");
}

#[test]
fn an_archive_is_unpacked_with_the_rights_of_the_servers_user() {
    if rustix::process::geteuid().as_raw() != 0 {
        return mindful_conformance::not_run("only root unpacks as somebody else");
    }
    let (base, pinned) = source();
    let (top, shelf) = top();
    fs::set_permissions(top.path(), Permissions::from_mode(0o700)).unwrap();
    let refusal = fetched(&artefact(Some(pinned)), &base, &shelf).0.unwrap_err().to_string();
    assert!(refusal.contains("Permission denied"), "{refusal}");
}

#[test]
fn a_shelf_that_others_may_write_is_refused() {
    let (base, pinned) = source();
    let (_top, shelf) = top();
    fs::create_dir(&shelf).unwrap();
    fs::set_permissions(&shelf, Permissions::from_mode(0o777)).unwrap();
    let refusal = fetched(&artefact(Some(pinned)), &base, &shelf).0.unwrap_err().to_string();
    assert!(refusal.contains("written by others") && refusal.contains("--fetch-dir"), "{refusal}");
    assert_eq!(names(&shelf), [] as [PathBuf; 0]);
}

#[test]
fn a_link_or_a_pipe_in_place_of_the_lock_is_not_followed() {
    let (base, pinned) = source();
    let (top, shelf) = top();
    let elsewhere = top.path().join("elsewhere");
    fs::create_dir(&shelf).unwrap();
    symlink(&elsewhere, shelf.join("fetch.lock")).unwrap();
    fetched(&artefact(Some(pinned)), &base, &shelf).0.unwrap_err();
    assert!(!elsewhere.exists());
    fs::remove_file(shelf.join("fetch.lock")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, shelf.join("fetch.lock"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    let refusal = fetched(&artefact(Some(pinned)), &base, &shelf).0.unwrap_err().to_string();
    assert!(refusal.contains("not a plain file"), "{refusal}");
}
