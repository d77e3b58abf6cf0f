//! Statspack reports.

use std::io::BufRead;

use mindful_core::Result;

use super::format::Format;
use crate::input;
use crate::old_step::OldStep;
use crate::report::step;
use crate::report::{self, Report, Scope};
use crate::tables;

const HEADING: &str = "STATSPACK report for";

/// What `spreport.sql` writes.
pub(crate) struct Statspack;

impl Format for Statspack {
    fn what(&self) -> &'static str {
        "Statspack report"
    }

    fn recognises(&self, head: &str) -> bool {
        !begins(head).is_empty()
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<OldStep>> {
        step::steps(name, |_| self.what(), reports(&input::text(name, input)?))
    }
}

fn reports(text: &str) -> impl ExactSizeIterator<Item = Report> {
    let begins = begins(text);
    (0..begins.len()).map(move |number| {
        let part = &text[begins[number]..begins.get(number + 1).copied().unwrap_or(text.len())];
        Report {
            cut: !part.contains("End of Report"),
            ..report::of_tables(&tables::text::tables(part), Scope::Instance)
        }
    })
}

fn begins(text: &str) -> Vec<usize> {
    let alone = |at: &usize| {
        let before = input::before(text, *at);
        before.is_empty() || before.ends_with('\n')
    };
    text.match_indices(HEADING).map(|(at, _)| at).filter(alone).collect()
}
