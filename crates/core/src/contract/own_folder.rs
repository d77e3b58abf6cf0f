//! Files in mindful's own folders: engines make and remove them, sources of steps find them.

/// The mark of a folder that is mindful's own.
pub const MARK_FILE: &str = "mindful.mark";
/// The bare writes of a contrast of commits, which removes them at its end.
pub const BARE_WRITES_FILE: &str = "commits.raw";
