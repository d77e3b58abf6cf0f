//! The proof of the layout, from the pages of the file themselves.

use mindful_core::contract::clock;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{LayoutProof, SchemaProof};
use mindful_core::{Error, Result};
use rusqlite::Connection;

use crate::error::explain;
use crate::file::DatabaseFile;
use crate::registry;
use crate::statement;

/// Proves every schema of `file`.
pub fn prove(file: &DatabaseFile, connection: &Connection, stop: &StopFlag) -> Result<LayoutProof> {
    let schemas = registry::schemas(connection).map_err(|error| explain(file.path(), &error))?;
    let mut proof = LayoutProof { schemas: Vec::new(), cross_correlation: None, proven_at_us: 0 };
    let mut neighbour: Option<Vec<u64>> = None;
    for schema in schemas {
        let found = Order::read(file, connection, schema, stop)?;
        let by_key: Vec<u64> = (0..found.page_ranks.len() as u64).collect();
        proof.schemas.push(SchemaProof {
            schema,
            rows: found.page_ranks.len() as u64,
            distinct_blocks: found.distinct_blocks,
            rank_correlation: spearman(&by_key, &found.page_ranks),
            sample: None,
        });
        if let Some(other) = neighbour.filter(|other| other.len() == found.page_ranks.len()) {
            let rho = spearman(&other, &found.page_ranks).abs();
            proof.cross_correlation = Some(proof.cross_correlation.map_or(rho, |most| most.max(rho)));
        }
        neighbour = Some(found.page_ranks);
    }
    proof.proven_at_us = clock::now_us();
    Ok(proof)
}

/// The physical order of a schema's rows.
struct Order {
    /// For each key from 1, the rank of the page that holds its row.
    page_ranks: Vec<u64>,
    /// Leaf pages that hold rows.
    distinct_blocks: u64,
}

impl Order {
    fn read(file: &DatabaseFile, connection: &Connection, schema: u32, stop: &StopFlag) -> Result<Self> {
        let explained = |error: rusqlite::Error| explain(file.path(), &error);
        let leaves = pairs(connection, include_str!("../sql/leaves.sql"), [format!("blocks_{schema}")], stop)
            .map_err(explained)?;
        let keys = pairs(connection, &statement::text(include_str!("../sql/keys.sql"), schema), [], stop)
            .map_err(explained)?;
        if stop.is_requested() {
            return Err(Error::interrupted("the proof was stopped"));
        }
        // How many rows a page has says its file: no more are taken than there are keys, and one that is too many.
        let rows = leaves.iter().flat_map(|(page, rows)| (0..*rows).map(move |_| *page));
        let pages: Vec<u64> = rows.take(keys.len() + 1).collect();
        let complete = keys.iter().zip(1..).all(|((key, _), expected)| *key == expected);
        if pages.len() != keys.len() || !complete {
            return Err(Error::target(
                format!("{}: index and table of schema {schema} do not fit", file.path().display()),
                "`mindful cleanup`, then load anew",
            ));
        }
        // The leaves come in the order of pos, so the row with the n-th smallest pos stands in the n-th entry.
        let places = ranks(&keys.iter().map(|(_, pos)| *pos).collect::<Vec<_>>());
        let page_of_key: Vec<u64> = places.iter().map(|place| pages[*place as usize]).collect();
        let distinct_blocks = leaves.iter().filter(|(_, rows)| *rows > 0).count() as u64;
        Ok(Self { page_ranks: ranks(&page_of_key), distinct_blocks })
    }
}

/// Rows of two numbers; cut short when `stop` is requested.
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

/// The rank, from 0, of each value; equal values in order of appearance.
fn ranks(values: &[u64]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|index| values[*index]);
    let mut ranks = vec![0; values.len()];
    for (rank, index) in order.into_iter().enumerate() {
        ranks[index] = rank as u64;
    }
    ranks
}

/// Spearman's rank correlation of two series of ranks: `1 - 6 sum d^2 / (n (n^2 - 1))`; 0 for fewer than two.
fn spearman(one: &[u64], other: &[u64]) -> f64 {
    let n = one.len() as f64;
    if one.len() < 2 {
        return 0.0;
    }
    let squares: f64 = one.iter().zip(other).map(|(a, b)| (*a as f64 - *b as f64).powi(2)).sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_reversal_correlate_fully() {
        let (up, down) = ([0, 1, 2, 3], ranks(&[40, 30, 20, 10]));
        assert!((spearman(&up, &up) - 1.0).abs() < 1e-12);
        assert!((spearman(&up, &down) + 1.0).abs() < 1e-12);
    }
}
