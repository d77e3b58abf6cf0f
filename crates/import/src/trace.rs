//! 10046 traces, level 8 or 12, of any size: streamed, every wait with its microseconds.

mod distribution;
mod fields;
mod group;
mod read;
mod recognise;
mod to_run;

use std::io::BufRead;

use mindful_core::{Error, Result};

use crate::format::Format;
use crate::reported::Reported;

pub use distribution::{Distribution, Range};
pub use fields::{Field, Filter};
pub use group::{Group, Grouped, Kind};
pub use read::{Call, Line, Wait};

/// What a session with event 10046 writes.
pub struct Trace;

impl Format for Trace {
    fn what(&self) -> &'static str {
        "10046 trace"
    }

    fn holds_waits(&self) -> bool {
        true
    }

    fn recognises(&self, head: &str) -> bool {
        recognise::recognises(head)
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<Reported>> {
        let mut collected = to_run::Collected::default();
        read::lines(name, input, |line| collected.add(&line))?;
        collected.reported(name).map(|reported| vec![reported])
    }
}

/// The waits of `input`, which is the trace `name`, that pass `filter`, in groups by `fields`.
///
/// # Errors
/// An input that cannot be read, or holds no wait at all.
pub fn grouped(name: &str, input: &mut dyn BufRead, fields: &[Field], filter: &Filter) -> Result<Grouped> {
    let mut grouped = Grouped::new(fields, filter);
    read::lines(name, input, |line| grouped.add(&line))?;
    if grouped.waits == 0 { Err(no_wait(name)) } else { Ok(grouped) }
}

fn no_wait(name: &str) -> Error {
    Error::run(format!("{name} is a trace without a wait"), "trace with level 8 or 12: waits => TRUE")
}
