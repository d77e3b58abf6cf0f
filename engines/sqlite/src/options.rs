//! The options of the SQLite engine.

use mindful_core::settings::{Key, Settings, Trust};
use mindful_core::units;
use mindful_core::{Error, Result};

/// All options, in the order they are shown.
pub const KEYS: &[Key] = &[
    Key {
        name: "cache",
        value: "SIZE",
        default: Some("2MiB"),
        help: "SQLite's page cache for each session: small for physical reads, larger than a schema for logical ones",
        trust: Trust::Value,
    },
    Key {
        name: "sqlite_page",
        value: "SIZE",
        default: None,
        help: "Page length of a new file, a power of two from 4KiB to 64KiB (default: that of the file, or 8KiB)",
        trust: Trust::Value,
    },
];

/// Page length of a new file when nobody says.
pub const DEFAULT_PAGE_BYTES: u64 = 8192;

/// The options, parsed.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Page cache of a session.
    pub cache_bytes: u64,
    /// Page length asked for.
    pub page_bytes: Option<u64>,
}

impl Options {
    /// The options that `given` holds; the defaults of [`KEYS`] elsewhere.
    pub fn from_settings(given: &Settings) -> Result<Self> {
        let mut all = Settings::defaults(KEYS);
        for (name, setting) in given.iter() {
            all.set(name, setting.value.as_str(), setting.origin.clone());
        }
        Ok(Self { cache_bytes: all.require("cache", cache)?, page_bytes: all.parse("sqlite_page", page)? })
    }
}

fn cache(text: &str) -> Result<u64> {
    match units::parse_bytes(text)? {
        bytes if bytes < 64 << 10 => Err(Error::plan(format!("a cache of {bytes} bytes"), "give 64KiB or more")),
        bytes => Ok(bytes),
    }
}

fn page(text: &str) -> Result<u64> {
    match units::parse_bytes(text)? {
        bytes if bytes.is_power_of_two() && (4096..=65_536).contains(&bytes) => Ok(bytes),
        _ => Err(Error::plan(format!("a page of {text}"), "choose 4KiB, 8KiB, 16KiB, 32KiB or 64KiB")),
    }
}
