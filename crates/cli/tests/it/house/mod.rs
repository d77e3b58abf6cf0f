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

/// The folders of crates in `parent`.
fn crates(parent: &str) -> BTreeSet<String> {
    let folders = fs::read_dir(root().join(parent)).unwrap().map(|entry| entry.unwrap());
    let folders = folders.filter(|folder| folder.path().join("Cargo.toml").exists());
    folders.map(|folder| format!("{parent}/{}", folder.file_name().into_string().unwrap())).collect()
}

/// A file of the project.
pub(crate) fn text(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn table(path: impl AsRef<Path>) -> toml::Table {
    text(path).parse().unwrap()
}

/// All files of Rust in a folder, or a file of Rust, each with its text; none where there is neither.
fn sources(folder: impl AsRef<Path>) -> Vec<(PathBuf, String)> {
    let folder = root().join(folder);
    let files = if folder.is_dir() { files(&folder) } else { Vec::from_iter(folder.is_file().then_some(folder)) };
    let rust = files.into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|file| (file.clone(), text(file))).collect()
}

fn all_sources() -> Vec<(PathBuf, String)> {
    members().iter().flat_map(sources).collect()
}

fn rust(folder: &Path) -> String {
    sources(folder).into_iter().map(|(_, text)| text).collect()
}

/// The code of a file that is compiled into its crate.
fn product(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap()
}

fn all_test_names() -> BTreeSet<String> {
    all_sources().iter().flat_map(|(_, text)| test_names(text)).collect()
}

fn test_names(text: &str) -> BTreeSet<String> {
    let marked = text.split("#[test]").skip(1).filter_map(|rest| rest.split_once("fn "));
    marked.filter_map(|(_, rest)| Some(rest.split_once('(')?.0.to_owned())).collect()
}
