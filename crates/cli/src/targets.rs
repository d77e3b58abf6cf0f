//! The targets of a run: one, several flags, or the lines of a file.

use std::path::Path;

use clap::ArgMatches;
use mindful_core::plan::settings::{Origin, Setting, Settings};
use mindful_core::ranks::{MOST_TARGETS, split_urls};
use mindful_core::{Error, Result};
use mindful_record::file;

use crate::plan_file::{MOST_BYTES, whose};
use crate::registry;

/// Prefix of a file with one target a line.
const LIST: char = '@';
const OTHERS_READ: u32 = 0o044;

/// The values of `--target`, one a line.
pub(crate) fn given(matches: &ArgMatches) -> Option<String> {
    let all: Vec<&str> = matches.try_get_many::<String>("target").ok()??.map(String::as_str).collect();
    Some(all.join("\n"))
}

/// Replaces the name of a file by its lines.
///
/// # Errors
/// The file cannot be read, or another user may have written it.
pub(crate) fn read_list(settings: &mut Settings) -> Result<()> {
    let Some(setting) = of(settings).filter(|setting| setting.value.contains(LIST)) else { return Ok(()) };
    let mut all = Vec::new();
    for url in split_urls(&setting.value) {
        match url.strip_prefix(LIST) {
            Some(path) => {
                all.extend(lines(Path::new(path)).map_err(|error| error.at(settings.describe_place("target")))?);
            }
            None => all.push(url.to_owned()),
        }
    }
    settings.set("target", all.join("\n"), setting.origin);
    Ok(())
}

/// The targets in a file, one a line. A comment starts with `#` at the start of a word.
fn lines(path: &Path) -> Result<Vec<String>> {
    let place = path.display();
    let unread = |error: std::io::Error| {
        Error::plan(format!("cannot read {place}: {error}"), "pass --target @FILE, a file with one target a line")
    };
    let refused = |why: &str| Error::plan(format!("{place} is not read: {why}"), "check its contents and its owner");
    let opened = file::open(path).map_err(unread)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    if let Some(why) = whose(&opened, folder).map_err(unread)? {
        return Err(refused(&why));
    }
    let mode = std::os::unix::fs::MetadataExt::mode(&opened.metadata().map_err(unread)?);
    let text = file::text(opened, MOST_BYTES).map_err(unread)?;
    let without_remark = |line: &str| {
        let remark = line.find(" #").or_else(|| line.starts_with('#').then_some(0));
        line.get(..remark.unwrap_or(line.len())).unwrap_or_default().trim().to_owned()
    };
    let all: Vec<String> = text.lines().map(without_remark).filter(|url| !url.is_empty()).collect();
    if all.is_empty() {
        return Err(refused("it contains no target"));
    }
    let secret = |url: &String| registry::find(url).is_ok_and(|engine| engine.redact(url) != *url);
    if mode & OTHERS_READ != 0 && all.iter().any(secret) {
        return Err(refused("it contains a password, and other users may read it (chmod go-r)"));
    }
    Ok(all)
}

/// All targets in `settings`, at least one.
///
/// # Errors
/// There are too many, two are equal, or they have different engines.
pub(crate) fn all(settings: &Settings) -> Result<Vec<String>> {
    let text = settings.get("target").unwrap_or_default();
    let all: Vec<String> = split_urls(text).map(str::to_owned).collect();
    let (place, Some(first)) = (settings.describe_place("target"), all.first()) else {
        return Ok(vec![text.to_owned()]);
    };
    if all.len() > MOST_TARGETS {
        return Err(Error::plan(
            format!("{place}: {} targets", all.len()),
            format!("a run has at most {MOST_TARGETS}"),
        ));
    }
    let engine = registry::find(first)?;
    for (at, url) in all.iter().enumerate().skip(1) {
        let other = registry::find(url)?;
        if other.name() != engine.name() {
            return Err(Error::plan(
                format!("{place}: targets of different engines ({}, {})", engine.name(), other.name()),
                "choose targets of one engine: their figures are summed",
            ));
        }
        if all.iter().take(at).any(|before| before == url) {
            return Err(Error::plan(
                format!("{place}: {} is given twice", engine.redact(url)),
                "pass each target once; --target-weights changes their shares",
            ));
        }
    }
    Ok(all)
}

pub(crate) fn refuse_several(settings: &Settings) -> Result<()> {
    let several = settings.get("target").map_or(0, |text| split_urls(text).count());
    if several < 2 {
        return Ok(());
    }
    Err(Error::plan(
        format!("{}: {several} targets", settings.describe_place("target")),
        "only `mindful run` takes several; pass one",
    ))
}

pub(crate) fn with_one(mut settings: Settings, url: &str) -> Settings {
    let origin = of(&settings).map_or(Origin::Default, |setting| setting.origin);
    settings.set("target", url, origin);
    settings
}

fn of(settings: &Settings) -> Option<Setting> {
    settings.iter().find(|(name, _)| *name == "target").map(|(_, setting)| setting.clone())
}
