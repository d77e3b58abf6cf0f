//! What a format of another tool is.

use std::io::BufRead;

use mindful_core::Result;

use crate::reported::Reported;
use crate::waits::Wait;

/// A format of files that hold measurements.
pub trait Format: Sync {
    /// What such a file is, such as `AWR report`.
    fn what(&self) -> &'static str;

    /// Whether the first 64 KiB of a file, as text, are of this format.
    fn recognises(&self, head: &str) -> bool;

    /// The measurements in the file `name`.
    ///
    /// # Errors
    /// What is wrong with the file, by its name.
    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<Reported>>;

    /// Tells `report` each single wait in the file `name`; `None` where files of this format hold none.
    fn waits(&self, _name: &str, _input: &mut dyn BufRead, _report: &mut dyn FnMut(&Wait<'_>)) -> Option<Result<()>> {
        None
    }
}
