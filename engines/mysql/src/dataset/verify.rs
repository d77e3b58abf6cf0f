//! The proof of the layout: from the tablespaces if they can be read here, else from the server's answers.

use std::fs::File;
use std::path::{Path, PathBuf};

use mindful_core::contract::event::{Events, emit_note};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Dataset, LayoutProof};
use mindful_core::{Result, contract::clock};
use mindful_instance::files;
use mindful_sql::dataset::proof::{RowOrder, collect, unfit};

use crate::connect::Conn;
use crate::connect::link::Link;
use crate::dataset::block_yield::{self, SHARE};
use crate::dataset::ibd::{self, Stored};
use crate::dataset::layout::PAGE_BYTES;
use crate::error::Failure;
use crate::names::{Namespace, TableKind};
use crate::work::settle;

/// Keys in an answer, which is limited.
const KEYS_AT_ONCE: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// The index above the rows contains the page of each; some leaves are read.
    Tree,
    Pages,
}

/// Checks the place of every row of every schema, and every pair of neighbouring schemas. `data` is the server's
/// folder, if it is on this host.
pub(crate) fn of_all(
    link: &Link,
    namespace: &Namespace,
    dataset: &Dataset,
    data: Option<&Path>,
    look: Look,
    stop: &StopFlag,
    events: &dyn Events,
) -> Result<LayoutProof> {
    let schema = |schema| {
        let table = namespace.table(TableKind::Blocks, schema);
        let file = data.map(|data| tablespace(data, namespace, schema));
        let (order, how) = link.run_on_tables(&format!("verifying {table}"), |conn| {
            let stored = match &file {
                Some(file) => by_tablespace(conn, &table, file, dataset.blocks_per_schema, look, stop)?,
                None => None,
            };
            match stored {
                Some(order) => Ok((order, None)),
                None => by_statements(conn, namespace, schema, dataset.blocks_per_schema, look, stop)
                    .map(|(order, how)| (order, Some(how))),
            }
        })?;
        if let Some(how) = how {
            emit_note(events, format!("{table}: {how}"));
        }
        Ok((order.proof(schema), order))
    };
    collect(dataset.schemas, stop, schema, |one, other| Ok(one.correlation_with(other)))
}

/// Where nothing is known of pages: all keys are there, and nothing is proven of where.
pub(crate) fn of_none(link: &Link, namespace: &Namespace, dataset: &Dataset) -> Result<LayoutProof> {
    for schema in 1..=dataset.schemas {
        let table = namespace.table(TableKind::Blocks, schema);
        link.run_on_tables(&format!("verifying {table}"), |conn| {
            primary_keys(conn, &table, dataset.blocks_per_schema)
        })?;
    }
    Ok(LayoutProof { schemas: Vec::new(), cross_correlation: None, proven_at_us: clock::now_us() })
}

/// The file of a schema's table. The server writes letters and figures of a database's name as they are, all else as
/// their number.
pub(crate) fn tablespace(data: &Path, namespace: &Namespace, schema: u32) -> PathBuf {
    let coded = |letter: char| match letter {
        '0'..='9' | 'a'..='z' | 'A'..='Z' | '_' => letter.to_string(),
        other => format!("@{:04x}", u32::from(other)),
    };
    let folder: String = namespace.name.chars().map(coded).collect();
    data.join(folder).join(format!("{}.ibd", Namespace::table_name(TableKind::Blocks, schema)))
}

/// The order in `file`; `None` if it belongs to another server, cannot be read, or has encoded pages.
fn by_tablespace(
    conn: &mut Conn,
    table: &str,
    file: &Path,
    blocks: u64,
    look: Look,
    stop: &StopFlag,
) -> Result<Option<RowOrder>, Failure> {
    let order = settle::exported(conn, &[table.to_owned()], |conn| {
        // While it exports a table, the server keeps a description next to it: so this is its folder.
        if !file.with_extension("cfg").exists() {
            return Ok(None);
        }
        let Ok(opened) = files::open_file(file) else { return Ok(None) };
        if look == Look::Tree
            && let Some(order) = by_tree(conn, table, &opened, blocks, stop)?
        {
            return Ok(Some(order));
        }
        ibd::read(file, stop)?.map(|found| by_pages(conn, table, &found, blocks)).transpose()
    })?;
    Ok(order.flatten())
}

/// The order from all pages. A freed page keeps its old contents: its rows belong to the table only if the index leads
/// to them.
fn by_pages(conn: &mut Conn, table: &str, found: &[Stored], blocks: u64) -> Result<RowOrder, Failure> {
    let order = row_order(found, blocks).map_err(|what| unfit(table, &what))?;
    let ids = primary_keys(conn, table, blocks)?;
    if !found.iter().all(|row| ids.get(row.key as usize - 1) == Some(&row.id)) {
        return Err(unfit(table, "has rows that its index does not lead to").into());
    }
    Ok(order)
}

/// The order of `rows`; an error if they are not exactly those of the keys 1 to `blocks`.
fn row_order(rows: &[Stored], blocks: u64) -> Result<RowOrder, String> {
    let mut keyed: Vec<(u64, u64, u64)> = rows.iter().map(|row| (row.key, row.page, row.id)).collect();
    keyed.sort_unstable();
    if keyed.len() as u64 != blocks || !keyed.iter().zip(1..).all(|((key, ..), expected)| *key == expected) {
        return Err(format!("holds {} visited rows, not the keys 1 to {blocks} once each", keyed.len()));
    }
    let mut pages: Vec<u64> = rows.iter().map(|row| row.page).collect();
    pages.dedup();
    let places: Vec<(u64, u64)> = keyed.iter().map(|(_, page, id)| (*page, *id)).collect();
    Ok(RowOrder::new(&places, pages.len() as u64))
}

/// The order from the index above the rows; `None` unless it shows that each page contains one visited row. Then every
/// page is read.
fn by_tree(
    conn: &mut Conn,
    table: &str,
    file: &File,
    blocks: u64,
    stop: &StopFlag,
) -> Result<Option<RowOrder>, Failure> {
    let leaves = ibd::leaves(file, blocks, stop)?.filter(|leaves| ibd::is_one_row_a_leaf(leaves, blocks));
    let Some(leaves) = leaves else { return Ok(None) };
    let ids = primary_keys(conn, table, blocks)?;
    if !ids.iter().all(|id| is_visited(*id, blocks)) || !ibd::leaves_hold(file, &leaves, &ids, stop)? {
        return Ok(None);
    }
    ibd::drop_cached(file);
    let pages: Vec<u64> = ids.iter().map(|id| leaves[(id / 2) as usize].page).collect();
    Ok(Some(RowOrder::new(&pages, blocks)))
}

const fn is_visited(id: u64, blocks: u64) -> bool {
    id.is_multiple_of(2) && id / 2 < blocks
}

/// The primary key of each key, from 1, by an index that has both.
fn primary_keys(conn: &mut Conn, table: &str, blocks: u64) -> Result<Vec<u64>, Failure> {
    // The registry's number of blocks may be wrong, because others may write there: memory is allocated only for
    // received rows.
    let mut ids: Vec<u64> = Vec::new();
    loop {
        // The last key is read again: a second row with it would come before the next key.
        ids.pop();
        let from = if ids.is_empty() { 0 } else { ids.len() + 1 };
        let most = ids.len() + KEYS_AT_ONCE;
        let sql =
            format!("SELECT k, id FROM {table} FORCE INDEX (k) WHERE k >= {from} ORDER BY k LIMIT {KEYS_AT_ONCE}");
        let rows: Vec<(u64, u64)> = conn.query(sql)?;
        let next = rows.into_iter().zip(ids.len() as u64 + 1..).take_while(|((key, _), expected)| key == expected);
        ids.extend(next.map(|((_, id), _)| id));
        if ids.len() < most || ids.len() as u64 > blocks {
            break;
        }
    }
    if ids.len() as u64 != blocks {
        return Err(unfit(table, &format!("does not hold the keys 1 to {blocks} once each")).into());
    }
    Ok(ids)
}

/// The order by primary key, which is that of the pages, and the number of pages from the server's answers: the cost of
/// visiting rows, and the space reserved for the table. Also returns the source of that number.
fn by_statements(
    conn: &mut Conn,
    namespace: &Namespace,
    schema: u32,
    blocks: u64,
    look: Look,
    stop: &StopFlag,
) -> Result<(RowOrder, String), Failure> {
    let table = namespace.table(TableKind::Blocks, schema);
    let ids = primary_keys(conn, &table, blocks)?;
    if !ids.iter().all(|id| is_visited(*id, blocks)) {
        return Err(unfit(&table, "has visited rows where ballast was written").into());
    }
    conn.query_drop(format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {table}"))?;
    let sql = "SELECT data_length FROM information_schema.tables WHERE table_schema = ? AND table_name = ?";
    let name = Namespace::table_name(TableKind::Blocks, schema);
    let bytes: Option<Option<u64>> = conn.exec_first(sql, (&namespace.name, name))?;
    let reserved = pages_by_size(bytes.flatten().unwrap_or(0) / PAGE_BYTES, blocks);
    let measured = block_yield::measure(conn, &table, blocks, look == Look::Pages, stop)?;
    let pages = measured.map_or(reserved, |found| if found.own < found.drawn { found.pages(blocks) } else { reserved });
    Ok((RowOrder::new(&ids, pages), how_found(measured, blocks)))
}

fn how_found(measured: Result<block_yield::BlockYield, &str>, blocks: u64) -> String {
    match measured {
        Err(why) => format!("the number of its pages is known only from the size that the server reserved: {why}"),
        Ok(found) if found.drawn + 3 >= blocks => format!("{} of {} rows begin a page each", found.own, found.drawn),
        Ok(found) => format!(
            "{} of {} rows drawn at random begin a page each; {SHARE} of all that do not would be missed once in 10^9",
            found.own, found.drawn
        ),
    }
}

/// Pages with rows, of all `pages` that the server reserved for the table. Besides one for each row there are pages
/// above the leaves, one for a thousand. Pages are also reserved ahead: an extent of 64, or up to one of a hundred.
fn pages_by_size(pages: u64, blocks: u64) -> u64 {
    let beside = blocks / 500 + blocks / 100 + 64 * 5;
    if (blocks..=blocks + beside).contains(&pages) { blocks } else { pages }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_counts_once_and_two_rows_in_a_page_are_reported() {
        let order = |rows: &[(u64, u64, u64)], blocks| {
            let rows: Vec<_> = rows.iter().map(|(page, key, id)| Stored { page: *page, key: *key, id: *id }).collect();
            row_order(&rows, blocks).map(|order| order.proof(1))
        };
        let proof = order(&[(5, 2, 0), (5, 1, 2), (6, 3, 4)], 3).expect("all keys");
        assert_eq!((proof.rows, proof.distinct_blocks), (3, 2));
        for rows in [&[(5, 1, 0), (6, 1, 2)][..], &[(5, 1, 0), (6, 3, 2)], &[(5, 1, 0)]] {
            assert!(order(rows, 2).expect_err("not the keys").contains("1 to 2"));
        }
    }

    #[test]
    fn the_file_of_a_table_is_named_as_the_server_names_it() {
        let of = |name: &str| tablespace(Path::new("/d"), &Namespace { name: name.to_owned() }, 3);
        assert_eq!(of("mindful"), Path::new("/d/mindful/blocks_3.ibd"));
        assert_eq!(of("a-b"), Path::new("/d/a@002db/blocks_3.ibd"));
    }

    #[test]
    fn reserved_pages_are_no_rows_and_missing_ones_are_reported() {
        assert_eq!(pages_by_size(32_896, 32_768), 32_768);
        assert_eq!(pages_by_size(21_846, 32_768), 21_846);
        assert_eq!(pages_by_size(65_600, 32_768), 65_600);
    }
}
