//! Reports of AWR, text and HTML, of an instance or of a cluster, and of Statspack.

use super::format::Format;
use crate::input;
use crate::report::step;
use crate::report::{self, Report, Scope};
use crate::tables;

const WHAT: &str = "AWR report";
const HEADINGS: [(&str, Scope); 3] = [
    ("WORKLOAD REPOSITORY report for", Scope::Instance),
    ("WORKLOAD REPOSITORY PDB report", Scope::Instance),
    ("WORKLOAD REPOSITORY REPORT (RAC)", Scope::Cluster),
];
const STATSPACK_WHAT: &str = "Statspack report";
const STATSPACK_HEADINGS: [(&str, Scope); 1] = [("STATSPACK report for", Scope::Instance)];

/// Output of `awrrpt.sql`, `awrgrpt.sql` and similar scripts.
pub(super) static AWR: Format = Format {
    what: WHAT,
    recognises: |head| !begins(head, &HEADINGS).is_empty(),
    read: |name, input| {
        let what = |report: &Report| if report.scope == Scope::Cluster { "AWR report of a cluster" } else { WHAT };
        step::steps(name, what, reports(&input::text(name, input)?, &HEADINGS))
    },
};

/// Output of `spreport.sql`.
pub(super) static STATSPACK: Format = Format {
    what: STATSPACK_WHAT,
    recognises: |head| !begins(head, &STATSPACK_HEADINGS).is_empty(),
    read: |name, input| step::steps(name, |_| STATSPACK_WHAT, reports(&input::text(name, input)?, &STATSPACK_HEADINGS)),
};

fn reports(text: &str, headings: &[(&str, Scope)]) -> impl ExactSizeIterator<Item = Report> {
    let begins = begins(text, headings);
    (0..begins.len()).map(move |number| {
        let (begin, scope) = begins[number];
        let part = &text[begin..begins.get(number + 1).map_or(text.len(), |(end, _)| *end)];
        let is_page = text[..begin].trim_end().ends_with('>') && part.contains("<table");
        let tables = if is_page { tables::html::tables(part) } else { tables::text::tables(part) };
        Report { cut: !part.contains("End of Report"), ..report::of_tables(tables, scope) }
    })
}

/// Begins of reports: at a heading on a separate line, or in a heading of a page.
fn begins(text: &str, headings: &[(&str, Scope)]) -> Vec<(usize, Scope)> {
    let mut begins: Vec<(usize, Scope)> = Vec::new();
    for (heading, scope) in headings {
        for (at, _) in text.match_indices(heading) {
            // Searches back only within the line: a file may be a single line.
            let before = text[..at].trim_end_matches(|c: char| c != '\n' && c.is_whitespace());
            if before.is_empty() || before.ends_with(['\n', '>']) {
                begins.push((at, *scope));
            }
        }
    }
    begins.sort_by_key(|(at, _)| *at);
    begins
}
