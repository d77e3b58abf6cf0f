//! JSON output of fio.

mod consistency;
mod load;
mod read;
mod to_run;

use std::io::BufRead;

use mindful_core::Result;

use super::format::Format;
use crate::input;
use crate::old_step::OldStep;

/// Largest result in bytes: parsed JSON takes up to twenty times its length.
const WHOLE: usize = 64 << 20;

/// `fio --output-format=json` or `json+`.
pub(crate) struct Fio;

impl Format for Fio {
    fn what(&self) -> &'static str {
        "fio result"
    }

    fn recognises(&self, head: &str) -> bool {
        // By the names that fio's JSON begins with.
        let Some(result) = read::next_result(head, 0).map(|at| &head[at..]) else { return false };
        let lists = ["\"jobs\"", "\"client_stats\""].iter().any(|list| result.contains(list));
        result.contains("\"fio version\"") || lists && result.contains("\"jobname\"")
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<OldStep>> {
        to_run::steps(name, &read::contents(name, &input::text_within(name, input, WHOLE)?)?)
    }
}
