//! Names of mindful's own objects in the account's schema.

use mindful_core::{Error, Result};
pub use mindful_sql::dataset::table_registry::TableKind;

/// The comment on the registry by which it is known as ours.
pub(crate) const MARK: &str = "mindful: registry of its own tables";

/// Oracle 12.1 takes names of 30 bytes; the longest end is `_BLOCKS_4096_K`.
const LONGEST: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace(String);

impl Namespace {
    pub fn parse(text: &str) -> Result<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let begins = text.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
        if !begins || text.len() > LONGEST || !text.chars().all(plain) {
            return Err(Error::plan(
                format!("`{text}` cannot begin the names of tables"),
                format!("give 1 to {LONGEST} letters, digits and _, the first a letter"),
            ));
        }
        Ok(Self(text.to_ascii_uppercase()))
    }

    pub fn registry(&self) -> String {
        format!("{}_REGISTRY", self.0)
    }

    pub fn table(&self, kind: TableKind, schema: u32) -> String {
        format!("{}_{}_{schema}", self.0, kind.word().to_ascii_uppercase())
    }

    /// A pattern of LIKE, escaped by `!`, for all our names and similar ones.
    pub(crate) fn pattern(&self) -> String {
        format!("{}!_%", self.0.replace('_', "!_"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_the_oldest_server() {
        let longest = Namespace::parse("a234567890123456").unwrap();
        assert!(format!("{}_K", longest.table(TableKind::Blocks, 4_096)).len() <= 30);
        for wrong in ["", "1a", "a b", "a\"b", "a2345678901234567", "ä"] {
            assert!(Namespace::parse(wrong).is_err(), "{wrong}");
        }
    }
}
