//! By the heading of the report.

const HEADING: &str = "STATSPACK report for";

/// Whether a report begins in `head`.
pub fn recognises(head: &str) -> bool {
    !begins(head).is_empty()
}

/// Where reports begin in `text`.
pub fn begins(text: &str) -> Vec<usize> {
    let alone = |at: &usize| text[..*at].rsplit('\n').next().unwrap_or_default().trim().is_empty();
    text.match_indices(HEADING).map(|(at, _)| at).filter(alone).collect()
}
