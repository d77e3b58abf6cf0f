//! Runs as one file: a pack is read back, and malicious packs do no harm.

use std::fs;
use std::io::Write;
use std::path::Path;

use mindful_record::{Store, pack};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tar::{Builder, EntryType, Header};

use crate::sample;

const ID: &str = "20261121-013542-k7f";

fn packed(dir: &Path) -> (Store, String, Vec<u8>) {
    let store = Store::open(dir.join("store"));
    let id = sample::written(&store, None);
    let texts = [(pack::VERSION, "1".to_owned()), (pack::PAGE, "x".repeat(100_000))];
    store.pack(&id, &texts, &dir.join("run.tar.zst"), false).unwrap();
    (store, id, fs::read(dir.join("run.tar.zst")).unwrap())
}

#[test]
fn a_pack_that_cannot_be_written_is_an_error_and_no_device_goes() {
    let dir = tempfile::tempdir().unwrap();
    let (store, id, _) = packed(dir.path());
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let error = pack::write(&store.run_dir(&id), &id, &[], &full).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);

    let link = dir.path().join("link");
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), &link).unwrap();
    for to in [&link, Path::new("/dev/full")] {
        let refusal = store.pack(&id, &[], to, true).unwrap_err().to_string();
        assert!(refusal.contains("not a regular file"), "{refusal}");
        assert!(fs::symlink_metadata(to).is_ok_and(|there| !there.is_file()), "{} is gone", to.display());
    }
    // An existing pack is replaced by a complete one, or stays.
    let before = fs::read(dir.path().join("run.tar.zst")).unwrap();
    fs::remove_file(store.run_dir(&id).join("run.jsonl")).unwrap();
    store.pack(&id, &[], &dir.path().join("run.tar.zst"), true).unwrap_err();
    assert_eq!(fs::read(dir.path().join("run.tar.zst")).unwrap(), before);
}

/// Imports `pack` into an empty store, which must fail without remains; returns the reason.
fn refused(pack: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let (file, store) = (dir.path().join("pack"), Store::open(dir.path().join("store")));
    fs::write(&file, pack).unwrap();
    let error = store.import_pack(&file, &|_| Vec::new()).unwrap_err().to_string();
    let left: Vec<_> = fs::read_dir(&store.root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["runs"], "{error}");
    assert_eq!(fs::read_dir(store.root.join("runs")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing next to the store: {error}");
    error
}

/// A pack of entries `(name, kind, link, content)`, with unchanged names.
fn made(entries: &[(&str, EntryType, &str, &[u8])]) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    for (name, kind, link, content) in entries {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        if !link.is_empty() {
            header.set_link_name_literal(link).unwrap();
        }
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, *content).unwrap();
    }
    compress_to_vec(tar.into_inner().unwrap().as_slice(), CompressionLevel::Fastest)
}

#[test]
fn a_packed_run_comes_back_the_same_in_another_store() {
    let dir = tempfile::tempdir().unwrap();
    let (here, id, bytes) = packed(dir.path());
    assert!(pack::is_pack(&dir.path().join("run.tar.zst")) && bytes.len() < 20_000, "{} bytes", bytes.len());
    let there = Store::open(dir.path().join("there"));
    assert_eq!(there.import_pack(&dir.path().join("run.tar.zst"), &|_| Vec::new()).unwrap(), id);
    let (again, was) = (there.read(&id).unwrap(), here.read(&id).unwrap());
    assert!(again.steps == was.steps && again.head == was.head && again.proof == was.proof);
    assert!(there.is_imported(&id) && !there.run_dir(&id).join(pack::PAGE).exists());
    let twice = there.import_pack(&dir.path().join("run.tar.zst"), &|_| Vec::new()).unwrap_err().to_string();
    assert!(twice.contains("already"), "{twice}");
    let taken = here.pack(&id, &[], &dir.path().join("run.tar.zst"), false).unwrap_err().to_string();
    assert!(taken.contains("--yes to replace it"), "{taken}");
}

#[test]
fn packs_made_to_do_harm_are_refused_and_leave_nothing() {
    let file = EntryType::Regular;
    let log = format!("{ID}/run.jsonl");
    let cases: [(&str, EntryType, &str, &str); 9] = [
        ("/etc/passwd", file, "", "which is not a file of a pack"),
        ("../run.jsonl", file, "", "which is not a file of a pack"),
        ("20261121-013542-k7f/../../run.jsonl", file, "", "which is not a file of a pack"),
        ("run.jsonl", file, "", "which is not a file of a pack"),
        ("20261121-013542-k7f/authorized_keys", file, "", "which is not a file of a pack"),
        (&log, EntryType::Symlink, "/etc/passwd", "not a regular file"),
        (&log, EntryType::Link, "/etc/passwd", "not a regular file"),
        (&log, EntryType::Fifo, "", "not a regular file"),
        (&log, EntryType::XHeader, "", "not a regular file"),
    ];
    for (name, kind, link, why) in cases {
        let error = refused(&made(&[(name, kind, link, b"")]));
        assert!(error.contains(why), "{name} {kind:?}: {error}");
    }
    let twice = made(&[(&log, file, "", b"{}\n"), (&log, file, "", b"{}\n")]);
    assert!(refused(&twice).contains("twice"));
    assert!(refused(&made(&[("20261121-013542-k7f/VERSION", file, "", b"1")])).contains("no run.jsonl is in it"));
    refused(&made(&[(&log, file, "", b"not a run\n")]));
}

#[test]
fn a_pack_that_unpacks_without_end_is_given_up() {
    let (mut frame, all) = (Vec::new(), 96 << 20);
    let mut tar = Header::new_ustar();
    tar.set_path(format!("{ID}/run.jsonl")).unwrap();
    tar.set_size(all);
    tar.set_entry_type(EntryType::Regular);
    tar.set_cksum();
    let zeros = std::io::Read::take(std::io::repeat(0), all);
    let whole = std::io::Read::chain(std::io::Cursor::new(*tar.as_bytes()), zeros);
    ruzstd::encoding::compress(whole, &mut frame, CompressionLevel::Fastest);
    assert!(refused(&frame).contains("unpacks to more than"), "{} bytes", frame.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any byte of a pack may be changed, and any part of its end missing.
    #[test]
    fn a_damaged_pack_is_an_error_or_the_run(at in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>()) {
        static PACK: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
            let dir = tempfile::tempdir().unwrap();
            packed(dir.path()).2
        });
        let mut bytes = PACK.clone();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        bytes.truncate(cut.index(PACK.len() * 4).max(1));
        let dir = tempfile::tempdir().unwrap();
        let mut file = fs::File::create(dir.path().join("pack")).unwrap();
        file.write_all(&bytes).unwrap();
        let _ = Store::open(dir.path().join("store")).import_pack(&dir.path().join("pack"), &|_| Vec::new());
        prop_assert!(fs::read_dir(dir.path().join("store")).unwrap().count() == 1, "a folder remains");
    }
}

#[test]
fn a_pack_cut_or_damaged_anywhere_is_bad_input_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let (.., whole) = packed(dir.path());
    let file = dir.path().join("other.tar.zst");
    let import = |bytes: &[u8]| {
        let store = tempfile::tempdir().unwrap();
        fs::write(&file, bytes).unwrap();
        Store::open(store.path()).import_pack(&file, &|_| Vec::new())
    };
    let internals = ["buffer", "decod", "Decod", "FSE", "Huffman", "numeric field", ".unpack-", "os error", "archive"];
    let check = |at: usize, what: &str, bytes: &[u8]| {
        let Err(error) = import(bytes) else { return };
        let line = error.to_string();
        assert_eq!(error.kind, mindful_core::ErrorKind::Plan, "{what} at {at}: {line}");
        assert!(!internals.iter().any(|word| line.contains(word)), "{what} at {at}: {line}");
        assert!(line.contains("other.tar.zst") && !line.contains('\n'), "{what} at {at}: {line}");
    };
    for at in (0..200).chain((200..whole.len()).step_by(17)) {
        check(at, "cut", &whole[..at]);
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        check(at, "damaged", &damaged);
    }
    assert!(import(&whole).is_ok());
    let cut = import(&whole[..whole.len() / 2]).unwrap_err().to_string();
    assert!(cut.contains("it was cut"), "{cut}");
}
