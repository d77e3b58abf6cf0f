//! The proof of the layout, from the pages of the file themselves.

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::LayoutProof;
use mindful_core::{Error, Result};
use mindful_sql::dataset::proof::{RowOrder, collect, ranks};
use rusqlite::Connection;

use crate::error::explain;
use crate::file::DatabaseFile;
use crate::registry;
use crate::statement;

pub(crate) fn prove(file: &DatabaseFile, connection: &Connection, stop: &StopFlag) -> Result<LayoutProof> {
    let schemas = registry::schemas(connection).map_err(|error| explain(file.path(), &error))?;
    let schema = |number: u32| {
        let schema = schemas[number as usize - 1];
        let order = row_order(file, connection, schema, stop)?;
        Ok((order.proof(schema), order))
    };
    collect(schemas.len() as u32, stop, schema, |one, other| Ok(one.correlation_with(other)))
}

fn row_order(file: &DatabaseFile, connection: &Connection, schema: u32, stop: &StopFlag) -> Result<RowOrder> {
    let explained = |error: rusqlite::Error| explain(file.path(), &error);
    let leaves =
        pairs(connection, include_str!("../sql/leaves.sql"), [format!("blocks_{schema}")], stop).map_err(explained)?;
    let keys =
        pairs(connection, &statement::text(include_str!("../sql/keys.sql"), schema), [], stop).map_err(explained)?;
    stop.refuse("the proof was stopped")?;
    // The file states the number of rows of a page, so it is limited: no more are taken than there are keys, plus one
    // to detect a surplus.
    let rows = leaves.iter().flat_map(|(page, rows)| (0..*rows).map(move |_| *page));
    let pages: Vec<u64> = rows.take(keys.len() + 1).collect();
    let complete = keys.iter().zip(1..).all(|((key, _), expected)| *key == expected);
    if pages.len() != keys.len() || !complete {
        return Err(Error::target(
            format!("{}: index and table of schema {schema} do not match", file.path().display()),
            "`mindful cleanup`, then load again",
        ));
    }
    // The leaves come in the order of pos, so the row with the n-th smallest pos is in the n-th entry.
    let places = ranks(&keys.iter().map(|(_, pos)| *pos).collect::<Vec<_>>());
    let page_of_key: Vec<u64> = places.iter().map(|place| pages[*place as usize]).collect();
    let distinct_blocks = leaves.iter().filter(|(_, rows)| *rows > 0).count() as u64;
    Ok(RowOrder::new(&page_of_key, distinct_blocks))
}

fn pairs(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    stop: &StopFlag,
) -> rusqlite::Result<Vec<(u64, u64)>> {
    let mut statement = connection.prepare(sql)?;
    let rows =
        statement.query_map(parameters, |row| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64)))?;
    rows.take_while(|_| !stop.is_requested()).collect()
}
