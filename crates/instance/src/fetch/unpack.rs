//! Unpacks an archive that may be hostile.
//!
//! The folder is new and empty. Each name in it is used once, files are only ever created, and links are made when all
//! files are written: so nothing is written over or through anything. A link leads to something inside: `..` is allowed
//! only at its beginning, if the folders above are real ones.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;
use lzma_rust2::XzReader;
use mindful_core::plan::units::format_bytes;
use tar::EntryType;
use zip::ZipArchive;

use super::artefact::{Contents, Files, Limits};

/// Memory limit of unpacking xz, in KiB: four times the need of its strongest level.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// setuid, setgid and sticky.
const SPECIAL_BITS: u32 = 0o7000;

type Refusable<T = ()> = Result<T, String>;

/// Unpacks `archive` into the empty folder `into`. The error is a short reason.
pub(super) fn unpack(archive: File, contents: &Contents, into: &Path, limits: &Limits) -> Refusable {
    let mut zip = ZipArchive::new(archive).map_err(|error| format!("it is not a complete zip ({error})"))?;
    if zip.len() > limits.entries {
        return Err(format!("it has more than {} entries", limits.entries));
    }
    if zip.has_duplicate_names() {
        return Err("a name is in it twice".to_owned());
    }
    let mut tree =
        Tree { root: into, made: BTreeMap::new(), hard: Vec::new(), symbolic: Vec::new(), entries: limits.entries };
    match contents {
        Contents::Tar(ending, files) => {
            let ends = |index: &usize| matches!(zip.name_for_index(*index), Some(Ok(name)) if name.ends_with(ending));
            let index = (0..zip.len()).find(ends);
            let index = index.ok_or_else(|| format!("no {ending} is in it"))?;
            let packed = zip.by_index(index).map_err(|error| error.to_string())?;
            let mut wanted = Wanted::new(files.as_ref());
            if ending.ends_with("gz") {
                tar(GzDecoder::new(packed), &mut wanted, &mut tree, limits)?;
            } else {
                tar(XzReader::new_mem_limit(packed, false, XZ_MEMORY_KIB), &mut wanted, &mut tree, limits)?;
            }
            wanted.all_found()?;
        }
        Contents::Jar(files) => {
            let mut wanted = Wanted::new(Some(files));
            zip_files(&mut zip, &mut wanted, &mut tree, limits)?;
            wanted.all_found()?;
        }
    }
    tree.make_links()
}

fn tar(unpacked: impl Read, wanted: &mut Wanted<'_>, tree: &mut Tree<'_>, limits: &Limits) -> Refusable {
    let text = |error: io::Error| error.to_string();
    let unpacked = Bounded { from: unpacked, left: limits.unpacked, all: limits.unpacked };
    let mut tar = tar::Archive::new(unpacked);
    // Raw: an extended header, which may be of any length, is an entry like another and refused.
    for entry in tar.entries().map_err(text)?.raw(true) {
        let mut entry = entry.map_err(text)?;
        let name = entry.path_bytes().into_owned();
        inside(&name)?;
        let header = entry.header();
        let (mode, bytes) = (header.mode().map_err(text)?, header.size().map_err(text)?);
        if mode & SPECIAL_BITS != 0 {
            return Err(format!("{} is setuid, setgid or sticky", shown(&name)));
        }
        let kind = header.entry_type();
        if !matches!(kind, EntryType::Regular | EntryType::Directory | EntryType::Symlink | EntryType::Link) {
            return Err(format!("{} is a {kind:?}, which no server needs", shown(&name)));
        }
        let Some(below) = wanted.take(&name) else { continue };
        let path = inside(below)?;
        let link = entry.link_name_bytes().map(Cow::into_owned).unwrap_or_default();
        match kind {
            EntryType::Regular => {
                tree.file(&path, bytes, mode & 0o111 != 0 || wanted.may_run(below), &mut entry)?;
            }
            EntryType::Directory => tree.folder(&path)?,
            EntryType::Symlink => tree.symlink(&path, &link)?,
            _ => tree.hard_link(&path, wanted.below(&link).unwrap_or(&link))?,
        }
    }
    // To its end, which contains the sums over all of it.
    io::copy(&mut tar.into_inner(), &mut io::sink()).map(drop).map_err(text)
}

struct Wanted<'a> {
    /// All, where nothing is listed.
    files: Option<&'a Files>,
    found: BTreeSet<&'a str>,
}

impl<'a> Wanted<'a> {
    fn new(files: Option<&'a Files>) -> Self {
        Self { files, found: BTreeSet::new() }
    }

    /// A name of the archive, relative to the folder; `None` for a name outside of it.
    fn below<'n>(&self, name: &'n [u8]) -> Option<&'n [u8]> {
        name.strip_prefix(self.files.map_or("", |files| files.below).as_bytes())
    }

    fn take<'n>(&mut self, name: &'n [u8]) -> Option<&'n [u8]> {
        let below = self.below(name)?;
        if let Some(files) = self.files {
            let is = |one: &&str| {
                if one.ends_with('/') { below.starts_with(one.as_bytes()) } else { below == one.as_bytes() }
            };
            self.found.insert(files.names.iter().copied().find(is)?);
        }
        Some(below)
    }

    fn may_run(&self, below: &[u8]) -> bool {
        self.files.is_some_and(|files| files.programs.iter().any(|one| one.as_bytes() == below))
    }

    fn all_found(&self) -> Refusable {
        let mut names = self.files.iter().flat_map(|files| files.names);
        match names.find(|name| !self.found.contains(*name)) {
            Some(missing) => Err(format!("{missing} is not in it")),
            None => Ok(()),
        }
    }
}

fn zip_files(zip: &mut ZipArchive<File>, wanted: &mut Wanted<'_>, tree: &mut Tree<'_>, limits: &Limits) -> Refusable {
    let mut left = limits.unpacked;
    for index in 0..zip.len() {
        let entry = zip.by_index(index).map_err(|error| error.to_string())?;
        let name = entry.name_raw().to_owned();
        inside(&name)?;
        let kind = entry.unix_mode().unwrap_or(0);
        // The upper bits are the type: a file, a folder, or 0 if the archive was made elsewhere.
        if !matches!(kind & 0o170_000, 0 | 0o100_000 | 0o040_000) {
            return Err(format!("{} is neither a file nor a folder", shown(&name)));
        }
        let Some(below) = wanted.take(&name) else { continue };
        let path = inside(below)?;
        if entry.is_dir() {
            tree.folder(&path)?;
            continue;
        }
        let mut from = Bounded { from: entry, left, all: limits.unpacked };
        let bytes = from.from.size();
        tree.file(&path, bytes, wanted.may_run(below), &mut from)?;
        left = from.left;
    }
    Ok(())
}

fn inside(name: &[u8]) -> Refusable<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(std::ffi::OsStr::from_bytes(name));
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => clean.push(part),
            Component::CurDir => {}
            _ => return Err(format!("{} leads out of the folder", shown(name))),
        }
    }
    if name.iter().any(u8::is_ascii_control) {
        return Err(format!("{} has a control character in its name", shown(name)));
    }
    Ok(clean)
}

fn shown(name: &[u8]) -> String {
    format!("`{}`", String::from_utf8_lossy(name).escape_debug())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    Folder,
    File,
    Link,
}

/// Contents of the folder so far.
struct Tree<'a> {
    root: &'a Path,
    made: BTreeMap<PathBuf, Made>,
    /// Links and their targets.
    hard: Vec<(PathBuf, PathBuf)>,
    symbolic: Vec<(PathBuf, PathBuf)>,
    entries: usize,
}

impl Tree<'_> {
    /// Takes a name for something new, and makes the folders above it.
    fn claim(&mut self, path: &Path, what: Made) -> Refusable {
        self.entries = self.entries.checked_sub(1).ok_or("it has too many entries")?;
        if path.as_os_str().is_empty() || self.made.contains_key(path) {
            return Err(format!("`{}` is in it twice", path.display()));
        }
        match path.parent() {
            Some(above) if !above.as_os_str().is_empty() => self.folder(above)?,
            _ => {}
        }
        self.made.insert(path.to_owned(), what);
        Ok(())
    }

    fn folder(&mut self, path: &Path) -> Refusable {
        match self.made.get(path) {
            Some(Made::Folder) => return Ok(()),
            Some(_) => return Err(format!("`{}` is a folder and something else", path.display())),
            None if path.as_os_str().is_empty() => return Ok(()),
            None => self.claim(path, Made::Folder)?,
        }
        let full = self.root.join(path);
        let made = DirBuilder::new().mode(0o700).create(&full);
        made.and_then(|()| fs::set_permissions(&full, Permissions::from_mode(0o755))).map_err(|error| at(path, &error))
    }

    fn file(&mut self, path: &Path, bytes: u64, runs: bool, from: &mut impl Read) -> Refusable {
        self.claim(path, Made::File)?;
        let failed = |error: io::Error| at(path, &error);
        let full = self.root.join(path);
        let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(full).map_err(failed)?;
        let came = io::copy(from, &mut to).map_err(failed)?;
        if came != bytes {
            return Err(format!("`{}` ends after {came} of {bytes} bytes", path.display()));
        }
        to.flush()
            .and_then(|()| to.set_permissions(Permissions::from_mode(if runs { 0o755 } else { 0o644 })))
            .map_err(failed)
    }

    fn symlink(&mut self, path: &Path, target: &[u8]) -> Refusable {
        use std::os::unix::ffi::OsStrExt;
        self.claim(path, Made::Link)?;
        let target = Path::new(std::ffi::OsStr::from_bytes(target));
        let mut above = path.components().count() - 1;
        let mut within = !target.as_os_str().is_empty();
        let mut down = false;
        for component in target.components() {
            match component {
                Component::ParentDir if !down && above > 0 => above -= 1,
                Component::Normal(_) => down = true,
                Component::CurDir => {}
                _ => within = false,
            }
        }
        if !within {
            return Err(format!("the link `{}` leads out of the folder, to `{}`", path.display(), target.display()));
        }
        self.symbolic.push((path.to_owned(), target.to_owned()));
        Ok(())
    }

    /// A second name of a file that came before.
    fn hard_link(&mut self, path: &Path, target: &[u8]) -> Refusable {
        self.claim(path, Made::Link)?;
        let target = inside(target)?;
        if self.made.get(&target) != Some(&Made::File) {
            return Err(format!(
                "the link `{}` does not lead to a file of the archive, but to `{}`",
                path.display(),
                target.display()
            ));
        }
        self.hard.push((path.to_owned(), target));
        Ok(())
    }

    /// Hard links first, while nothing can lead anywhere.
    fn make_links(self) -> Refusable {
        for (path, target) in &self.hard {
            fs::hard_link(self.root.join(target), self.root.join(path)).map_err(|error| at(path, &error))?;
        }
        for (path, target) in &self.symbolic {
            symlink(target, self.root.join(path)).map_err(|error| at(path, &error))?;
        }
        Ok(())
    }
}

fn at(path: &Path, error: &io::Error) -> String {
    format!("`{}`: {error}", path.display())
}

/// Fails when more comes than was allowed.
struct Bounded<R> {
    from: R,
    left: u64,
    all: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)? as u64;
        self.left = self
            .left
            .checked_sub(read)
            .ok_or_else(|| io::Error::other(format!("it unpacks to more than {}", format_bytes(self.all))))?;
        Ok(read as usize)
    }
}

#[cfg(test)]
mod hostile;
