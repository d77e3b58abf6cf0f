//! Small made-up files, the reports of each version and the corpora of fuzzing: each is read in each encoding, and by each
//! reader. A finding of a fuzzer has a name without an end.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use mindful_import::waits::{Field, Filter};
use mindful_import::{FORMATS, import_configuration, recognised, runs};

use crate::made::{Dress, showcase};
use crate::measured::read;

pub(crate) const DRESSES: [Dress; 7] =
    [Dress::Awr10, Dress::Awr11, Dress::Awr12, Dress::Awr19, Dress::Html11, Dress::Html, Dress::Statspack];

/// A report of a cluster, with tables, names and blank corners as in pages from 11.2 to 19c.
pub(crate) const CLUSTER_PAGE: &str = include_str!("made/reports/cluster.html");
pub(crate) const CELLS: &str = include_str!("../../fuzz/corpus/trace/cells.trc");
pub(crate) const OLD_STATSPACK: &str = include_str!("../../fuzz/corpus/statspack/sp.lst");

/// The name and the content of each file; a report is called as its version.
fn all_files() -> Vec<(String, Vec<u8>)> {
    let entries = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let corpora = entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus"));
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let files = corpora.iter().flat_map(|corpus| entries(corpus)).map(|file| (name(&file), fs::read(&file).unwrap()));
    files.chain(DRESSES.map(|dress| (format!("{dress:?}.txt"), showcase().report(dress).into_bytes()))).collect()
}

/// The name and the text of files of each format.
pub(crate) fn of_each_format() -> Vec<(String, String)> {
    let files = all_files().into_iter().filter(|(name, _)| name.contains('.'));
    files.map(|(name, content)| (name, String::from_utf8(content).unwrap())).collect()
}

#[test]
fn every_file_is_read_or_refused_by_each_reader() {
    let fields = Field::parse_list("event,block,second").unwrap();
    let (mut files, mut steps, mut bytes) = (0, 0, 0);
    for (_, content) in all_files() {
        for format in FORMATS {
            for name in ["awr.txt.8", "disks_iops.csv", "disks_lat.csv"] {
                let read = (format.read)(name, &mut Cursor::new(&content)).unwrap_or_default();
                steps += runs(read, None).0.len();
            }
        }
        let source = recognised("x", Box::new(Cursor::new(content.clone())));
        let _ = source.and_then(|source| source.grouped(&fields, &Filter::default()));
        let _ = import_configuration("slob.conf", &String::from_utf8_lossy(&content));
        files += 1;
        bytes += content.len();
    }
    assert!(files > 20 && steps > 20, "{files} files, {steps} runs");
    assert!(bytes < 200_000, "corpora are kept small: {bytes} bytes");
}

#[test]
fn a_file_is_the_same_in_each_encoding_and_with_each_line_end() {
    for (name, text) in of_each_format() {
        let plain = runs(read(&name, text.clone()).unwrap(), None).0;
        assert!(!plain.is_empty(), "{name}");
        // The first two characters show UTF-16 without a mark.
        let text = text.trim_start();
        for (ends, text) in
            [("LF", text.to_owned()), ("CR LF", text.replace('\n', "\r\n")), ("CR", text.replace('\n', "\r"))]
        {
            let utf16 = |mark: &[u16], bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
                mark.iter().copied().chain(text.encode_utf16()).flat_map(bytes).collect()
            };
            for bytes in [
                text.clone().into_bytes(),
                [&[0xef, 0xbb, 0xbf], text.as_bytes()].concat(),
                utf16(&[0xfeff], u16::to_le_bytes),
                utf16(&[0xfeff], u16::to_be_bytes),
                utf16(&[], u16::to_le_bytes),
                utf16(&[], u16::to_be_bytes),
            ] {
                assert!(
                    runs(read(&name, bytes.clone()).unwrap(), None).0 == plain,
                    "{name}, {ends}, {:x?}",
                    &bytes[..4]
                );
            }
        }
    }
}
