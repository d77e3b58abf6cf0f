//! 10046 traces, level 8 or 12, of any size: streamed, every wait with its microseconds.

mod read;
mod recognise;
mod to_run;

use std::io::BufRead;

use mindful_core::{Error, Result};

use crate::format::Format;
use crate::reported::Reported;
use crate::waits::Wait;

use read::Line;

/// What a session with event 10046 writes.
pub struct Trace;

impl Format for Trace {
    fn what(&self) -> &'static str {
        "10046 trace"
    }

    fn recognises(&self, head: &str) -> bool {
        recognise::recognises(head)
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<Reported>> {
        let mut collected = to_run::Collected::default();
        read::lines(name, input, |line| collected.add(&line))?;
        collected.reported(name).map(|reported| vec![reported])
    }

    fn waits(&self, name: &str, input: &mut dyn BufRead, report: &mut dyn FnMut(&Wait<'_>)) -> Option<Result<()>> {
        let mut any = false;
        let read = read::lines(name, input, |line| {
            if let Line::Wait(wait) = line {
                any = true;
                report(&wait);
            }
        });
        Some(read.and_then(|()| if any { Ok(()) } else { Err(no_wait(name)) }))
    }
}

fn no_wait(name: &str) -> Error {
    Error::run(format!("{name} is a trace without a wait"), "trace with level 8 or 12: waits => TRUE")
}
