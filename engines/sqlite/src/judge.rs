//! Whether the objects in the file with our names are as mindful created them. Only the schema is read, because that
//! runs no code of the file: a view in place of a table, a trigger or a computed column would run in every statement.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::objects::{self, Object};
use crate::{registry, statement};

/// The first deviation from mindful's objects, in words. The registry is read only if it is our own table.
pub(crate) fn fault(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let objects = objects::all(connection)?;
    let mut by_table: BTreeMap<String, Vec<&Object>> = BTreeMap::new();
    for object in &objects {
        by_table.entry(object.table.clone()).or_default().push(object);
    }
    let on = |table: &str| by_table.get(table).map_or(&[][..], Vec::as_slice);
    for table in registry::REGISTRY {
        if let Some(fault) = fault_of(table, on(table), &of_registry(table), "") {
            return Ok(Some(fault));
        }
    }
    if registry::REGISTRY.iter().any(|table| on(table).is_empty()) {
        return Ok(None);
    }
    Ok(registry::schemas(connection)?.into_iter().find_map(|schema| {
        let words_of = |template: &str| words(&statement::text(template, schema));
        let (blocks, scan) = (format!("blocks_{schema}"), format!("scan_{schema}"));
        let index = words_of(include_str!("../sql/index.sql"));
        fault_of(&blocks, on(&blocks), &words_of(include_str!("../sql/schema.sql")), &index)
            .or_else(|| fault_of(&scan, on(&scan), &words_of(include_str!("../sql/scan_table.sql")), ""))
    }))
}

/// The fault of `table`, if these objects are `there`: only the table itself, created by `made`, and the index created
/// by `index` are allowed.
fn fault_of(table: &str, there: &[&Object], made: &str, index: &str) -> Option<String> {
    let what = there.iter().find_map(|object| match object.kind.as_str() {
        "table" if words(&object.sql) == made => None,
        "table" if words(&object.sql).starts_with("create virtual") => Some("is a virtual table".to_owned()),
        "table" => Some("has other columns or constraints".to_owned()),
        "index" if words(&object.sql) == index => None,
        "view" => Some("is a view".to_owned()),
        kind => Some(format!("has the {kind} {}", object.name)),
    });
    what.map(|what| format!("{table} is not as mindful made it: it {what}"))
}

fn of_registry(table: &str) -> String {
    let all = words(include_str!("../sql/registry.sql"));
    let made = all.split(" ; ").find(|made| made.starts_with(&format!("create table {table} ")));
    made.unwrap_or_default().to_owned()
}

/// The words of a statement, comments and its last semicolon left out: equal where SQLite reads the same. Our
/// statements do not contain quoted names, so they need not be parsed.
fn words(sql: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut rest = sql.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else {
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let length = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len()).max(first.len_utf8());
            words.push(rest[..length].to_ascii_lowercase());
            length
        };
        rest = rest[length..].trim_start_matches([' ', '\t', '\n', '\u{c}', '\r']);
    }
    if words.last().is_some_and(|last| last == ";") {
        words.pop();
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_equal_where_sqlite_reads_the_same() {
        let made = words("-- What it is.\nCREATE TABLE a (\n  k INTEGER, /* a key */ c BLOB\n) STRICT;\n");
        assert_eq!(made, "create table a ( k integer , c blob ) strict");
        assert_eq!(words("create table A(k INTEGER,c BLOB)STRICT"), made);
        for other in [
            "CREATE TABLE a (k INTEGER, c BLOB)",
            "CREATE TABLE a (k INTEGER, c BLOB CHECK (c)) STRICT",
            "CREATE TABLE a (k INTEGER, c BLOB '/*' ) STRICT -- */",
            "CREATE TABLE a (kINTEGER, c BLOB) STRICT",
        ] {
            assert_ne!(words(other), made, "{other}");
        }
        assert_eq!(words("a -- b"), "a");
        assert_eq!(words("a /* b"), "a");
        assert_eq!(words("é \0"), "é \0");
    }

    #[test]
    fn the_registry_is_found_in_the_statements_that_make_it() {
        let [dataset, schema] = registry::REGISTRY.map(of_registry);
        assert!(dataset.ends_with("parameters text not null , proof text ) strict"), "{dataset}");
        assert!(schema.starts_with("create table mindful_schema ( schema integer primary key ,"), "{schema}");
    }
}
