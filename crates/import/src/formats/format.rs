//! What a format of another tool is.

use std::io::BufRead;

use mindful_core::Result;

use crate::old_step::OldStep;
use crate::waits::Wait;

pub trait Format: Sync {
    /// What such a file is, such as `AWR report`.
    fn what(&self) -> &'static str;

    /// Whether the first 64 KiB of a file, as text, are of this format.
    fn recognises(&self, head: &str) -> bool;

    /// The measurements in the file `name`.
    ///
    /// # Errors
    /// What is wrong with the file, by its name.
    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<OldStep>>;

    /// Passes each single wait in the file `name` to `add`, and returns the number of damaged lines; `None` where files of
    /// this format contain no single waits.
    fn waits(&self, _name: &str, _input: &mut dyn BufRead, _add: &mut dyn FnMut(&Wait<'_>)) -> Option<Result<u64>> {
        None
    }
}
