//! How large an archive may be.

use mindful_core::plan::units;

/// Limits of an archive. The largest in use is about half of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub packed: u64,
    pub unpacked: u64,
    /// Files, folders and links.
    pub entries: usize,
}

pub(super) const LIMITS: Limits = Limits { packed: 320 << 20, unpacked: 1 << 30, entries: 20_000 };

pub(super) fn size(bytes: u64) -> String {
    units::format_bytes(bytes)
}
