//! The options of the private server.

use std::path::PathBuf;

use mindful_core::bound::Bound;
use mindful_core::settings::{Key, Settings, parse_choice, parse_switch};
use mindful_core::{Error, Result, units};
use mindful_instance::fetch::BASE;

/// The keys, in the order they are shown.
pub const KEYS: &[Key] = &[
    Key::unset("pg_bin", "DIR", "Folder with the initdb and postgres to use (default: fetched, else of the system)")
        .command(),
    Key::with_default("pg_version", "VERSION", "18", "PostgreSQL to fetch: 16, 17, 18, or in full such as 18.6"),
    Key::with_default("fetch", "on|off", "on", "Whether PostgreSQL may be fetched from the network"),
    Key::unset("fetch_dir", "DIR", "Where fetched PostgreSQL binaries are stored (default: the user's data directory)")
        .command(),
    Key::unset("fetch_url", "URL", "Repository to fetch from, in the layout of Maven (default: the public one)")
        .command(),
    Key::unset("data_dir", "DIR", "Data directory of the private server: it decides which storage is measured")
        .command(),
    Key::unset("run_as", "USER", "User the private server runs as when mindful is root (default: a number of its own)")
        .command(),
    Key::with_default(
        "mode",
        "MODE",
        "pio",
        "What the server is set up for: pio (physical I/O) or lio (everything cached)",
    ),
    Key::unset("cache", "SIZE", "Size of the database's own cache (default: by mode)")
        .within(Bound::Size(128 << 10, units::LARGEST)),
    Key::unset("page_cache_limit", "SIZE", "Memory of the server, page cache included, where there is no direct I/O")
        .within(Bound::Size(1 << 20, units::LARGEST)),
    Key::unset(
        "set",
        "NAME=VALUE,…",
        "Server settings in place of the chosen ones: work_mem=8MB,debug_io_direct=data,wal",
    )
    .command()
    .of_setting(),
];

/// What a run of the private server is set up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Physical I/O: a small cache, and reads that reach the device.
    Pio,
    /// Logical I/O: everything cached.
    Lio,
}

/// The PostgreSQL that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Such as 18.
    pub major: u32,
    /// Such as `18.6`: what is fetched.
    pub full: String,
    /// Whether the user asked for this very minor version.
    pub exact: bool,
    /// Whether the user asked for it at all, so that no other major version will do.
    pub given: bool,
}

/// All options, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Folder of the binaries to use.
    pub pg_bin: Option<PathBuf>,
    /// The version to use.
    pub version: Version,
    /// Whether the network may be used.
    pub fetch: bool,
    /// Where fetched binaries are stored.
    pub fetch_dir: Option<PathBuf>,
    /// The repository to fetch from.
    pub fetch_url: String,
    /// Folder of the server.
    pub data_dir: Option<PathBuf>,
    /// The user it runs as.
    pub run_as: Option<String>,
    /// What it is set up for.
    pub mode: Mode,
    /// Size of its cache, bytes.
    pub cache: Option<u64>,
    /// Most memory of the server and of the page cache of its reads, bytes.
    pub page_cache_limit: Option<u64>,
    /// Settings of the user's own, in the order given.
    pub set: Vec<(String, String)>,
    /// Sessions the plan speaks of, so that the first start already carries them.
    pub sessions: u32,
}

/// Oldest major version that works.
pub const OLDEST: u32 = 15;

/// The minor version that is fetched for a major one.
pub const PINNED: &[(u32, &str)] = &[(18, "18.6"), (17, "17.11"), (16, "16.15")];

/// Server settings that belong to mindful, because its own connection or the safety of the folder hangs on them.
const FIXED: &[&str] = &[
    "listen_addresses",
    "port",
    "unix_socket_directories",
    "unix_socket_permissions",
    "unix_socket_group",
    "data_directory",
    "config_file",
    "hba_file",
    "ident_file",
    "external_pid_file",
    "logging_collector",
    "log_destination",
];

impl Options {
    /// The options that `settings` give.
    pub fn parse(settings: &Settings) -> Result<Self> {
        settings.within(KEYS)?;
        let path = |name: &str| settings.get(name).filter(|text| !text.is_empty()).map(PathBuf::from);
        let modes = [("pio", Mode::Pio), ("lio", Mode::Lio)];
        let mut version =
            settings.parse("pg_version", parse_version)?.map_or_else(|| parse_version("18"), Result::Ok)?;
        version.given = settings.given("pg_version").is_some();
        Ok(Self {
            pg_bin: path("pg_bin"),
            version,
            fetch: settings.parse("fetch", parse_switch)?.unwrap_or(true),
            fetch_dir: path("fetch_dir"),
            fetch_url: settings.get("fetch_url").filter(|url| !url.is_empty()).unwrap_or(BASE).to_owned(),
            data_dir: path("data_dir"),
            run_as: settings.get("run_as").map(str::to_owned),
            mode: settings.parse("mode", |text| parse_choice(text, &modes))?.unwrap_or(Mode::Pio),
            cache: settings.parse("cache", units::parse_bytes)?,
            page_cache_limit: settings.parse("page_cache_limit", units::parse_bytes)?,
            set: settings.parse("set", parse_set)?.unwrap_or_default(),
            sessions: planned_sessions(settings),
        })
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
            .find(|(pinned, _)| *pinned == major)
            .map(|(_, full)| (*full).to_owned())
            .ok_or_else(|| bad("is not a version known here by its major number alone"))?,
    };
    Ok(Version { major, full, exact: minor.is_some(), given: false })
}

/// `a=1,b=2,3`: a part without `=` belongs to the value before it, for values of settings may be lists.
fn parse_set(text: &str) -> Result<Vec<(String, String)>> {
    let mut pairs: Vec<String> = Vec::new();
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        match pairs.last_mut() {
            Some(pair) if !part.contains('=') => *pair = format!("{pair},{part}"),
            _ => pairs.push(part.to_owned()),
        }
    }
    pairs.iter().map(|pair| parse_pair(pair)).collect()
}

fn parse_pair(pair: &str) -> Result<(String, String)> {
    let (name, value) = pair.split_once('=').ok_or_else(|| {
        Error::plan(format!("`{pair}` is not a server setting"), "write NAME=VALUE, such as shared_buffers=64MB")
    })?;
    let name = name.trim().to_ascii_lowercase();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.';
    if name.is_empty() || !name.chars().all(plain) || value.contains('\0') {
        return Err(Error::plan(format!("`{name}` cannot be a server setting"), "see the PostgreSQL manual for names"));
    }
    if FIXED.contains(&name.as_str()) {
        return Err(Error::plan(
            format!("{name} of the private server is mindful's own"),
            "leave it away, or start a server yourself and give --target postgres://…",
        ));
    }
    Ok((name, value.trim().to_owned()))
}

/// Whatever cannot be read here is refused where the plan is parsed.
fn planned_sessions(settings: &Settings) -> u32 {
    let number = |name: &str| settings.get(name).and_then(|text| text.parse::<u32>().ok());
    let by_schema = number("threads").map(|threads| threads.saturating_mul(number("schemas").unwrap_or(4)));
    number("sessions").or(by_schema).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use mindful_core::settings::Origin;

    use super::*;

    fn options(pairs: &[(&str, &str)]) -> Result<Options> {
        let mut settings = Settings::defaults(KEYS);
        for (name, value) in pairs {
            settings.set(name, *value, Origin::Flag(format!("--{}", name.replace('_', "-"))));
        }
        Options::parse(&settings)
    }

    #[test]
    fn a_major_version_stands_for_a_pinned_one() {
        assert_eq!(options(&[("pg_version", "17")]).unwrap().version.full, "17.11");
        assert_eq!(options(&[("pg_version", "15.14")]).unwrap().version.full, "15.14");
        let default = options(&[]).unwrap().version;
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
            ("set", "port=5", "mindful's own"),
            ("set", "a b=5", "cannot be"),
            ("cache", "64M", "MiB"),
        ] {
            let message = options(&[(name, value)]).unwrap_err().to_string();
            assert!(message.contains(hint) && message.starts_with("--"), "{message}");
        }
    }

    #[test]
    fn settings_are_taken_in_order() {
        let set = options(&[("set", "shared_buffers=64MB, Work_Mem = 4MB")]).unwrap().set;
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(set, [pair("shared_buffers", "64MB"), pair("work_mem", "4MB")]);
        let set = options(&[("set", "debug_io_direct=data,wal,Work_Mem = 4MB,search_path=a, b")]).unwrap().set;
        assert_eq!(
            set,
            [pair("debug_io_direct", "data,wal"), pair("work_mem", "4MB"), pair("search_path", "a, b")],
            "a part without = belongs to the value before it"
        );
    }
}
