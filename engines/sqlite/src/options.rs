//! The options of the SQLite engine.

use mindful_core::plan::settings::{Key, Settings, parse_choice, parse_switch};
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
    Key::unset(
        "synchronous",
        "full|normal|off",
        "Syncs of the WAL: at commits, at checkpoints, or never (default: full; normal with --commit-wait off)",
    ),
    Key::with_default("shared", "on|off", "off", "Run even if another run uses the file; the report notes it"),
];

/// Default page length of a new file.
pub(crate) const DEFAULT_PAGE_BYTES: u64 = 8192;

/// The safest value of `PRAGMA synchronous`.
const FULL: &str = "full";

#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub cache_bytes: u64,
    pub page_bytes: Option<u64>,
    synchronous: Option<&'static str>,
    pub shared: bool,
}

impl Options {
    pub(crate) fn from_settings(all: &Settings) -> Result<Self> {
        all.check_bounds(KEYS)?;
        Ok(Self {
            cache_bytes: all.require("cache", units::parse_bytes)?,
            page_bytes: all.parse("sqlite_page", page)?,
            synchronous: all
                .parse("synchronous", |text| parse_choice(text, &[FULL, "normal", "off"].map(|set| (set, set))))?,
            shared: all.require("shared", parse_switch)?,
        })
    }

    /// What sessions set, if their commits wait as `commit_wait` says.
    pub(crate) fn synchronous(&self, commit_wait: bool) -> &'static str {
        self.synchronous.unwrap_or(if commit_wait { FULL } else { "normal" })
    }

    pub(crate) fn refuse_contradictions(&self, commit_wait: bool) -> Result<()> {
        if self.synchronous == Some(FULL) && !commit_wait {
            return Err(Error::plan(
                "with --synchronous full each commit waits for the WAL, and with --commit-wait off none does",
                "omit --commit-wait off, or pass --synchronous normal",
            ));
        }
        Ok(())
    }

    /// Settings under which a crash loses commits that waited.
    pub(crate) fn unsafe_settings(&self) -> Vec<String> {
        let set = self.synchronous(true);
        if set == FULL { Vec::new() } else { vec![format!("synchronous = {set}")] }
    }
}

fn page(text: &str) -> Result<u64> {
    match units::parse_bytes(text)? {
        bytes if bytes.is_power_of_two() => Ok(bytes),
        _ => Err(Error::plan(format!("a page of {text}"), "choose 4KiB, 8KiB, 16KiB, 32KiB or 64KiB")),
    }
}
