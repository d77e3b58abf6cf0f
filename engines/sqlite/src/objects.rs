//! Content of the file, from its schema.

use rusqlite::Connection;

#[derive(Debug)]
pub(crate) struct Object {
    pub kind: String,
    pub name: String,
    /// Its table, in lower case, because SQLite ignores case; for a table or view its own name.
    pub table: String,
    /// The statement that made it; empty for an index that a constraint made.
    pub sql: String,
}

/// All objects except those of SQLite itself.
pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut asked = connection.prepare("SELECT type, name, lower(tbl_name), sql FROM sqlite_schema ORDER BY name")?;
    let objects = asked.query_map([], |row| {
        let sql = row.get::<_, Option<String>>(3)?.unwrap_or_default();
        Ok(Object { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, sql })
    })?;
    objects.filter(|object| !object.as_ref().is_ok_and(|object| is_sqlites(&object.name))).collect()
}

fn is_sqlites(name: &str) -> bool {
    name.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("sqlite_"))
}
