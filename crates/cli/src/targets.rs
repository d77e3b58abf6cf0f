//! The targets of a run: one, several given one by one, or the lines of a file.

use std::path::Path;

use clap::ArgMatches;
use mindful_core::plan::settings::{Origin, Setting, Settings};
use mindful_core::ranks::assignment::{MOST_TARGETS, split_urls};
use mindful_core::{Error, Result};
use mindful_record::file;

use crate::plan_file::{MOST_BYTES, whose};
use crate::registry;

/// What begins the name of a file with a target a line.
const LIST: char = '@';
/// Rights of others to read.
const OTHERS_READ: u32 = 0o044;

/// The value of `--target`, where it is given several times one a line.
pub fn given(matches: &ArgMatches) -> Option<String> {
    let all: Vec<&str> = matches.try_get_many::<String>("target").ok()??.map(String::as_str).collect();
    Some(all.join("\n"))
}

/// Puts the lines of a file in place of its name.
///
/// # Errors
/// It cannot be read, or may be the work of someone else.
pub fn read_list(settings: &mut Settings) -> Result<()> {
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

/// The targets in a file: one a line, without what follows a `#` at the beginning of a word.
fn lines(path: &Path) -> Result<Vec<String>> {
    let place = path.display();
    let unread = |error: std::io::Error| {
        Error::plan(format!("{place} cannot be read: {error}"), "give --target @FILE, a file with one target a line")
    };
    let refused =
        |why: &str| Error::plan(format!("{place} is not read: {why}"), "look at what it says and whose it is");
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
        return Err(refused("it names no target"));
    }
    let secret = |url: &String| registry::find(url).is_ok_and(|engine| engine.redact(url) != *url);
    if mode & OTHERS_READ != 0 && all.iter().any(secret) {
        return Err(refused("it holds a password, and others may read it (chmod go-r)"));
    }
    Ok(all)
}

/// All targets in `settings`, of which there is at least one: of one engine, none twice.
///
/// # Errors
/// They cannot be measured together.
pub fn all(settings: &Settings) -> Result<Vec<String>> {
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
                format!("{place}: one target is of {}, another of {}", engine.name(), other.name()),
                "give targets of one engine: their figures are added up",
            ));
        }
        if all.iter().take(at).any(|before| before == url) {
            return Err(Error::plan(
                format!("{place}: {} is there twice", engine.redact(url)),
                "give each target once; --target-weights gives one of them more sessions",
            ));
        }
    }
    Ok(all)
}

/// Refuses several targets, for a verb that takes one.
pub fn refuse_several(settings: &Settings) -> Result<()> {
    let several = settings.get("target").map_or(0, |text| split_urls(text).count());
    if several < 2 {
        return Ok(());
    }
    Err(Error::plan(
        format!("{}: {several} targets", settings.describe_place("target")),
        "`mindful run` alone takes several; give one of them here",
    ))
}

/// `settings` for the one target `url`.
pub fn with_one(mut settings: Settings, url: &str) -> Settings {
    let origin = of(&settings).map_or(Origin::Default, |setting| setting.origin);
    settings.set("target", url, origin);
    settings
}

fn of(settings: &Settings) -> Option<Setting> {
    settings.iter().find(|(name, _)| *name == "target").map(|(_, setting)| setting.clone())
}
