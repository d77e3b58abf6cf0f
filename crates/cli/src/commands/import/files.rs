//! The files that a command line names, and their contents.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use mindful_core::{Error, Result};
use mindful_import::{OldStep, Source};
use mindful_record::{LOG, file as record_file, pack};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    Run(PathBuf),
    Pack(PathBuf),
    /// A file, or `-` for stdin.
    File {
        path: PathBuf,
        /// Whether the command line names it, and not its folder.
        sure: bool,
    },
}

/// All files of the command line, of its folders and of its patterns.
pub(crate) fn named(matches: &ArgMatches) -> Result<Vec<Named>> {
    let given = matches.get_many::<String>("file").into_iter().flatten();
    let mut all = Vec::new();
    for text in given {
        let path = PathBuf::from(text);
        if !path.exists() && text.contains(['*', '?', '[']) {
            all.extend(of_pattern(text)?);
        } else if path.is_dir() && !path.join(LOG).exists() {
            all.extend(of_folder(&path)?);
        } else {
            all.push(one(path, true));
        }
    }
    Ok(all)
}

/// Whether `named` is a run folder or a pack. A file that calls itself a pack is one, so that a damaged pack is not passed
/// over.
pub(crate) fn is_run(named: &Named) -> bool {
    match named {
        Named::Run(_) | Named::Pack(_) => true,
        Named::File { path, .. } => path.to_string_lossy().ends_with(".tar.zst"),
    }
}

/// The last part of the path of `named`.
pub(crate) fn file_name(named: &Named) -> String {
    let (Named::Run(path) | Named::Pack(path) | Named::File { path, .. }) = named;
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A run folder, a pack, or all files of a folder.
pub(crate) fn of_path(path: &Path) -> Result<Vec<Named>> {
    if path.is_dir() && !path.join(LOG).exists() { of_folder(path) } else { Ok(vec![one(path.to_owned(), true)]) }
}

fn one(path: PathBuf, sure: bool) -> Named {
    if path.join(LOG).exists() {
        Named::Run(path)
    } else if pack::is_pack(&path) {
        Named::Pack(path)
    } else {
        Named::File { path, sure }
    }
}

fn of_folder(folder: &Path) -> Result<Vec<Named>> {
    let cannot = |error: std::io::Error| {
        Error::plan(format!("cannot read {}: {error}", folder.display()), "check its permissions")
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        paths.push(entry.map_err(cannot)?.path());
    }
    paths.sort();
    let named: Vec<_> = paths.into_iter().map(|path| one(path, false)).collect();
    let wanted = |named: &Named| {
        matches!(named, Named::Run(_) | Named::Pack(_)) || matches!(named, Named::File { path, .. } if path.is_file())
    };
    let named: Vec<_> = named.into_iter().filter(wanted).collect();
    if named.is_empty() { Err(nothing(&folder.display().to_string())) } else { Ok(named) }
}

fn of_pattern(pattern: &str) -> Result<Vec<Named>> {
    let bad =
        |error: glob::PatternError| Error::plan(format!("invalid pattern `{pattern}`: {error}"), "name the files");
    let paths = glob::glob(pattern).map_err(bad)?.filter_map(std::result::Result::ok);
    let named: Vec<_> = paths.map(|path| one(path, false)).collect();
    if named.is_empty() { Err(nothing(pattern)) } else { Ok(named) }
}

fn nothing(place: &str) -> Error {
    Error::plan(format!("no files in {place}"), "name files, a folder, or a pattern such as 'awr*.txt'")
}

pub(crate) fn read(path: &Path) -> Result<Vec<OldStep>> {
    open(path)?.read()
}

/// Opens a file and recognizes its format; `-` is stdin.
pub(crate) fn open(path: &Path) -> Result<Source> {
    let name = path.display().to_string();
    let plain: Box<dyn Read> = if name == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(
            record_file::open(path)
                .map_err(|error| Error::plan(format!("cannot read {name}: {error}"), "name a file, or - for stdin"))?,
        )
    };
    mindful_import::recognised(&name, plain)
}
