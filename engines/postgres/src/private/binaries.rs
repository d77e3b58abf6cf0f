//! The PostgreSQL binaries that are used.

use std::path::{Path, PathBuf};

use mindful_core::contract::event::Events;
use mindful_core::plan::settings::nearest;
use mindful_core::{Error, Result};
use mindful_instance::account::Account;
use mindful_instance::fetch::{Artefact, Contents};
use mindful_instance::search::{Known, Search};

use super::options::{OLDEST, Options, Version};

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
    system: &[
        ("/usr/lib/postgresql", "bin"),
        ("/usr", "bin"),
        ("/usr/local", "bin"),
        ("/opt/homebrew/opt", "bin"),
        ("/usr/local/opt", "bin"),
        ("/Library/PostgreSQL", "bin"),
    ],
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

/// SHA-256 of the archives by version and architecture, as in their names.
const PINNED: &[(&str, &str, &str)] = &[
    ("18.6", "amd64", "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1"),
    ("18.6", "arm64v8", "5f54e016723afa6213925a8acb939bac52944b1d348f65c7a20f0cd2928c31be"),
    ("17.11", "amd64", "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d"),
    ("17.11", "arm64v8", "8b042e0ea418b1927d95399207950da0734d27fe01e29503ade3bdc464ad4c2b"),
    ("16.15", "amd64", "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2"),
    ("16.15", "arm64v8", "f846a9989d686b7977d6eca9bc9d8b2b69e3f70c7eb60e032197d9c574a6136c"),
];

/// The archive of version `full` for this platform. One that is not pinned here is compared with the hash that its
/// source publishes.
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
    use crate::private::options::PINNED as VERSIONS;

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
    fn every_known_version_is_pinned_for_both_architectures() {
        for (_, full) in VERSIONS {
            for architecture in ["amd64", "arm64v8"] {
                let pins: Vec<_> = PINNED.iter().filter(|(v, on, _)| v == full && *on == architecture).collect();
                assert!(pins.len() == 1 && pins[0].2.len() == 64, "{full} {architecture}");
            }
        }
    }

    #[test]
    fn a_version_that_is_not_known_is_not_pinned() {
        assert_eq!(artefact("15.14").sha256, None);
    }
}
