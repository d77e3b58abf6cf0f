//! Statspack reports.

mod read;
mod recognise;
mod to_run;

use std::io::BufRead;

use mindful_core::Result;

use crate::format::Format;
use crate::input;
use crate::reported::Reported;

/// What `spreport.sql` writes.
pub struct Statspack;

impl Format for Statspack {
    fn what(&self) -> &'static str {
        "Statspack report"
    }

    fn recognises(&self, head: &str) -> bool {
        recognise::recognises(head)
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<Reported>> {
        to_run::reported(name, read::reports(&input::text(name, input)?))
    }
}
