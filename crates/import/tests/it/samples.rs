//! Small made-up files: the corpora of fuzzing. A finding of a fuzzer has a name without an end.

use std::fs;
use std::path::Path;

use crate::made::Dress;

pub(crate) const DRESSES: [Dress; 7] =
    [Dress::Awr10, Dress::Awr11, Dress::Awr12, Dress::Awr19, Dress::Html11, Dress::Html, Dress::Statspack];

/// A report of a cluster, with tables, names and blank corners as in pages from 11.2 to 19c.
pub(crate) const CLUSTER_PAGE: &str = include_str!("made/reports/cluster.html");
pub(crate) const CELLS: &str = include_str!("../../fuzz/corpus/trace/cells.trc");
pub(crate) const OLD_STATSPACK: &str = include_str!("../../fuzz/corpus/statspack/sp.lst");

/// The corpus, the name and the content of each file.
pub(crate) fn of_all_corpora() -> Vec<(String, String, Vec<u8>)> {
    let entries = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let corpora = entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus"));
    let files = corpora.iter().flat_map(|corpus| entries(corpus).into_iter().map(|file| (name(corpus), file)));
    files.map(|(corpus, file)| (corpus, name(&file), fs::read(&file).unwrap())).collect()
}

/// The format, the name and the text of a file of each format.
pub(crate) fn of_each_format() -> Vec<(String, String, String)> {
    let files = of_all_corpora().into_iter().filter(|(_, name, _)| name.contains('.'));
    files.map(|(format, name, content)| (format, name, String::from_utf8(content).unwrap())).collect()
}
