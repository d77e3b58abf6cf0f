//! Files in mindful's own folders: engines create and remove them, sources of steps find them.

/// The file that marks a folder as mindful's own.
pub const MARK_FILE: &str = "mindful.mark";
/// The bare writes of a contrast of commits, which removes them at its end.
pub const BARE_WRITES_FILE: &str = "commits.raw";
