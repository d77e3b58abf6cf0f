//! Which PostgreSQL binaries are used: given, fetched before, fetched now, or the system's.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use mindful_core::event::{Events, note};
use mindful_core::settings::nearest;
use mindful_core::{Error, Result};

use super::fetch;
use super::options::{OLDEST, Options, Version};
use mindful_instance::account::Account;

/// A folder with initdb and postgres, and what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    /// The folder.
    pub bin: PathBuf,
    /// Such as `18.6`.
    pub version: String,
    /// Such as 18.
    pub major: u32,
}

/// Folders in which systems keep PostgreSQL; `*` stands for a version.
const SYSTEM_FOLDERS: &[(&str, &str)] = &[
    ("/usr/lib/postgresql", "bin"),
    ("/usr", "bin"),
    ("/usr/local", "bin"),
    ("/opt/homebrew/opt", "bin"),
    ("/usr/local/opt", "bin"),
    ("/Library/PostgreSQL", "bin"),
];

impl Binaries {
    /// Finds the binaries, from the network if they are nowhere else.
    pub fn find(options: &Options, base: &Path, account: &Account, events: &dyn Events) -> Result<Self> {
        if let Some(bin) = &options.pg_bin {
            return given(bin, &options.version, account);
        }
        let shelf = options.fetch_dir.clone().unwrap_or_else(|| base.join("postgresql"));
        let shelf = account.reach(&shelf, "--fetch-dir")?;
        let full = &options.version.full;
        let fetched = shelf.join(full).join("bin");
        let missing = if has_programs(&fetched) {
            None
        } else if options.fetch {
            let artefact = fetch::artefact(full);
            let fetched = mindful_instance::fetch::fetch(&artefact, &options.fetch_url, &shelf, full, account, events);
            fetched.err().map(|why| format!("fetching it failed: {why}"))
        } else {
            Some("--fetch is off".to_owned())
        };
        let Some(reason) = missing else {
            return Ok(Self { bin: fetched, version: full.clone(), major: options.version.major });
        };
        match newest(&system_folders(), &options.version, account) {
            Some(system) => {
                let what = format!("PostgreSQL {full} is not here ({reason})");
                note(events, format!("{what}: using {} of {}", system.version, system.bin.display()));
                Ok(system)
            }
            None => Err(none_found(full, &reason)),
        }
    }

    /// Checks names and values of server settings that a user gave, without a data directory: the server reads its
    /// arguments before it misses one.
    pub fn check_settings(&self, set: &[(String, String)], account: &Account) -> Result<()> {
        for (name, value) in set {
            let mut command = account.command(self.program("postgres"), Path::new("/"));
            let output = command.args(["-C", "port", "-c", &format!("{name}={value}")]).output();
            let said = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).unwrap_or_default();
            let Some((_, why)) = said.lines().find_map(|line| line.split_once("FATAL:")) else { continue };
            let next = match nearest(name, self.setting_names(account).iter().map(String::as_str)) {
                Some(near) if near != name => format!("did you mean `{near}`?"),
                _ => format!("see `SHOW {name}` and its page in the PostgreSQL manual"),
            };
            return Err(Error::plan(format!("--set {name}={value}: {}", why.trim()), next));
        }
        Ok(())
    }

    fn setting_names(&self, account: &Account) -> Vec<String> {
        let output = account.command(self.program("postgres"), Path::new("/")).arg("--describe-config").output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        text.lines().filter_map(|line| line.split('\t').next().map(str::to_owned)).collect()
    }

    /// One of the programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }
}

fn none_found(full: &str, reason: &str) -> Error {
    Error::target(
        format!("no PostgreSQL {full} to start ({reason})"),
        "give --pg-bin DIR with a PostgreSQL of your own, connect to the network once so that it can be fetched, or \
         measure without a server by --target sqlite:PATH",
    )
}

fn given(bin: &Path, wanted: &Version, account: &Account) -> Result<Binaries> {
    let bin = account.reach(bin, "--pg-bin")?;
    if !has_programs(&bin) {
        return Err(Error::plan(
            format!("--pg-bin {} does not hold initdb and postgres", bin.display()),
            "name the folder they are in; `pg_config --bindir` tells it",
        ));
    }
    let found = probe(&bin, account).ok_or_else(|| {
        Error::plan(
            format!("--pg-bin {}: `postgres -V` as user {} tells no version", bin.display(), account.name),
            "try it by hand, or leave --pg-bin away",
        )
    })?;
    if found.major < OLDEST || wanted.given && !fits(&found, wanted) {
        let wanted = if wanted.given { wanted.full.clone() } else { format!("{OLDEST} or newer") };
        return Err(Error::plan(
            format!("--pg-bin {} is PostgreSQL {}, wanted is {wanted}", bin.display(), found.version),
            "give --pg-bin or --pg-version, not both",
        ));
    }
    Ok(found)
}

fn fits(found: &Binaries, wanted: &Version) -> bool {
    found.major == wanted.major && (!wanted.exact || found.version == wanted.full)
}

fn has_programs(bin: &Path) -> bool {
    ["initdb", "postgres"].iter().all(|program| bin.join(program).is_file())
}

/// What the binaries of a folder say they are: `postgres (PostgreSQL) 18.6 (…)`.
fn probe(bin: &Path, account: &Account) -> Option<Binaries> {
    let output = account.command(bin.join("postgres"), Path::new("/")).arg("-V").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let version = text.split("(PostgreSQL) ").nth(1)?.split_whitespace().next()?;
    let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    let major = version[..digits].parse().ok()?;
    Some(Binaries { bin: bin.to_owned(), version: version.to_owned(), major })
}

/// Every folder in which the system may keep a PostgreSQL: those of PATH, then the usual ones.
fn system_folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // What is in PATH is often a link or a wrapper, beside which the rest is missing.
    let linked = |folder: PathBuf| match folder.join("postgres").canonicalize() {
        Ok(program) => program.parent().map_or(folder, Path::to_owned),
        Err(_) => folder,
    };
    let mut folders: Vec<_> = std::env::split_paths(&path).map(linked).collect();
    for (top, below) in SYSTEM_FOLDERS {
        let Ok(entries) = std::fs::read_dir(top) else { continue };
        folders.extend(entries.flatten().map(|entry| entry.path().join(below)));
    }
    folders
}

/// The newest that fits, among equals the first.
fn newest(folders: &[PathBuf], wanted: &Version, account: &Account) -> Option<Binaries> {
    let mut best: Option<Binaries> = None;
    for folder in folders.iter().filter(|folder| has_programs(folder)) {
        let Some(found) = probe(folder, account) else { continue };
        let usable = found.major >= OLDEST && (!wanted.given || fits(&found, wanted));
        if usable && best.as_ref().is_none_or(|best| order(&found.version) > order(&best.version)) {
            best = Some(found);
        }
    }
    best
}

fn order(version: &str) -> Vec<u32> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn wanted(major: u32, given: bool) -> Version {
        Version { major, full: format!("{major}.6"), exact: false, given }
    }

    /// A folder whose `postgres` says that it is `version`.
    fn folder(top: &Path, version: &str) -> PathBuf {
        let bin = top.join(version).join("bin");
        fs::create_dir_all(&bin).unwrap();
        for program in ["postgres", "initdb"] {
            fs::write(bin.join(program), format!("#!/bin/sh\necho 'postgres (PostgreSQL) {version} (Some OS)'\n"))
                .unwrap();
            fs::set_permissions(bin.join(program), fs::Permissions::from_mode(0o755)).unwrap();
        }
        bin
    }

    fn top() -> tempfile::TempDir {
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().unwrap()
    }

    #[test]
    fn the_newest_of_the_system_is_taken_and_too_old_ones_never() {
        let (top, me) = (top(), Account::choose(None).unwrap());
        let folders: Vec<_> =
            ["9.6.24", "15.14", "16.2", "16.10", "17beta1"].iter().map(|v| folder(top.path(), v)).collect();
        assert_eq!(newest(&folders, &wanted(18, false), &me).unwrap().version, "17beta1");
        assert_eq!(newest(&folders[..4], &wanted(18, false), &me).unwrap().version, "16.10");
        assert_eq!(newest(&folders[..1], &wanted(18, false), &me), None);
    }

    #[test]
    fn a_version_that_was_asked_for_is_not_replaced_by_another() {
        let (top, me) = (top(), Account::choose(None).unwrap());
        let folders = [folder(top.path(), "16.2"), folder(top.path(), "17.3")];
        assert_eq!(newest(&folders, &wanted(16, true), &me).unwrap().version, "16.2");
        assert_eq!(newest(&folders, &wanted(18, true), &me), None);
        assert!(given(&folders[0], &wanted(17, true), &me).unwrap_err().to_string().contains("16.2"));
    }

    #[test]
    fn a_folder_without_the_programs_is_refused() {
        let (top, me) = (top(), Account::choose(None).unwrap());
        let message = given(top.path(), &wanted(18, false), &me).unwrap_err().to_string();
        assert!(message.contains("does not hold initdb and postgres"), "{message}");
    }

    #[test]
    fn with_nothing_at_all_three_ways_out_are_named() {
        let message = none_found("18.6", "no network").to_string();
        for way in ["--pg-bin", "network", "sqlite:"] {
            assert!(message.contains(way), "{message}");
        }
    }
}
