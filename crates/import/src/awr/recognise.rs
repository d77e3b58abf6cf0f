//! By the heading of the report.

use crate::report::Scope;

/// Where a heading may stand: alone on its line, or in a page's own heading.
const HEADINGS: [(&str, Scope); 3] = [
    ("WORKLOAD REPOSITORY report for", Scope::Instance),
    ("WORKLOAD REPOSITORY PDB report", Scope::Instance),
    ("WORKLOAD REPOSITORY REPORT (RAC)", Scope::Cluster),
];

/// Whether a report begins in `head`.
pub fn recognises(head: &str) -> bool {
    !begins(head).is_empty()
}

/// Whether it is a page.
pub fn is_page(text: &str) -> bool {
    let begin = text.trim_start().as_bytes();
    let is = |mark: &str| begin.len() >= mark.len() && begin[..mark.len()].eq_ignore_ascii_case(mark.as_bytes());
    is("<html") || is("<!doctype html") || is("<?xml")
}

/// Where reports begin in `text`, and what they are about.
pub fn begins(text: &str) -> Vec<(usize, Scope)> {
    let mut begins: Vec<(usize, Scope)> = Vec::new();
    for (heading, scope) in HEADINGS {
        for (at, _) in text.match_indices(heading) {
            let line = text[..at].rsplit('\n').next().unwrap_or_default().trim();
            if line.is_empty() || line.ends_with('>') {
                begins.push((at, scope));
            }
        }
    }
    begins.sort_by_key(|(at, _)| *at);
    begins
}
