//! What fio prints as JSON.

mod read;
mod recognise;
mod to_run;

use std::io::BufRead;

use mindful_core::Result;

use crate::format::Format;
use crate::input;
use crate::reported::Reported;

/// `fio --output-format=json` or `json+`.
pub struct Fio;

impl Format for Fio {
    fn what(&self) -> &'static str {
        "fio result"
    }

    fn recognises(&self, head: &str) -> bool {
        recognise::recognises(head)
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<Reported>> {
        to_run::reported(name, &read::jobs(name, &input::text(name, input)?)?)
    }
}
