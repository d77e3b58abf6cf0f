//! Results of Orion: its summary, and its matrices of IOPS, latency and MBPS.

mod read;
mod to_run;

use std::io::BufRead;

use mindful_core::Result;

use crate::format::Format;
use crate::input;
use crate::reported::Reported;

/// What Orion writes beside its trace.
pub struct Orion;

impl Format for Orion {
    fn what(&self) -> &'static str {
        "Orion result"
    }

    fn recognises(&self, head: &str) -> bool {
        read::recognises(head)
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<Reported>> {
        Ok(to_run::reported(name, &read::result(name, &input::text(name, input)?)?))
    }
}
