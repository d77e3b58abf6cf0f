//! Content of the namespace, from the catalogue: no foreign code runs while it is read.

use std::collections::BTreeMap;

use mindful_core::{Error, Result};
use mindful_sql::dataset::table_registry::Fault;
use mysql_common::row::Row;

use crate::connect::Conn;
use crate::dataset::storage::Storage;
use crate::error::Failure;
use crate::flavor::{Flavor, Version};
use crate::names::{BEGUN, MARK, MARK_OF_GUEST, MEETING, NUMBERS, Namespace, REGISTRY, TableKind};
use crate::observe::status;

const REGISTRY_COLUMNS: &[&str] = &[
    "name varchar(64)",
    "kind varchar(16)",
    "schema_number int unsigned",
    "blocks bigint unsigned",
    "seed varchar(32)",
    "content text",
    "shape int",
    "proof text",
    "proven_table varchar(64)",
    "made_at varchar(64)",
];

const DATASET_COLUMNS: &[&str] = &[
    "id bigint unsigned",
    "k bigint unsigned",
    "seq bigint unsigned",
    "f1 binary(124)",
    "f2 binary(124)",
    "f3 binary(124)",
    "f4 binary(124)",
    "f5 binary(124)",
    "f6 binary(124)",
    "f7 binary(124)",
    "f8 binary(124)",
    "pad varbinary(8000)",
    "mark bigint unsigned",
    "tail bigint unsigned",
];

pub(super) const NUMBERS_COLUMNS: &[&str] = &["n int unsigned"];

/// Columns of the table in which ranks meet by name and type.
pub(super) const MEETING_COLUMNS: &[&str] = &[
    "job varchar(255)",
    "rank_number int unsigned",
    "chunk int",
    "token varchar(255)",
    "body mediumtext",
    "bytes mediumblob",
    "expires_us bigint",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub name: String,
    pub row_bytes: u64,
    pub index_bytes: u64,
    pub made: String,
    /// When its rows changed last; empty if they did not since the server started.
    updated: String,
    /// `BASE TABLE` and others.
    kind: String,
    engine: String,
    comment: String,
    trigger: Option<String>,
    constraint: Option<String>,
    columns: Vec<String>,
    /// The first computed column.
    computed: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    pub tables: BTreeMap<String, Table>,
    /// Routines and events: name and kind.
    pub code: Vec<(String, String)>,
    /// When the server started, s since the epoch.
    started: String,
    /// The catalogue's name for the storage engine of mindful's objects.
    engine: String,
}

pub(super) fn exists(conn: &mut Conn, namespace: &Namespace) -> Result<bool, Failure> {
    let sql = "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?";
    let found: Option<String> = conn.exec_first(sql, (&namespace.name,))?;
    Ok(found.is_some())
}

pub(super) fn read(conn: &mut Conn, namespace: &Namespace) -> Result<Judged, Failure> {
    if !exists(conn, namespace)? {
        return Ok(Judged::default());
    }
    let version: Option<String> = conn.query_first("SELECT VERSION()")?;
    if version.and_then(|text| Version::parse(&text)).is_some_and(|version| version.flavor == Flavor::MySql) {
        // Otherwise the values may be a day old. Other servers with the protocol may lack this setting.
        let _ = conn.query_drop("SET SESSION information_schema_stats_expiry = 0");
    }
    let name = &namespace.name;
    let rows: Vec<Row> = conn.exec(include_str!("../../../sql/tables.sql"), (name, name, name))?;
    let mut tables: BTreeMap<String, Table> =
        rows.into_iter().map(table).map(|table| (table.name.clone(), table)).collect();
    let columns: Vec<(String, String, String, String)> =
        conn.exec(include_str!("../../../sql/columns.sql"), (&namespace.name,))?;
    for (name, column, kind, computed) in columns {
        let Some(table) = tables.get_mut(&name) else { continue };
        table.columns.push(format!("{column} {}", without_width(&kind)));
        // MariaDB writes this word for a column without a default.
        if !computed.is_empty() && computed != "NULL" {
            table.computed.get_or_insert(column);
        }
    }
    let code = conn.exec(include_str!("../../../sql/code.sql"), (&namespace.name, &namespace.name))?;
    Ok(Judged { tables, code, started: started(conn)?, engine: Storage::read(conn)?.engine().to_owned() })
}

fn started(conn: &mut Conn) -> Result<String, Failure> {
    let now: Option<i64> = conn.query_first("SELECT UNIX_TIMESTAMP()")?;
    let uptime = status::read(conn, &["Uptime"])?.remove("Uptime").unwrap_or(0.0);
    Ok((now.unwrap_or(0) - uptime as i64).to_string())
}

fn table(mut row: Row) -> Table {
    let mut text = |column: &str| row.take::<Option<String>, _>(column).flatten();
    let [name, kind, engine, comment, made, updated] =
        ["name", "type", "engine", "comment", "made", "updated"].map(|column| text(column).unwrap_or_default());
    let (trigger, constraint) = (text("trigger"), text("constraint"));
    let size = |row: &mut Row, column: &str| row.take::<u64, _>(column).unwrap_or(0);
    let (row_bytes, index_bytes) = (size(&mut row, "table_bytes"), size(&mut row, "index_bytes"));
    let (columns, computed) = (Vec::new(), None);
    Table { name, row_bytes, index_bytes, made, updated, kind, engine, comment, trigger, constraint, columns, computed }
}

/// `bigint(20) unsigned` of MariaDB is MySQL's `bigint unsigned`.
fn without_width(kind: &str) -> String {
    match kind.split_once('(') {
        Some((word, rest)) if word.ends_with("int") => {
            format!("{word}{}", rest.split_once(')').map_or("", |(_, behind)| behind))
        }
        _ => kind.to_owned(),
    }
}

impl Judged {
    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.code.is_empty()
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    /// Identifies the present state of a table's rows: another value means that they may have changed.
    pub(crate) fn state_of(&self, name: &str) -> Option<String> {
        self.table(name).map(|table| format!("{}|{}|{}", table.made, table.updated, self.started))
    }

    pub(crate) fn refusal(&self, namespace: &Namespace) -> Option<Error> {
        let next = "left untouched; choose another name with --namespace";
        let Some(registry) = self.table(REGISTRY).filter(|table| table.comment == MARK || self.is_guest()) else {
            let what = format!("database {} holds tables and was not made by mindful", namespace.quoted());
            return Some(Error::target(what, next));
        };
        let fault = registry.fault(REGISTRY_COLUMNS, &self.engine)?;
        let name = namespace.qualified(REGISTRY);
        Some(Error::target(format!("{name} is not as mindful made it: it {}", fault.what), next))
    }

    /// Whether others created the database.
    pub(crate) fn is_guest(&self) -> bool {
        self.table(REGISTRY).is_some_and(|table| table.comment == MARK_OF_GUEST)
    }

    pub(crate) fn fault_of(&self, name: &str) -> Option<Fault> {
        self.table(name)?.fault(DATASET_COLUMNS, &self.engine)
    }

    /// The fault of a table that is marked by its comment and not registered.
    pub(super) fn fault_of_marked(&self, name: &str, columns: &[&str]) -> Option<Fault> {
        let table = self.table(name)?;
        if table.comment != MARK {
            return Some(Fault { what: "lacks mindful's mark, its comment".to_owned(), ours: false });
        }
        table.fault(columns, &self.engine)
    }

    /// Whether a routine or event has a name of mindful's. Its body may have been replaced: it is created again before
    /// it is called.
    pub(crate) fn is_own_code(name: &str, kind: &str) -> bool {
        let number = name.strip_prefix("visit_").and_then(|number| number.parse::<u32>().ok());
        kind == "FUNCTION" && number.is_some()
    }
}

impl Table {
    fn fault(&self, columns: &[&str], engine: &str) -> Option<Fault> {
        let ours = |what: String| Some(Fault { what, ours: true });
        if self.kind != "BASE TABLE" {
            return Some(Fault { what: format!("is a {}", self.kind.to_lowercase()), ours: false });
        }
        if let Some(name) = &self.trigger {
            return ours(format!("has the trigger {name}"));
        }
        if let Some(name) = &self.constraint {
            return ours(format!("has the constraint {name}"));
        }
        if !self.engine.eq_ignore_ascii_case(engine) {
            return ours(format!("is a table of {}", if self.engine.is_empty() { "no engine" } else { &self.engine }));
        }
        if let Some(column) = &self.computed {
            return ours(format!("computes its column {column}"));
        }
        (self.columns != columns).then_some(())?;
        let odd = self.columns.iter().find(|column| !columns.contains(&column.as_str()));
        ours(odd.map_or("lacks columns".to_owned(), |column| format!("has the column {column}")))
    }

    /// Whether it belongs to mindful without being registered: helpers for visits and the rendezvous, and remains of a
    /// killed load.
    pub(crate) fn is_own_beside(&self) -> bool {
        let of_dataset =
            |(kind, number): (&str, &str)| TableKind::from_word(kind).is_some() && number.parse::<u32>().is_ok();
        let begun = self.name.split_once('_').is_some_and(of_dataset) && self.comment == BEGUN;
        self.kind == "BASE TABLE"
            && (self.name == REGISTRY || begun || ([NUMBERS, MEETING].contains(&&*self.name) && self.comment == MARK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_servers_write_the_same_type() {
        for (kind, same) in [
            ("bigint(20) unsigned", "bigint unsigned"),
            ("bigint unsigned", "bigint unsigned"),
            ("int(11)", "int"),
            ("varchar(64)", "varchar(64)"),
            ("varbinary(8000)", "varbinary(8000)"),
        ] {
            assert_eq!(without_width(kind), same);
        }
    }

    #[test]
    fn only_functions_called_as_ours_are_ours() {
        assert!(Judged::is_own_code("visit_12", "FUNCTION"));
        for (name, kind) in [("visit_12", "PROCEDURE"), ("visit_x", "FUNCTION"), ("visit", "FUNCTION"), ("e", "EVENT")]
        {
            assert!(!Judged::is_own_code(name, kind), "{name}");
        }
    }
}
