//! The PostgreSQL binaries that are used.

use std::path::{Path, PathBuf};

use mindful_core::contract::event::Events;
use mindful_core::plan::settings::nearest;
use mindful_core::{Error, Result};
use mindful_instance::account::Account;
use mindful_instance::fetch::{Artefact, Contents};
use mindful_instance::search::{Known, Search};

use super::options::{OLDEST, Options, PINNED, Version};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binaries {
    pub bin: PathBuf,
    pub version: String,
    pub major: u32,
}

static KNOWN: Known = Known {
    name: "PostgreSQL",
    programs: &["initdb", "postgres"],
    ask: "-V",
    // `postgres (PostgreSQL) 18.6 (…)`
    version: |said| said.split("(PostgreSQL) ").nth(1)?.split_whitespace().next(),
    below: "bin",
    system: &[("/usr/lib/postgresql", "bin"), ("/usr", "bin"), ("/usr/local", "bin")],
    options: ["--pg-bin", "--pg-version"],
    hint: "`pg_config --bindir`",
};

impl Binaries {
    /// Finds the binaries, from the network if they are nowhere else.
    pub(super) fn find(options: &Options, base: &Path, account: &Account, events: &dyn Events) -> Result<Self> {
        let (version, full) = (&options.version, &options.version.full);
        let search = Search {
            known: &KNOWN,
            given: options.pg_bin.as_deref(),
            version: full,
            fits: &|found| fits(found, version),
            wanted: if version.given { full.clone() } else { format!("{OLDEST} or newer") },
            shelf: &options.server.fetch_dir.clone().unwrap_or_else(|| base.join("postgresql")),
            source: options.server.fetch.then(|| (artefact(full), options.server.fetch_url.as_str())),
        };
        let found = search.find(account, events)?;
        Ok(Self { major: major(&found.version).unwrap_or(version.major), bin: found.bin, version: found.version })
    }

    /// Checks names and values of server settings that a user gave, without a data directory: the server reads its
    /// arguments before it misses one.
    pub(super) fn check_settings(&self, set: &[(String, String)], account: &Account) -> Result<()> {
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

    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }
}

/// Such as 17 of `17beta1`.
fn major(version: &str) -> Option<u32> {
    let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..digits].parse().ok()
}

/// Whether binaries may be used: new enough, and of the requested version.
fn fits(found: &str, wanted: &Version) -> bool {
    let same = major(found) == Some(wanted.major) && (!wanted.exact || found == wanted.full);
    major(found).is_some_and(|major| major >= OLDEST) && (!wanted.given || same)
}

/// The archive of version `full` for this platform. One that is not pinned is compared with the hash that its source
/// publishes.
fn artefact(full: &str) -> Artefact {
    let architecture = architecture();
    let pinned = PINNED.iter().find(|(version, on, _)| *version == full && *on == architecture);
    Artefact {
        what: format!("PostgreSQL {full}"),
        coordinates: [
            "io.zonky.test.postgres".to_owned(),
            format!("embedded-postgres-binaries-linux-{architecture}"),
            format!("{full}.0"),
        ],
        sha256: pinned.map(|(_, _, hash)| *hash),
        contents: Contents::Tar(".txz", None),
    }
}

fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "arm" => "arm32v7",
        "x86_64" => "amd64",
        "aarch64" => "arm64v8",
        "powerpc64" => "ppc64le",
        "x86" => "i386",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requested_version_is_not_replaced_and_an_old_one_unused() {
        let wanted = |given, exact| Version { major: 18, full: "18.6".to_owned(), exact, given };
        for (found, any, major, exact) in [
            ("9.6.24", false, false, false),
            ("16.10", true, false, false),
            ("18beta1", true, true, false),
            ("18.2", true, true, false),
            ("18.6", true, true, true),
            ("of no sense", false, false, false),
        ] {
            assert_eq!(fits(found, &wanted(false, false)), any, "{found}");
            assert_eq!(fits(found, &wanted(true, false)), major, "{found}");
            assert_eq!(fits(found, &wanted(true, true)), exact, "{found}");
        }
    }

    #[test]
    fn the_version_is_found_in_the_output_of_postgres() {
        let version = KNOWN.version;
        assert_eq!(version("postgres (PostgreSQL) 16.10 (Debian 16.10-1.pgdg)\n"), Some("16.10"));
        assert_eq!(version("postgres (PostgreSQL) 17beta1\n"), Some("17beta1"));
        assert_eq!(version("mariadbd  Ver 11.4.5-MariaDB"), None);
    }

    #[test]
    fn a_known_version_is_pinned_and_another_is_not() {
        assert_eq!(artefact("18.6").sha256.map(str::len), Some(64));
        assert_eq!(artefact("15.14").sha256, None);
        for major in ["18.", "17.", "16."] {
            let of_major = PINNED.iter().filter(|(full, ..)| full.starts_with(major));
            let rows: Vec<_> = of_major.map(|(full, on, sum)| (*on, *full, sum.len())).collect();
            assert_eq!(rows, [("amd64", rows[0].1, 64), ("arm64v8", rows[0].1, 64)], "{major}");
        }
    }
}
