//! The storage of the rows: InnoDB, or another engine with unknown pages.

use mindful_core::Error;

use crate::connect::Conn;
use crate::dataset::layout::PAGE_BYTES;
use crate::error::Failure;
use crate::names::quote_ident;
use crate::observe::status;

/// Servers with the protocol but other storage, by their own description; case-insensitive.
const OTHERS: [&str; 7] = ["TiDB", "Vitess", "PlanetScale", "OceanBase", "SingleStore", "MemSQL", "Dolt"];

const OF_INNODB: &str = "Innodb_buffer_pool_read_requests";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Storage {
    /// InnoDB, with pages of the length that rows are made for.
    InnoDb,
    Other(Other),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Other {
    pub what: String,
    /// The catalogue's name for the storage engine of a table.
    pub engine: String,
    /// Whether the server makes no table of another.
    pub forced: bool,
}

impl Storage {
    /// Queries the server. Refuses an InnoDB with another page length.
    pub(crate) fn read(conn: &mut Conn) -> Result<Self, Failure> {
        let said: Option<(String, Option<String>)> = conn.query_first("SELECT VERSION(), @@version_comment")?;
        let (version, comment) = said.unwrap_or_default();
        let forced = variable(conn, "enforce_storage_engine")?.filter(|engine| !engine.is_empty());
        let usual = variable(conn, "default_storage_engine")?.unwrap_or_default();
        let other = |what: String| {
            let engine = forced.clone().unwrap_or_else(|| usual.clone());
            Ok(Self::Other(Other { what, engine, forced: forced.is_some() }))
        };
        if let Some(name) = named(&format!("{version} {}", comment.unwrap_or_default())) {
            return other(format!("the server is {name}"));
        }
        if let Some(engine) = forced.as_ref().filter(|engine| !engine.eq_ignore_ascii_case("InnoDB")) {
            return other(format!("the server makes only tables of {engine}"));
        }
        let sql = "SELECT support FROM information_schema.ENGINES WHERE engine = 'InnoDB'";
        let support: Option<String> = conn.query_first(sql)?;
        if !support.is_some_and(|support| matches!(support.as_str(), "YES" | "DEFAULT")) {
            return other("the server has no InnoDB".to_owned());
        }
        if status::read(conn, &[OF_INNODB])?.is_empty() {
            return other("the server does not count InnoDB's work".to_owned());
        }
        match conn.query_first::<u64>("SELECT @@GLOBAL.innodb_page_size")? {
            Some(PAGE_BYTES) => Ok(Self::InnoDb),
            bytes => Err(Error::target(
                format!("the server's pages are {} bytes long", bytes.unwrap_or(0)),
                "mindful measures InnoDB with pages of 16384 bytes (innodb_page_size)",
            )
            .into()),
        }
    }

    pub(crate) const fn other(&self) -> Option<&Other> {
        match self {
            Self::InnoDb => None,
            Self::Other(other) => Some(other),
        }
    }

    /// The catalogue's name for the storage engine of our tables.
    pub(crate) fn engine(&self) -> &str {
        self.other().map_or("InnoDB", |other| &other.engine)
    }

    /// The part of `CREATE TABLE` after its columns; `more` is for InnoDB.
    pub(crate) fn clause(&self, more: &str) -> String {
        match self.other() {
            None => format!("ENGINE = InnoDB {more}"),
            Some(other) if other.forced => format!("ENGINE = {}", quote_ident(&other.engine)),
            Some(_) => String::new(),
        }
    }
}

/// A variable of the server; `None` if it has none of that name.
fn variable(conn: &mut Conn, name: &str) -> Result<Option<String>, Failure> {
    let row: Option<(String, Option<String>)> = conn.query_first(format!("SHOW GLOBAL VARIABLES LIKE '{name}'"))?;
    Ok(row.and_then(|(_, value)| value))
}

fn named(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    OTHERS.into_iter().find(|name| text.contains(&name.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_engine_than_innodb_is_known_by_its_description() {
        for (text, name) in [
            ("8.0.11-TiDB-v8.1.0 TiDB Server (Apache License 2.0)", Some("TiDB")),
            ("8.0.30-vitess", Some("Vitess")),
            ("11.4.5-MariaDB-log", None),
            ("8.0.36 Source distribution", None),
        ] {
            assert_eq!(named(text), name);
        }
    }
}
