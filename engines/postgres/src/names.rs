//! How mindful's objects are called in a database, quoted.

pub(crate) use mindful_sql::dataset::table_registry::TableKind;

use crate::template::quote_ident;

/// The comment that marks a namespace as mindful's own.
pub(crate) const MARK: &str = "mindful: dataset, made and removed by mindful";

/// The registry's name of the rendezvous table of ranks, which does not belong to the dataset.
pub(crate) const MEETING: &str = "meeting";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Namespace {
    pub name: String,
    /// A role that may own it, in addition to the running role.
    pub trusted: Option<String>,
}

impl Namespace {
    pub(crate) fn quoted(&self) -> String {
        quote_ident(&self.name)
    }

    pub(crate) fn table_name(kind: TableKind, schema: u32) -> String {
        format!("{}_{schema}", kind.word())
    }

    pub(crate) fn table(&self, kind: TableKind, schema: u32) -> String {
        self.qualified(&Self::table_name(kind, schema))
    }

    pub(crate) fn qualified(&self, name: &str) -> String {
        format!("{}.{}", self.quoted(), quote_ident(name))
    }
}
