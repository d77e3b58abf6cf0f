//! How mindful's objects are called in a server, quoted.

pub(crate) use mindful_sql::dataset::table_registry::TableKind;

/// The comment that marks the registry, and so its database, as mindful's own.
pub(crate) const MARK: &str = "mindful: dataset, made and removed by mindful";

/// The comment of a registry in a database that others created.
pub(crate) const MARK_OF_GUEST: &str = "mindful: dataset in a database of others, made and removed by mindful";

/// The comment of a table with an incomplete load.
pub(crate) const BEGUN: &str = "mindful: begun, not yet loaded";

pub(crate) const SHAPE: i32 = 1;

pub(crate) const REGISTRY: &str = "registry";

/// The table of numbers that ranges are joined with, which has the mark as its comment.
pub(crate) const NUMBERS: &str = "numbers";

/// The table in which ranks of a run meet, which has the mark as its comment.
pub(crate) const MEETING: &str = "meeting";

/// mindful's database, unless the user names another.
pub(crate) const DEFAULT: &str = "mindful";

/// The server cuts or refuses longer names.
pub(crate) const LONGEST_NAME: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Namespace {
    pub name: String,
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

pub(crate) fn quote_ident(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        let odd = Namespace { name: "a`; DROP DATABASE b; `".to_owned() };
        assert_eq!(odd.table(TableKind::Scan, 2), "`a``; DROP DATABASE b; ```.`scan_2`");
    }
}
