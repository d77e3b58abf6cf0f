//! How mindful's objects are called in a database, quoted.

use crate::template::quote_ident;

/// The comment that marks a namespace as mindful's own.
pub const MARK: &str = "mindful: dataset, made and removed by mindful";

/// The kinds of table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One row a block, indexed.
    Blocks,
    /// One row a block, no index: for full scans.
    Scan,
    /// What ranks of a run tell one another; no part of the dataset.
    Meeting,
}

impl Kind {
    /// The word in the registry and in front of the number.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Scan => "scan",
            Self::Meeting => "meeting",
        }
    }
}

/// The namespace that holds everything of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// Bare name.
    pub name: String,
    /// A role that may own it, beside the one that runs.
    pub trusted: Option<String>,
}

impl Namespace {
    /// As an identifier.
    pub fn quoted(&self) -> String {
        quote_ident(&self.name)
    }

    /// The bare name of a table of `schema` (from 1).
    pub fn table_name(kind: Kind, schema: u32) -> String {
        format!("{}_{schema}", kind.word())
    }

    /// The same, qualified and quoted.
    pub fn table(&self, kind: Kind, schema: u32) -> String {
        format!("{}.{}", self.quoted(), quote_ident(&Self::table_name(kind, schema)))
    }
}
