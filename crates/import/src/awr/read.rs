//! From text to reports.

use super::recognise;
use crate::report::{self, Report};
use crate::tables;

/// A report, and whether its last line is there.
pub type Read = (Report, bool);

/// All reports in `text`, each up to the next.
pub fn reports(text: &str) -> Vec<Read> {
    let begins = recognise::begins(text);
    let ends = begins.iter().skip(1).map(|(at, _)| *at).chain([text.len()]);
    let one = |((begin, scope), end): (&(usize, report::Scope), usize)| {
        let part = &text[*begin..end];
        // A page is marked up all through; what is no page has no row.
        let page = recognise::is_page(text) || part.contains("<table");
        let tables = if page { tables::html::tables(part) } else { tables::text::tables(part) };
        (report::of_tables(&tables, *scope), part.contains("End of Report"))
    };
    begins.iter().zip(ends).map(one).collect()
}
