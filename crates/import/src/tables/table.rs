//! A table, as both readers find it.

/// The text of cells that a cut row lacks. They are unknown, as a figure that did not fit its column is. A blank cell
/// would be 0 in some tables.
pub(super) const UNKNOWN: &str = "#";

/// Most columns of a table. No report has as many.
pub(super) const MOST_COLUMNS: usize = 64;
/// Most rows of all tables of a report. Others are left out, and their table is not whole.
pub(super) const MOST_ROWS: usize = 1 << 16;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub title: String,
    /// A page's description of the table for screen readers; empty in a text.
    pub summary: String,
    /// Names of the columns; a name over several lines is joined by spaces.
    pub columns: Vec<String>,
    /// Cells of each row, as many as columns; blank where there was nothing, [`UNKNOWN`] after a cut.
    pub rows: Vec<Vec<String>>,
    /// Whether the end of the table is there: rows may be missing from one that was cut.
    pub whole: bool,
}

impl Table {
    /// The first column with a lower-case name that passes `wanted`.
    pub(crate) fn column(&self, wanted: impl Fn(&str) -> bool) -> Option<usize> {
        self.columns.iter().position(|name| wanted(&name.to_ascii_lowercase()))
    }

    /// The first column of exactly that name, in lower case.
    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        self.column(|column| column == name)
    }

    /// The first column of exactly that name, in lower case, with or without a heading over several columns before it.
    pub(crate) fn called(&self, name: &str) -> Option<usize> {
        self.column(|column| is_called(column, name))
    }
}

/// Whether `column` is `name`, alone or after a heading over several columns: `event waits` is called `waits`.
pub(crate) fn is_called(column: &str, name: &str) -> bool {
    column.strip_suffix(name).is_some_and(|group| group.is_empty() || group.ends_with(' '))
}

/// The text of a cell; `None` if it is blank or unknown.
pub(crate) fn known(cell: &str) -> Option<&str> {
    Some(cell).filter(|cell| !cell.is_empty() && !cell.starts_with(UNKNOWN))
}
