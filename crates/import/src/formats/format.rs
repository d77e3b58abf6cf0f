//! A format of another tool.

use std::io::BufRead;

use mindful_core::Result;

use crate::old_step::OldStep;
use crate::waits::Wait;

pub struct Format {
    /// Kind of such files, such as `AWR report`.
    pub what: &'static str,
    /// Whether the first 64 KiB of a file, as text, are of this format.
    pub recognises: fn(&str) -> bool,
    /// The measurements in the file of a name, or the defect of the file.
    pub read: fn(&str, &mut dyn BufRead) -> Result<Vec<OldStep>>,
    /// Passes each single wait in the file of a name on, and returns the number of damaged lines; `None` if the format has
    /// no single waits.
    pub(crate) waits: Option<Waits>,
}

pub(crate) type Waits = fn(&str, &mut dyn BufRead, &mut dyn FnMut(&Wait<'_>)) -> Result<u64>;
