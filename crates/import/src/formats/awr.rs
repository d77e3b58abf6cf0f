//! AWR reports, text and HTML, of an instance or of a cluster.

use std::io::BufRead;

use mindful_core::Result;

use super::format::Format;
use crate::input;
use crate::old_step::OldStep;
use crate::report::step;
use crate::report::{self, Report, Scope};
use crate::tables;

/// Where a heading may be: alone on its line, or in a page's own heading.
const HEADINGS: [(&str, Scope); 3] = [
    ("WORKLOAD REPOSITORY report for", Scope::Instance),
    ("WORKLOAD REPOSITORY PDB report", Scope::Instance),
    ("WORKLOAD REPOSITORY REPORT (RAC)", Scope::Cluster),
];

/// What `awrrpt.sql`, `awrgrpt.sql` and their kin write.
pub(crate) struct Awr;

impl Format for Awr {
    fn what(&self) -> &'static str {
        "AWR report"
    }

    fn recognises(&self, head: &str) -> bool {
        !begins(head).is_empty()
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<OldStep>> {
        step::steps(name, what, reports(&input::text(name, input)?))
    }
}

fn reports(text: &str) -> impl ExactSizeIterator<Item = Report> {
    let (begins, is_page) = (begins(text), is_page(text));
    (0..begins.len()).map(move |number| {
        let (begin, scope) = begins[number];
        let part = &text[begin..begins.get(number + 1).map_or(text.len(), |(end, _)| *end)];
        // A page is marked up all through; what is no page has no row.
        let page = is_page || part.contains("<table");
        let tables = if page { tables::html::tables(part) } else { tables::text::tables(part) };
        Report { cut: !part.contains("End of Report"), ..report::of_tables(&tables, scope) }
    })
}

fn is_page(text: &str) -> bool {
    let begin = text.trim_start().as_bytes();
    let is = |mark: &str| begin.len() >= mark.len() && begin[..mark.len()].eq_ignore_ascii_case(mark.as_bytes());
    is("<html") || is("<!doctype html") || is("<?xml")
}

fn begins(text: &str) -> Vec<(usize, Scope)> {
    let mut begins: Vec<(usize, Scope)> = Vec::new();
    for (heading, scope) in HEADINGS {
        for (at, _) in text.match_indices(heading) {
            let before = input::before(text, at);
            if before.is_empty() || before.ends_with(['\n', '>']) {
                begins.push((at, scope));
            }
        }
    }
    begins.sort_by_key(|(at, _)| *at);
    begins
}

fn what(report: &Report) -> &'static str {
    if report.scope == Scope::Cluster { "AWR report of a cluster" } else { "AWR report" }
}
