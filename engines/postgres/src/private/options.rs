//! The options of the private server: PostgreSQL's own, and those of every private server.

use std::path::PathBuf;

use mindful_core::plan::settings::{Key, Settings};
use mindful_core::{Error, Result};
use mindful_instance::options;

use super::kind::KIND;

/// PostgreSQL's own keys, in the order they are shown.
pub const KEYS: &[Key] = &[
    Key::unset("pg_bin", "DIR", "Folder with initdb and postgres (default: fetched, or from the system)").command(),
    Key::with_default(
        "pg_version",
        "VERSION",
        "18",
        "PostgreSQL version to fetch: 16, 17, 18, or in full, such as 18.6",
    ),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub major: u32,
    /// The version to fetch, such as `18.6`.
    pub full: String,
    /// Whether the user set exactly this minor version.
    pub exact: bool,
    /// Whether the user set a version, so that no other major version is used.
    pub given: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub pg_bin: Option<PathBuf>,
    pub(super) version: Version,
    pub server: options::Options,
}

pub(super) const OLDEST: u32 = 15;

/// The minor version that is fetched for a major one, with the SHA-256 of its archive by architecture, as in its name.
pub(super) const PINNED: [(&str, &str, &str); 6] = [
    ("18.6", "amd64", "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1"),
    ("18.6", "arm64v8", "5f54e016723afa6213925a8acb939bac52944b1d348f65c7a20f0cd2928c31be"),
    ("17.11", "amd64", "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d"),
    ("17.11", "arm64v8", "8b042e0ea418b1927d95399207950da0734d27fe01e29503ade3bdc464ad4c2b"),
    ("16.15", "amd64", "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2"),
    ("16.15", "arm64v8", "f846a9989d686b7977d6eca9bc9d8b2b69e3f70c7eb60e032197d9c574a6136c"),
];

impl Options {
    pub fn parse(settings: &Settings) -> Result<Self> {
        let server = options::Options::parse(settings, &KIND)?;
        settings.check_bounds(KEYS)?;
        let mut version =
            settings.parse("pg_version", parse_version)?.map_or_else(|| parse_version("18"), Result::Ok)?;
        version.given = settings.given_text("pg_version").is_some();
        let pg_bin = settings.get("pg_bin").filter(|text| !text.is_empty()).map(PathBuf::from);
        Ok(Self { pg_bin, version, server })
    }
}

fn parse_version(text: &str) -> Result<Version> {
    let bad = |what: &str| {
        Error::plan(format!("`{text}` {what}"), "give 16, 17, 18, or a version in full such as 18.6".to_owned())
    };
    let (major, minor) = match text.trim().split_once('.') {
        Some((major, minor)) => (major, Some(minor.parse::<u32>().map_err(|_| bad("is not a PostgreSQL version"))?)),
        None => (text.trim(), None),
    };
    let major: u32 = major.parse().map_err(|_| bad("is not a PostgreSQL version"))?;
    if major < OLDEST {
        return Err(bad("is too old"));
    }
    let full = match minor {
        Some(minor) => format!("{major}.{minor}"),
        None => PINNED
            .iter()
            .find_map(|(full, ..)| full.starts_with(&format!("{major}.")).then(|| (*full).to_owned()))
            .ok_or_else(|| bad("is not a version known here by its major number alone"))?,
    };
    Ok(Version { major, full, exact: minor.is_some(), given: false })
}

#[cfg(test)]
mod tests {
    use mindful_core::plan::settings::Origin;

    use super::*;

    fn parsed(pairs: &[(&str, &str)]) -> Result<Options> {
        let mut settings = Settings::defaults(KEYS.iter().chain(options::KEYS));
        for (name, value) in pairs {
            settings.set(name, *value, Origin::Flag(format!("--{}", name.replace('_', "-"))));
        }
        Options::parse(&settings)
    }

    #[test]
    fn a_major_version_means_a_pinned_one() {
        assert_eq!(parsed(&[("pg_version", "17")]).unwrap().version.full, "17.11");
        assert_eq!(parsed(&[("pg_version", "15.14")]).unwrap().version.full, "15.14");
        let default = parsed(&[]).unwrap().version;
        assert_eq!((default.full.as_str(), default.given), ("18.6", false));
    }

    #[test]
    fn bad_options_are_refused_with_place_and_next_move() {
        for (name, value, hint) in [
            ("pg_version", "nine", "18.6"),
            ("pg_version", "9.6", "too old"),
            ("mode", "fast", "pio, lio"),
            ("set", "shared_buffers", "NAME=VALUE"),
            ("set", "wal,debug_io_direct=data", "NAME=VALUE"),
            ("set", "port=5", "mindful sets"),
            ("set", "a b=5", "cannot be"),
            ("cache", "64M", "MiB"),
        ] {
            let message = parsed(&[(name, value)]).unwrap_err().to_string();
            assert!(message.contains(hint) && message.starts_with("--"), "{message}");
        }
    }

    #[test]
    fn settings_are_taken_in_order() {
        let set = parsed(&[("set", "shared_buffers=64MB, Work_Mem = 4MB")]).unwrap().server.set;
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(set, [pair("shared_buffers", "64MB"), pair("work_mem", "4MB")]);
        let set = parsed(&[("set", "debug_io_direct=data,wal,Work_Mem = 4MB,search_path=a, b")]).unwrap().server.set;
        assert_eq!(
            set,
            [pair("debug_io_direct", "data,wal"), pair("work_mem", "4MB"), pair("search_path", "a, b")],
            "a part without = belongs to the value before it"
        );
    }
}
