//! A report and its file, and how its fields are written.

use crate::old_step::OldStep;
use crate::report::Report;

#[derive(Debug, Clone, Copy)]
pub struct ReportRow<'a> {
    pub(super) step: &'a OldStep,
    pub(super) report: &'a Report,
}

impl<'a> ReportRow<'a> {
    /// The row of `step`; `None` if it is not from an Oracle report.
    pub fn of(step: &'a OldStep) -> Option<Self> {
        Some(Self { step, report: step.report.as_deref()? })
    }
}

/// A field of a table for other programs: quoted if necessary.
pub fn field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '@']) || (text.starts_with('-') && text.parse::<f64>().is_err());
    let text = harmless(text, &[]);
    let text = if formula { format!("'{text}") } else { text };
    if text.contains([',', '"', '\'']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

pub(super) fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    cells.map(field).collect::<Vec<_>>().join(",") + "\n"
}

pub fn piped(text: &str) -> String {
    harmless(text, &['|'])
}

/// `text` with a space for each control character, and for `marks`.
fn harmless(text: &str, marks: &[char]) -> String {
    text.chars().map(|c| if c.is_control() || marks.contains(&c) { ' ' } else { c }).collect()
}
