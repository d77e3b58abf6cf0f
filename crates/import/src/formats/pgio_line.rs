//! The line that pgio prints at its end.

mod read;
mod to_run;

use std::io::BufRead;

use mindful_core::Result;

use super::format::Format;
use crate::input;
use crate::old_step::OldStep;

/// What `runit.sh` of pgio prints.
pub(crate) struct PgioLine;

impl Format for PgioLine {
    fn what(&self) -> &'static str {
        "pgio result"
    }

    fn recognises(&self, head: &str) -> bool {
        // By the words of the line.
        head.lines().any(|line| line.contains("RIOPS >") && line.contains("Run time:"))
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<OldStep>> {
        to_run::steps(name, &read::results(&input::text(name, input)?))
    }
}
