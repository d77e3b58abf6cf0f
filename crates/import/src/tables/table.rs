//! A table, as both readers find it.

/// A table of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// The heading of its section.
    pub title: String,
    /// Names of the columns; a name over several lines is joined by spaces.
    pub columns: Vec<String>,
    /// Cells of each row, as many as columns; blank where there was nothing.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The first column whose name, in lower case, is as wanted.
    pub fn column(&self, wanted: impl Fn(&str) -> bool) -> Option<usize> {
        self.columns.iter().position(|name| wanted(&name.to_ascii_lowercase()))
    }

    /// The first column of exactly that name, in lower case.
    pub fn named(&self, name: &str) -> Option<usize> {
        self.column(|column| column == name)
    }
}
