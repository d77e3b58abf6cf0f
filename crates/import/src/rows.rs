//! Reports as rows: one a file, under our own names or those of older tools.

mod awr_info;
mod figures;
mod flashdba;
mod own;

pub use awr_info::awr_info;
pub use figures::{Figures, figures};
pub use flashdba::flashdba;
pub use own::{csv, json, table};

use crate::report::Report;
use crate::reported::Reported;

/// A report and the file it stands in.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// The step that was made of it.
    pub reported: &'a Reported,
    /// The report.
    pub report: &'a Report,
}

impl<'a> Row<'a> {
    /// The row of `reported`; `None` where it is no report of Oracle's.
    pub fn of(reported: &'a Reported) -> Option<Self> {
        Some(Self { reported, report: reported.report.as_deref()? })
    }
}

/// A field of a table for other programs: quoted where it must be.
fn field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '@']) || (text.starts_with('-') && text.parse::<f64>().is_err());
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = if formula { format!("'{text}") } else { text };
    if text.contains([',', '"', '\'']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
