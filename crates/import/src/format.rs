//! What a format of another tool is.

use std::io::BufRead;

use mindful_core::Result;

use crate::reported::Reported;

/// A format of files that hold measurements.
pub trait Format: Sync {
    /// What such a file is, such as `AWR report`.
    fn what(&self) -> &'static str;

    /// Whether it holds single waits, which can be grouped.
    fn holds_waits(&self) -> bool {
        false
    }

    /// Whether the first 64 KiB of a file, as text, are of this format.
    fn recognises(&self, head: &str) -> bool;

    /// The measurements in the file `name`.
    ///
    /// # Errors
    /// What is wrong with the file, by its name.
    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<Reported>>;
}
