//! The access path of reads: a session's settings for it, and the required query plan.

use mindful_core::workload::Access;

/// Settings of sessions, in addition to those that all of them begin with.
pub(crate) fn settings(access: Access) -> &'static str {
    match access {
        Access::Index => "",
        Access::Bitmap => include_str!("../../sql/access_bitmap.sql"),
        Access::Scan => include_str!("../../sql/access_scan.sql"),
    }
}

pub(crate) fn nodes(access: Access) -> &'static [&'static str] {
    match access {
        Access::Index => &["Index Scan"],
        Access::Bitmap => &["Bitmap Heap Scan", "Bitmap Index Scan"],
        Access::Scan => &["Seq Scan"],
    }
}

pub(crate) fn in_words(access: Access) -> &'static str {
    match access {
        Access::Index => "a plain index scan",
        Access::Bitmap => "a bitmap heap scan",
        Access::Scan => "a sequential scan",
    }
}
