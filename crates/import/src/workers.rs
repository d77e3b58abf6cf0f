//! Logical reads by concurrent workers, as published beside SLOB studies.

mod read;
mod recognise;
mod to_run;

use std::io::BufRead;

use mindful_core::Result;

use crate::format::Format;
use crate::input;
use crate::reported::Reported;

/// A CSV of workers and millions of logical reads per second.
pub struct Workers;

impl Format for Workers {
    fn what(&self) -> &'static str {
        "table of workers"
    }

    fn recognises(&self, head: &str) -> bool {
        recognise::recognises(head)
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<Reported>> {
        Ok(to_run::reported(name, &read::rows(name, &input::text(name, input)?)?))
    }
}
