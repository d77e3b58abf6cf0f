//! Rows that older tools made of reports: a heading, and a line a report.

use std::collections::HashMap;

use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};

use crate::number::{self, Printed};
use crate::old_step::{OldStep, sessions_of};
use crate::report::Report;
use crate::report::step::{self, MOST_REPORTS};

pub(super) const MIB: f64 = 1_048_576.0;
/// Most columns that are read: more than any known table has.
const MOST_COLUMNS: usize = 1_024;

/// A row by its columns.
pub(super) struct Cells(HashMap<String, String>);

impl Cells {
    pub(super) fn text(&self, column: &str) -> Option<&str> {
        self.0.get(column).map(String::as_str).filter(|cell| !cell.is_empty())
    }

    pub(super) fn owned(&self, column: &str) -> Option<String> {
        self.text(column).map(str::to_owned)
    }

    pub(super) fn printed(&self, column: &str) -> Option<Printed> {
        number::count(self.text(column)?).filter(|figure| (0.0..1e15).contains(&figure.value))
    }

    pub(super) fn figure(&self, column: &str) -> Option<f64> {
        self.printed(column).map(|figure| figure.value)
    }
}

/// The differences between the rows of tools.
pub(super) struct RowFormat {
    pub what: &'static str,
    /// The column with the name of the report's file.
    pub file: &'static str,
    pub report: fn(&Cells) -> Report,
    /// A remark for every reader of such a row.
    pub remark: &'static str,
}

impl RowFormat {
    /// The steps in the file `name`. Rows with more or fewer cells than columns are damaged: their cells may have moved. Blank
    /// cells at the end are separators without a cell.
    pub(super) fn steps(
        &self,
        name: &str,
        columns: &[String],
        records: impl Iterator<Item = Vec<String>>,
    ) -> Result<Vec<OldStep>> {
        let named = columns.iter().rposition(|column| !column.is_empty()).map_or(0, |last| last + 1);
        let (mut rows, mut damaged) = (Vec::new(), 0);
        for record in records {
            if record.len() < named || record.iter().skip(named).any(|cell| !cell.is_empty()) {
                damaged += 1;
            } else if rows.len() <= MOST_REPORTS {
                rows.push(Cells(columns.iter().cloned().zip(record).take(MOST_COLUMNS).collect()));
            }
        }
        if rows.is_empty() {
            return Err(Error::run(format!("{name} has no whole row"), "give the unchanged file"));
        }
        let mut steps = step::steps(name, |_| self.what, rows.iter().map(self.report))?;
        for (step, row) in steps.iter_mut().zip(&rows) {
            step.file = row.owned(self.file).unwrap_or_else(|| step.file.clone());
            let sessions = row.text("SESSIONS").and_then(|sessions| sessions.parse().ok());
            step.sessions = sessions.or_else(|| sessions_of(&step.file));
            step.add_finding(codes::IMPORTED_FIGURES, self.remark, step.file.clone());
        }
        steps[0].add_damage(damaged, "row");
        Ok(steps)
    }
}
