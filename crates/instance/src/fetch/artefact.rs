//! A file to fetch: its address, its hash, and the files to extract from it.

/// The address of archives unless the user names a mirror: a repository in the layout of Maven.
pub const BASE: &str = "https://repo1.maven.org/maven2";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artefact {
    /// For messages: `PostgreSQL 18.6`.
    pub what: String,
    /// Coordinates in the repository: group, artefact and version.
    pub coordinates: [String; 3],
    /// SHA-256 of the archive, in hexadecimal; `None` if only its source guarantees its contents.
    pub sha256: Option<&'static str>,
    pub contents: Contents,
}

/// Files in an archive (a jar, which is a zip) that are extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// All or some files of the one tar in it with this end of its name. `gz` means gzip, any other end xz.
    Tar(&'static str, Option<Files>),
    Jar(Files),
}

/// Files and whole folders (`share/`) of an archive; nothing else of it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Files {
    /// The folder in the archive that becomes the folder on the shelf, with a slash at its end, or nothing.
    pub below: &'static str,
    /// Names below it. A name that ends with a slash means all that is in that folder.
    pub names: &'static [&'static str],
    /// Executable files, in addition to those that a tar marks: a jar does not contain permissions.
    pub programs: &'static [&'static str],
}

/// Limits of an archive. The largest in use is about half of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub packed: u64,
    pub unpacked: u64,
    /// Files, folders and links.
    pub entries: usize,
}

pub(super) const LIMITS: Limits = Limits { packed: 320 << 20, unpacked: 1 << 30, entries: 20_000 };

impl Artefact {
    pub(crate) fn url(&self, base: &str) -> String {
        let [group, artefact, version] = &self.coordinates;
        let group = group.replace('.', "/");
        format!("{}/{group}/{artefact}/{version}/{artefact}-{version}.jar", base.trim_end_matches('/'))
    }
}
