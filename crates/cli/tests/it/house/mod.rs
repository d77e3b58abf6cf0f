//! The shape of the house: the direction of imports, and pages and manifests that agree with the code.

mod architecture;
mod circles;
mod dependencies;
mod findings;
#[cfg(all(feature = "postgres", feature = "raw"))]
mod first_day;
mod lies;
pub(crate) mod metrics;
mod packages;
mod security_page;
mod summary_schema;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::mindful::files;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn members() -> Vec<PathBuf> {
    let parents = ["crates", "engines"].into_iter().map(|parent| root().join(parent));
    parents.flat_map(|parent| fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path())).collect()
}

/// All files of Rust in a folder, or a file of Rust; none where there is neither.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = match folder {
        _ if folder.is_dir() => files(folder),
        _ if folder.is_file() => vec![folder.to_owned()],
        _ => Vec::new(),
    };
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files
}

fn all_sources() -> Vec<PathBuf> {
    members().iter().flat_map(|member| sources(member)).collect()
}

fn rust(folder: &Path) -> String {
    sources(folder).iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

fn test_names(text: &str) -> BTreeSet<String> {
    let marked = text.split("#[test]").skip(1).filter_map(|rest| rest.split_once("fn "));
    marked.filter_map(|(_, rest)| Some(rest.split_once('(')?.0.to_owned())).collect()
}
