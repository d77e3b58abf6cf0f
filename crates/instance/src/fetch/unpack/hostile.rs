//! Archives that mean harm, and some that are only damaged.

use std::io::Cursor;
use std::os::unix::fs::MetadataExt;

use lzma_rust2::{XzOptions, XzWriter};
use tar::Header;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

const LIMITS: Limits = Limits { packed: 1 << 20, unpacked: 1 << 20, entries: 100 };

/// An entry of a tar: its unchanged name, its kind, its link target, its bytes and its mode.
struct Entry<'a>(&'a str, EntryType, &'a str, &'a [u8], u32);

fn file(name: &str) -> Entry<'_> {
    Entry(name, EntryType::Regular, "", b"text", 0o644)
}

fn link<'a>(name: &'a str, to: &'a str) -> Entry<'a> {
    Entry(name, EntryType::Symlink, to, b"", 0o777)
}

fn tar_of(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Entry(name, kind, to, content, mode) in entries {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.as_mut_bytes()[157..157 + to.len()].copy_from_slice(to.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(*mode);
        header.set_size(content.len() as u64);
        header.set_cksum();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// The bytes of a jar of files: name, content and mode.
fn jar(entries: &[(&str, &[u8], u32)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content, mode) in entries {
        zip.start_file(*name, SimpleFileOptions::default().unix_permissions(*mode)).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Unpacks the jar into the folder `into` of another one, in which escaped files would become visible.
fn unpacked_jar(jar: &[u8], contents: Contents) -> (TempDir, Refusable) {
    let top = tempfile::tempdir().unwrap();
    let into = top.path().join("into");
    fs::create_dir(&into).unwrap();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(jar).unwrap();
    let result = unpack(file, &contents, &into, &LIMITS);
    assert_eq!(fs::read_dir(top.path()).unwrap().count(), 1, "something was made outside");
    (top, result)
}

fn unpacked_txz(packed: &[u8]) -> (TempDir, Refusable) {
    unpacked_jar(&jar(&[("x.txz", packed, 0o644)]), Contents::Tar(".txz", None))
}

fn unpacked(entries: &[Entry<'_>]) -> (TempDir, Refusable) {
    unpacked_txz(&xz(&tar_of(entries)))
}

fn refused(entries: &[Entry<'_>], why: &str) {
    let refusal = unpacked(entries).1.unwrap_err();
    assert!(refusal.contains(why), "{refusal}");
}

fn mode(top: &TempDir, name: &str) -> u32 {
    fs::metadata(top.path().join("into").join(name)).unwrap().mode() & 0o7777
}

#[test]
fn a_good_archive_comes_out_whole() {
    let entries = [
        Entry("./", EntryType::Directory, "", b"", 0o700),
        Entry("bin/", EntryType::Directory, "", b"", 0o700),
        Entry("bin/postgres", EntryType::Regular, "", b"program", 0o755),
        link("lib/libpq.so", "libpq.so.5"),
        file("lib/libpq.so.5"),
        link("bin/lib", "../lib/"),
        Entry("share/again", EntryType::Link, "lib/libpq.so.5", b"", 0o644),
    ];
    let (top, result) = unpacked(&entries);
    result.unwrap();
    let into = top.path().join("into");
    assert_eq!(fs::read(into.join("bin/lib/libpq.so")).unwrap(), b"text");
    assert_eq!(["bin/postgres", "bin", "share/again"].map(|name| mode(&top, name)), [0o755, 0o755, 0o644]);
    let [one, other] = ["share/again", "lib/libpq.so.5"].map(|name| fs::metadata(into.join(name)).unwrap().ino());
    assert_eq!(one, other);
}

#[test]
fn names_that_leave_the_folder_are_refused() {
    for name in ["../out", "a/../../out", "a/..", "..", "/tmp/mindful-out"] {
        refused(&[file(name)], "leads out of the folder");
    }
    refused(&[file("line\nbreak")], "control character");
}

#[test]
fn links_that_leave_the_folder_are_refused() {
    for target in ["/etc", "..", "../..", "a/../..", "a/../b", "/", ""] {
        refused(&[link("link", target)], "leads out of the folder");
    }
    // Each step stays inside as it is written; together they would climb out.
    let climb = [file("d/e/f/file"), link("d/e/f/up", "../../.."), link("out", "d/e/f/up/../..")];
    refused(&climb, "leads out of the folder");
    let to_nothing = "does not lead to a file of the archive";
    let out = "leads out of the folder";
    for (target, why) in [("../out", out), ("/etc/passwd", out), ("nothing", to_nothing), ("to", to_nothing)] {
        refused(&[link("to", "x"), Entry("hard", EntryType::Link, target, b"", 0o644)], why);
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    refused(&[file("d/x"), link("s", "d"), file("s/new")], "a folder and something else");
    refused(&[file("d/x"), link("s", "d/x"), file("s")], "twice");
    refused(&[file("d/x"), Entry("s", EntryType::Link, "d/x", b"", 0o644), file("s")], "twice");
    refused(&[file("d/x"), link("s", "d"), Entry("s/", EntryType::Directory, "", b"", 0o755)], "something else");
}

#[test]
fn an_archive_with_duplicate_names_is_refused() {
    refused(&[file("a"), file("a")], "twice");
    refused(&[file("a"), file("./a")], "twice");
    refused(&[file("a/b"), file("a")], "twice");
    refused(&[file("a"), file("a/b")], "a folder and something else");
}

#[test]
fn devices_pipes_and_other_kinds_are_refused() {
    let kinds = [EntryType::Char, EntryType::Block, EntryType::Fifo, EntryType::Continuous];
    for kind in kinds {
        refused(&[Entry("odd", kind, "", b"", 0o644)], "which no server needs");
    }
    // A long name may be longer than memory: it is never read.
    for kind in [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader, EntryType::XGlobalHeader] {
        refused(&[Entry("long", kind, "", &[b'x'; 600], 0o644), file("a")], "which no server needs");
    }
}

#[test]
fn setuid_setgid_and_sticky_bits_are_refused() {
    for mode in [0o4755, 0o2755, 0o1777] {
        refused(&[Entry("bin/su", EntryType::Regular, "", b"", mode)], "setuid");
        refused(&[Entry("bin/", EntryType::Directory, "", b"", mode)], "setuid");
    }
}

#[test]
fn bombs_end_at_their_bound() {
    refused(&[Entry("zeros", EntryType::Regular, "", &vec![0; 2 << 20], 0o644)], "unpacks to more than 1 MiB");
    let names: Vec<_> = (0..200).map(|n| format!("{n}")).collect();
    refused(&names.iter().map(|name| file(name)).collect::<Vec<_>>(), "too many entries");
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), &b""[..], 0o644)).collect();
    let refusal = unpacked_jar(&jar(&many), Contents::Tar(".txz", None)).1.unwrap_err();
    assert!(refusal.contains("more than 100 entries"), "{refusal}");
}

#[test]
fn a_dictionary_beyond_all_memory_is_refused() {
    let mut packed = xz(&tar_of(&[file("a")]));
    // The header of the only block follows the 12 bytes of the stream's: its size, flags, then the filter's number, the
    // size of its properties, and the dictionary; 40 is 4 GiB less one. Its sum comes last.
    let size = (usize::from(packed[12]) + 1) * 4;
    packed[16] = 40;
    let sum = crc32(&packed[12..12 + size - 4]);
    packed[12 + size - 4..12 + size].copy_from_slice(&sum.to_le_bytes());
    let refusal = unpacked_txz(&packed).1.unwrap_err();
    assert!(refusal.contains("memory"), "{refusal}");
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}

#[test]
fn an_archive_cut_anywhere_is_refused() {
    let entries = [file("a"), Entry("b", EntryType::Regular, "", &[7; 3000], 0o644), file("c")];
    let whole = xz(&tar_of(&entries));
    for cut in (0..whole.len()).step_by(7) {
        assert!(unpacked_txz(&whole[..cut]).1.is_err(), "{cut} of {} bytes of xz", whole.len());
    }
    let plain = tar_of(&entries);
    for cut in [100, 700, 1024 + 900, 1024 + 512 + 2000] {
        assert!(unpacked_txz(&xz(&plain[..cut])).1.is_err(), "{cut} of {} bytes of tar", plain.len());
    }
    let zip = jar(&[("x.txz", &whole, 0o644)]);
    for cut in (0..zip.len()).step_by(11) {
        let result = unpacked_jar(&zip[..cut], Contents::Tar(".txz", None)).1;
        assert!(result.is_err(), "{cut} of {} bytes", zip.len());
    }
}

/// The list of another server's files.
const FILES: Files = Files { below: "linux/", names: &["bin/mariadbd", "share/"], programs: &["bin/mariadbd"] };

#[test]
fn a_jar_gives_the_listed_files_and_no_other() {
    let entries: &[(&str, &[u8], u32)] = &[
        ("META-INF/MANIFEST.MF", b"", 0o644),
        ("linux/bin/mariadbd", b"program", 0o644),
        ("linux/bin/other", b"", 0o755),
        ("linux/share/errmsg/english.sys", b"text", 0o755),
    ];
    let (top, result) = unpacked_jar(&jar(entries), Contents::Jar(FILES));
    result.unwrap();
    assert_eq!((mode(&top, "bin/mariadbd"), mode(&top, "share/errmsg/english.sys")), (0o755, 0o644));
    assert!(!top.path().join("into/bin/other").exists() && !top.path().join("into/META-INF").exists());
    let refusal = unpacked_jar(&jar(&entries[..1]), Contents::Jar(FILES)).1.unwrap_err();
    assert!(refusal.contains("bin/mariadbd is not in it"), "{refusal}");
}

#[test]
fn a_jar_that_means_harm_is_refused() {
    let bomb = jar(&[("linux/bin/mariadbd", b"", 0o755), ("linux/share/z", &vec![0; 2 << 20], 0o644)]);
    let refusal = unpacked_jar(&bomb, Contents::Jar(FILES)).1.unwrap_err();
    assert!(refusal.contains("more than 1 MiB"), "{refusal}");
    // Its type and mode are the upper half of the four bytes at 38 of its header in the directory.
    let mut bytes = jar(&[("linux/share/su", b"", 0o755)]);
    let header = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    for mode in [0o010_644_u32, 0o020_644, 0o060_644, 0o140_644, 0o120_777] {
        bytes[header + 38..header + 42].copy_from_slice(&(mode << 16).to_le_bytes());
        let refusal = unpacked_jar(&bytes, Contents::Jar(FILES)).1.unwrap_err();
        assert!(refusal.contains("neither a file nor a folder"), "{mode:o}: {refusal}");
    }
}

/// Names that no writer of archives writes, put in place of one as long.
#[test]
fn a_jar_with_names_that_leave_the_folder_is_refused() {
    let other = b"linux/share/one-other";
    for name in [&b"linux/share/../../out"[..], b"/etc/cron.d/of-theirs", b"linux/share/twice/yes"] {
        let mut bytes = jar(&[("linux/share/twice/yes", b"", 0o644), ("linux/share/one-other", b"", 0o644)]);
        while let Some(at) = bytes.windows(other.len()).position(|part| part == other) {
            bytes[at..at + name.len()].copy_from_slice(name);
        }
        let refusal = unpacked_jar(&bytes, Contents::Jar(FILES)).1.unwrap_err();
        assert!(refusal.contains("leads out") || refusal.contains("twice"), "{}: {refusal}", shown(name));
    }
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A tar with the same list may contain refused kinds of entries, if they are not listed.
#[test]
fn a_tar_gives_the_listed_files_and_no_other() {
    let entries = [
        Entry("linux/bin/mariadbd", EntryType::Regular, "", b"program", 0o644),
        Entry("linux/bin/other", EntryType::Regular, "", b"", 0o755),
        link("linux/lib/outside.so", "/tmp/build/outside.so"),
        file("linux/share/errmsg.sys"),
        link("linux/share/english", "errmsg.sys"),
        Entry("linux/share/second", EntryType::Link, "linux/share/errmsg.sys", b"", 0o644),
        file("elsewhere/share/errmsg.sys"),
    ];
    for (ending, pack) in [(".tar.gz", gz as fn(&[u8]) -> Vec<u8>), (".txz", xz)] {
        let unpacked = |entries: &[Entry<'_>]| {
            let tar = pack(&tar_of(entries));
            let jar = jar(&[("x.txz", &tar, 0o644), ("x.tar.gz", &tar, 0o644)]);
            unpacked_jar(&jar, Contents::Tar(ending, Some(FILES)))
        };
        let (top, result) = unpacked(&entries);
        result.unwrap();
        let modes = ["bin/mariadbd", "share/english", "share/second"].map(|name| mode(&top, name));
        assert_eq!(modes, [0o755, 0o644, 0o644]);
        assert!(!top.path().join("into/bin/other").exists() && !top.path().join("into/lib").exists());
        assert!(unpacked(&entries[..2]).1.unwrap_err().contains("share/ is not in it"));
        let out = [link("linux/share/x", "/etc/passwd")];
        assert!(unpacked(&out).1.unwrap_err().contains("leads out of the folder"));
    }
    // A sum that does not fit, at the end of gzip.
    let mut broken = gz(&tar_of(&entries));
    let sum = broken.len() - 8;
    broken[sum] ^= 1;
    let jar = jar(&[("x.tar.gz", &broken, 0o644)]);
    unpacked_jar(&jar, Contents::Tar(".tar.gz", Some(FILES))).1.unwrap_err();
}
