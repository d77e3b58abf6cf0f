//! A format of another tool.

use std::io::BufRead;

use mindful_core::Result;

use crate::old_step::OldStep;

pub struct Format {
    /// Kind of such files, such as `AWR report`.
    pub what: &'static str,
    /// Whether the first 64 KiB of a file, as text, are of this format.
    pub recognises: fn(&str) -> bool,
    /// The measurements in the file of a name, or the defect of the file.
    pub read: fn(&str, &mut dyn BufRead) -> Result<Vec<OldStep>>,
}
