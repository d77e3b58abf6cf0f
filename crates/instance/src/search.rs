//! Finds the programs of a database server: given, fetched before, fetched now, or the system's.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use mindful_core::contract::event::{Events, emit_note};
use mindful_core::{Error, Result};

use crate::account::Account;
use crate::fetch::{Artefact, check_owner, fetch, others_may_change};

/// Names of a database server's programs, and their possible places.
#[derive(Debug)]
pub struct Known {
    /// For messages: `PostgreSQL`.
    pub name: &'static str,
    /// The programs that have to be in a folder; the last one serves.
    pub programs: &'static [&'static str],
    /// The option that makes the last one print its version.
    pub ask: &'static str,
    pub version: fn(&str) -> Option<&str>,
    /// Their folder in the fetched archive.
    pub below: &'static str,
    /// Folders of them in common systems, in addition to `PATH`; any name may be between the two parts.
    pub system: &'static [(&'static str, &'static str)],
    /// The options for a folder and for a version.
    pub options: [&'static str; 2],
    /// The command that prints the folder of an installed one.
    pub hint: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    pub bin: PathBuf,
    /// Such as `18.6`.
    pub version: String,
}

pub struct Search<'a> {
    pub known: &'static Known,
    /// The folder that a user gave.
    pub given: Option<&'a Path>,
    /// The version that is fetched, in full.
    pub version: &'a str,
    /// Whether another version of the given folder or of the system may be used.
    pub fits: &'a dyn Fn(&str) -> bool,
    pub wanted: String,
    /// Where fetched programs are, each version in a folder of its name.
    pub shelf: &'a Path,
    /// The artefact to fetch, and its source; `None` if fetching is off.
    pub source: Option<(Artefact, &'a str)>,
}

impl Search<'_> {
    /// Finds the programs, from the network if they are nowhere else.
    pub fn find(&self, account: &Account, events: &dyn Events) -> Result<Programs> {
        if let Some(bin) = self.given {
            return self.check(bin, account);
        }
        let place = account.reach(self.shelf, "--fetch-dir")?;
        let fetched = place.join(self.version).join(self.known.below);
        for folder in [&place, &place.join(self.version)].into_iter().filter(|_| fetched.exists()) {
            check_owner(folder)?;
        }
        let missing = if self.is_in(&fetched) {
            None
        } else if let Some((artefact, url)) = &self.source {
            let fetched = fetch(artefact, url, &place, self.version, account, events);
            fetched.err().map(|why| format!("fetching it failed: {why}"))
        } else {
            Some("--fetch is off".to_owned())
        };
        let Some(reason) = missing else {
            return Ok(Programs { bin: fetched, version: self.version.to_owned() });
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let system = self.newest(&self.system_folders(&path), account, events).ok_or_else(|| self.none(&reason))?;
        let what = format!("{} {} is not here ({reason})", self.known.name, self.version);
        emit_note(events, format!("{what}: using {} of {}", system.version, system.bin.display()));
        Ok(system)
    }

    fn none(&self, reason: &str) -> Error {
        let (name, option) = (self.known.name, self.known.options[0]);
        Error::target(
            format!("no {name} {} to start ({reason})", self.version),
            format!(
                "pass {option} DIR with a {name} of your own, connect to the network once so that it can be fetched, or \
                 measure without a server by --target sqlite:PATH"
            ),
        )
    }

    fn check(&self, bin: &Path, account: &Account) -> Result<Programs> {
        let Known { name, programs, hint, options: [option, version], .. } = self.known;
        let bin = account.reach(bin, option)?;
        if !self.is_in(&bin) {
            return Err(Error::plan(
                format!("{option} {} does not hold {}", bin.display(), programs.join(" and ")),
                format!("name the folder that contains them; {hint} prints it"),
            ));
        }
        let found = self.ask(&bin, account).ok_or_else(|| {
            let asked = format!("{} {}", self.server(), self.known.ask);
            Error::plan(
                format!("{option} {}: `{asked}` as user {} does not print a version", bin.display(), account.name),
                format!("try it by hand, or omit {option}"),
            )
        })?;
        if (self.fits)(&found.version) {
            return Ok(found);
        }
        Err(Error::plan(
            format!("{option} {} is {name} {}, but {} is required", bin.display(), found.version, self.wanted),
            format!("pass {option} or {version}, not both"),
        ))
    }

    fn is_in(&self, bin: &Path) -> bool {
        self.known.programs.iter().all(|program| bin.join(program).is_file())
    }

    fn server(&self) -> &'static str {
        self.known.programs.last().copied().unwrap_or_default()
    }

    /// Why others may change the programs of a folder, or the targets of their links.
    fn others_may_change(&self, bin: &Path) -> Option<String> {
        let programs = self.known.programs.iter().map(|program| bin.join(program));
        let why = |path: PathBuf| path.canonicalize().and_then(|path| others_may_change(&path));
        [bin.to_owned()]
            .into_iter()
            .chain(programs)
            .find_map(|path| why(path).unwrap_or_else(|error| Some(error.to_string())))
    }

    fn ask(&self, bin: &Path, account: &Account) -> Option<Programs> {
        let mut asked = account.command(bin.join(self.server()), Path::new("/"));
        let output = asked.arg(self.known.ask).stderr(Stdio::null()).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        Some(Programs { bin: bin.to_owned(), version: (self.known.version)(&text)?.to_owned() })
    }

    /// Every folder in which the system may have them: those of PATH, then the usual ones. A relative entry of PATH,
    /// such as an empty one, means the current folder, which anybody may have filled.
    fn system_folders(&self, path: &OsStr) -> Vec<PathBuf> {
        // The program in PATH is often a link or a wrapper, without the other files of the installation.
        let linked = |folder: PathBuf| match folder.join(self.server()).canonicalize() {
            Ok(program) => program.parent().map_or(folder, Path::to_owned),
            Err(_) => folder,
        };
        let absolute = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        let mut folders: Vec<_> = absolute.map(linked).collect();
        for (top, below) in self.known.system {
            let Ok(entries) = std::fs::read_dir(top) else { continue };
            folders.extend(entries.flatten().map(|entry| entry.path().join(below)));
        }
        folders
    }

    /// The newest suitable one, the first among equals. Programs that others may change are not run, even for their
    /// version.
    fn newest(&self, folders: &[PathBuf], account: &Account, events: &dyn Events) -> Option<Programs> {
        let mut best: Option<Programs> = None;
        for folder in folders.iter().filter(|folder| self.is_in(folder)) {
            let Ok(folder) = folder.canonicalize() else { continue };
            if let Some(why) = self.others_may_change(&folder) {
                let option = self.known.options[0];
                emit_note(events, format!("{} is not used: {why}; {option} uses it anyway", folder.display()));
                continue;
            }
            let Some(found) = self.ask(&folder, account) else { continue };
            let newer = best.as_ref().is_none_or(|best| order(&found.version) > order(&best.version));
            if newer && (self.fits)(&found.version) {
                best = Some(found);
            }
        }
        best
    }
}

fn order(version: &str) -> Vec<u32> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use mindful_conformance::write_program;

    use mindful_core::contract::event::Silent;

    use super::*;

    static KNOWN: Known = Known {
        name: "Some",
        programs: &["some-init", "somed"],
        ask: "--version",
        version: |said| said.split("Ver ").nth(1)?.split_whitespace().next(),
        below: "bin",
        system: &[],
        options: ["--some-bin", "--some-version"],
        hint: "`some-config`",
    };

    fn search<'a>(fits: &'a dyn Fn(&str) -> bool, given: Option<&'a Path>) -> Search<'a> {
        Search {
            known: &KNOWN,
            given,
            version: "18.6",
            fits,
            wanted: "another".to_owned(),
            shelf: Path::new("/nowhere"),
            source: None,
        }
    }

    fn folder(top: &Path, version: &str) -> PathBuf {
        let bin = top.join(version).join("bin");
        fs::create_dir_all(&bin).unwrap();
        for program in KNOWN.programs {
            let script = format!("#!/bin/sh\necho \"somed Ver {version} for all, by $1\"\n");
            write_program(&bin.join(program), &script);
        }
        bin
    }

    fn top() -> tempfile::TempDir {
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().unwrap()
    }

    #[test]
    fn the_newest_of_the_system_that_fits_is_taken() {
        let (top, me) = (top(), Account::choose(None).unwrap());
        let folders: Vec<_> =
            ["9.6.24", "15.14", "16.2", "16.10", "17beta1"].iter().map(|v| folder(top.path(), v)).collect();
        let any = |_: &str| true;
        let newest = |fits, folders| search(fits, None).newest(folders, &me, &Silent).map(|found| found.version);
        assert_eq!(newest(&any, &folders).unwrap(), "17beta1");
        assert_eq!(newest(&any, &folders[..4]).unwrap(), "16.10");
        let old = |version: &str| version.starts_with("16.2");
        assert_eq!(newest(&old, &folders).unwrap(), "16.2");
        assert_eq!(newest(&|_| false, &folders), None);
    }

    #[test]
    fn a_relative_part_of_path_names_no_folder() {
        let top = top();
        let bin = folder(top.path(), "16.2");
        let path = std::env::join_paths([Path::new(""), Path::new("."), Path::new("bin"), &bin]).unwrap();
        assert_eq!(search(&|_| true, None).system_folders(&path), [bin.canonicalize().unwrap()]);
    }

    #[test]
    fn programs_that_others_may_change_are_not_even_asked() {
        let (top, me) = (top(), Account::choose(None).unwrap());
        let touched = top.path().join("touched");
        let bin = folder(top.path(), "16.2");
        write_program(&bin.join("somed"), &format!("#!/bin/sh\ntouch {}\necho somed Ver 16.2\n", touched.display()));
        fs::set_permissions(top.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        let found = || search(&|_| true, None).newest(std::slice::from_ref(&bin), &me, &Silent);
        for open in [bin.clone(), bin.join("somed")] {
            fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
            assert_eq!(found(), None, "{}", open.display());
            fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        }
        assert!(!touched.exists());
        assert!(found().is_some() && touched.exists(), "closed again, they are");
    }

    #[test]
    fn programs_that_others_may_have_put_there_are_refused() {
        let (top, me) = (top(), Account::choose(None).unwrap());
        folder(top.path(), "18.6");
        let any = |_: &str| true;
        let found = || Search { shelf: top.path(), ..search(&any, None) }.find(&me, &Silent);
        assert_eq!(found().unwrap().version, "18.6");
        for open in [top.path().to_owned(), top.path().join("18.6")] {
            fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
            let refusal = found().unwrap_err().to_string();
            assert!(refusal.contains("written by others") && refusal.contains("--fetch-dir"), "{refusal}");
            fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    #[test]
    fn a_given_folder_that_does_not_fit_is_refused() {
        let (top, me) = (top(), Account::choose(None).unwrap());
        let bin = folder(top.path(), "16.2");
        let found = |fits: &dyn Fn(&str) -> bool, bin: &Path| {
            search(fits, Some(bin)).find(&me, &Silent).map(|found| found.version).map_err(|error| error.to_string())
        };
        assert_eq!(found(&|_| true, &bin).unwrap(), "16.2");
        let refusal = found(&|_| false, &bin).unwrap_err();
        assert!(refusal.contains("is Some 16.2, but another is required"), "{refusal}");
        let refusal = found(&|_| true, top.path()).unwrap_err();
        assert!(refusal.contains("does not hold some-init and somed"), "{refusal}");
        write_program(&bin.join("somed"), "#!/bin/sh\nexit 1\n");
        let refusal = found(&|_| true, &bin).unwrap_err();
        assert!(refusal.contains("`somed --version` as user"), "{refusal}");
    }

    #[test]
    fn without_any_program_three_next_steps_are_named() {
        let me = Account::choose(None).unwrap();
        let refusal = search(&|_| true, None).find(&me, &Silent).unwrap_err().to_string();
        for way in ["no Some 18.6 to start (--fetch is off)", "--some-bin", "network", "sqlite:"] {
            assert!(refusal.contains(way), "{refusal}");
        }
    }
}
