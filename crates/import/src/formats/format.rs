//! The contract of a format of another tool.

use std::io::BufRead;

use mindful_core::Result;

use crate::old_step::OldStep;
use crate::waits::Wait;

pub trait Format: Sync {
    /// Kind of such files, such as `AWR report`.
    fn what(&self) -> &'static str;

    /// Whether the first 64 KiB of a file, as text, are of this format.
    fn recognises(&self, head: &str) -> bool;

    /// The measurements in the file `name`.
    ///
    /// # Errors
    /// The defect of the file, with its name.
    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<OldStep>>;

    /// Passes each single wait in the file `name` to `add`, and returns the number of damaged lines; `None` if the
    /// format has no single waits.
    fn waits(&self, _name: &str, _input: &mut dyn BufRead, _add: &mut dyn FnMut(&Wait<'_>)) -> Option<Result<u64>> {
        None
    }
}
