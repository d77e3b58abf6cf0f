//! Plan files: the one that `--plan` names, and `mindful.toml`, which is found automatically in the current folder.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use mindful_core::plan::rights::Rights;
use mindful_core::plan::settings::Origin;
use mindful_core::{Error, Result};
use mindful_record::file;
use rustix::process::geteuid;

pub(crate) const NAME: &str = "mindful.toml";
pub(crate) const MOST_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlanFile {
    Named(PathBuf),
    Found(PathBuf),
}

impl PlanFile {
    /// The plan file of a verb that takes the plan, if there is one.
    pub(crate) fn of(matches: &ArgMatches) -> Option<Self> {
        // Verbs that take the plan take a target. A run that is resumed or repeated has its plan in its record.
        matches.try_get_one::<String>("target").ok()?;
        if ["resume", "again"].iter().any(|name| matches.try_contains_id(name).is_ok_and(|given| given)) {
            return None;
        }
        if let Some(named) = matches.get_one::<String>("plan") {
            return Some(Self::Named(PathBuf::from(named)));
        }
        let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        fs::symlink_metadata(NAME).is_ok().then(|| Self::Found(folder.join(NAME)))
    }

    pub(crate) fn path(&self) -> &Path {
        let (Self::Named(path) | Self::Found(path)) = self;
        path
    }

    pub(crate) fn origin(&self) -> Origin {
        let path = self.path().display().to_string();
        match self {
            Self::Named(_) => Origin::File(path),
            Self::Found(_) => Origin::Found(path),
        }
    }

    /// Its text. A file that was found automatically is refused if another user may have written it.
    pub(crate) fn text(&self) -> Result<String> {
        let text = match self {
            Self::Named(path) => file::open(path).and_then(|file| file::text(file, MOST_BYTES)),
            Self::Found(_) => {
                let opened = file::open_itself(Path::new(NAME)).map_err(|error| self.unread(&error))?;
                if let Some(why) = whose(&opened, Path::new(".")).map_err(|error| self.unread(&error))? {
                    return Err(self.refused(&why));
                }
                file::text(opened, MOST_BYTES)
            }
        };
        text.map_err(|error| self.unread(&error))
    }

    fn unread(&self, error: &std::io::Error) -> Error {
        Error::plan(format!("cannot read {}: {error}", self.path().display()), "pass --plan FILE, or remove it")
    }

    fn refused(&self, why: &str) -> Error {
        Error::plan(
            format!("{} was found, but not read: {why}", self.path().display()),
            format!("check it and pass --plan {NAME}, or remove it"),
        )
    }
}

/// Why another user may have written `file`, which was opened from `folder`. `None` if it belongs to the effective user
/// or root, and no other user can write or replace it.
pub(crate) fn whose(file: &File, folder: &Path) -> std::io::Result<Option<String>> {
    let me = geteuid().as_raw();
    let facts = file.metadata()?;
    let (itself, folder) = (Rights::from_metadata(&facts), Rights::from_metadata(&fs::metadata(folder)?));
    let why = if !itself.belongs_to(me) {
        Some(format!("it belongs to user {}", itself.owner))
    } else if itself.others_write() {
        Some("other users may write it (chmod go-w)".to_owned())
    } else if facts.nlink() > 1 {
        Some("it has more than one name (hard links)".to_owned())
    } else if !folder.belongs_to(me) {
        Some(format!("its folder belongs to user {}", folder.owner))
    } else if folder.others_write() && !folder.is_sticky() {
        Some("other users may write its folder".to_owned())
    } else {
        None
    };
    Ok(why)
}
