//! The options of the SQLite engine.

use mindful_core::plan::settings::{Key, Settings, parse_switch};
use mindful_core::plan::{Bound, units};
use mindful_core::{Error, Result};

pub const KEYS: &[Key] = &[
    Key::with_default(
        "cache",
        "SIZE",
        "2MiB",
        "Page cache of each session: small for physical reads, above --scale for logical reads",
    )
    .bounded(Bound::Size(64 << 10, units::LARGEST)),
    Key::unset("sqlite_page", "SIZE", "Page size of a new file, a power of two (default: 8KiB)")
        .bounded(Bound::Size(4 << 10, 64 << 10)),
    Key::with_default("shared", "on|off", "off", "Run even if another run uses the file; the report notes it"),
];

/// Default page length of a new file.
pub(crate) const DEFAULT_PAGE_BYTES: u64 = 8192;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub cache_bytes: u64,
    pub page_bytes: Option<u64>,
    pub shared: bool,
}

impl Options {
    pub(crate) fn from_settings(given: &Settings) -> Result<Self> {
        given.check_bounds(KEYS)?;
        let mut all = Settings::defaults(KEYS);
        for (name, setting) in given.iter() {
            all.set(name, setting.value.as_str(), setting.origin.clone());
        }
        Ok(Self {
            cache_bytes: all.require("cache", units::parse_bytes)?,
            page_bytes: all.parse("sqlite_page", page)?,
            shared: all.require("shared", parse_switch)?,
        })
    }
}

fn page(text: &str) -> Result<u64> {
    match units::parse_bytes(text)? {
        bytes if bytes.is_power_of_two() => Ok(bytes),
        _ => Err(Error::plan(format!("a page of {text}"), "choose 4KiB, 8KiB, 16KiB, 32KiB or 64KiB")),
    }
}
