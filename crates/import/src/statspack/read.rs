//! From text to reports.

use super::recognise;
use crate::report::{self, Report, Scope};
use crate::tables;

/// A report, and whether its last line is there.
pub type Read = (Report, bool);

/// All reports in `text`, each up to the next.
pub fn reports(text: &str) -> Vec<Read> {
    let begins = recognise::begins(text);
    let ends = begins.iter().skip(1).copied().chain([text.len()]);
    let one = |(begin, end): (&usize, usize)| {
        let part = &text[*begin..end];
        (report::of_tables(&tables::text::tables(part), Scope::Instance), part.contains("End of Report"))
    };
    begins.iter().zip(ends).map(one).collect()
}
