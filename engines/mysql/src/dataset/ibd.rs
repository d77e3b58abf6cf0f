//! The tablespace of one table, as InnoDB stores it: the rows in each page.
//!
//! Only the data for the proof is read: leaf pages of the clustered index, and of each row its primary key and its key.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Error, Result};
use mindful_instance::files;

use crate::dataset::layout::PAGE_BYTES;

pub(crate) const PAGE: usize = PAGE_BYTES as usize;
const CHUNK: usize = 64 * PAGE;

/// Page types: one of an index; encrypted, compressed, or both.
const INDEX_PAGE: u16 = 17_855;
const CODED_PAGES: [u16; 6] = [14, 15, 16, 34_354, 37_401, 37_402];

/// Offsets in a page of an index: its type, its rows' format, its level, its index.
const TYPE_AT: usize = 24;
const HEAP_AT: usize = 42;
const LEVEL_AT: usize = 64;
const INDEX_AT: usize = 66;
/// The first and the last record of each page, which hold no row.
const INFIMUM: usize = 99;
const SUPREMUM: usize = 112;

/// From a row's primary key to the next column: transaction and roll pointer are between them.
const KEY_BEHIND: usize = 8 + 6 + 7;
/// Bytes before a row; two of them point to the next one.
const HEADER: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stored {
    pub page: u64,
    pub key: u64,
    pub id: u64,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tablespace {
    pub rows: Vec<Stored>,
    pub ballast: u64,
}

/// The rows in `file`, a tablespace without concurrent writes. `None` if its pages are encrypted or compressed, and so
/// unreadable.
pub(crate) fn read(file: &Path, stop: &StopFlag) -> Result<Option<Tablespace>> {
    let failed = |error: std::io::Error| {
        Error::target(
            format!("cannot read {} ({error})", file.display()),
            "run mindful as a user with permission to read it",
        )
    };
    let mut source = files::open_file(file).map_err(failed)?;
    let mut found = Tablespace::default();
    let mut clustered = None;
    let mut chunk = vec![0; CHUNK];
    let mut number = 0;
    loop {
        stop.refuse("the proof was stopped")?;
        let length = fill(&mut source, &mut chunk).map_err(failed)?;
        for page in chunk[..length].chunks_exact(PAGE) {
            if CODED_PAGES.contains(&u16_at(page, TYPE_AT)) {
                return Ok(None);
            }
            if let Some(index) = leaf_of(page)
                // The clustered index is made first, with the table.
                && *clustered.get_or_insert(index) == index
            {
                rows_of(page, number, &mut found).map_err(|what| {
                    Error::target(
                        format!("page {number} of {} {what}", file.display()),
                        "load again after `mindful cleanup`, or check the file with innochecksum",
                    )
                })?;
            }
            number += 1;
        }
        if length < CHUNK {
            break;
        }
    }
    // A single read for a proof should not push other pages out of memory.
    let _ = rustix::fs::fadvise(&source, 0, None, rustix::fs::Advice::DontNeed);
    Ok(Some(found))
}

/// As much as there is, up to the length of `chunk`.
fn fill(source: &mut File, chunk: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while length < chunk.len() {
        match source.read(&mut chunk[length..])? {
            0 => break,
            read => length += read,
        }
    }
    Ok(length)
}

/// The index of `page`, if it is a leaf with rows; `None` for any other page.
fn leaf_of(page: &[u8]) -> Option<u64> {
    (level_of(page) == Some(0)).then(|| index_of(page))
}

/// Number of levels of its index below `page`; `None` for a page without an index.
pub(crate) fn level_of(page: &[u8]) -> Option<u16> {
    let compact = u16_at(page, HEAP_AT) & 0x8000 != 0;
    (u16_at(page, TYPE_AT) == INDEX_PAGE && compact).then(|| u16_at(page, LEVEL_AT))
}

pub(crate) fn index_of(page: &[u8]) -> u64 {
    u64_at(page, INDEX_AT)
}

/// The entry for a page in the page above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    /// The least primary key that it may hold.
    pub least: u64,
    pub child: u64,
}

/// The pages below one of the clustered index, in the order of primary keys.
pub(crate) fn nodes_of(page: &[u8]) -> std::result::Result<Vec<Node>, &'static str> {
    let mut nodes = Vec::new();
    each_record(page, 8 + 4, |at| {
        // The first one of a level covers all smaller keys.
        let is_first = page[at - HEADER] & 0x10 != 0;
        let child = u64::from(u16_at(page, at + 8)) << 16 | u64::from(u16_at(page, at + 10));
        nodes.push(Node { least: if is_first { 0 } else { u64_at(page, at) }, child });
    })?;
    Ok(nodes)
}

/// Adds the rows of a leaf of the clustered index.
pub(crate) fn rows_of(page: &[u8], number: u64, found: &mut Tablespace) -> std::result::Result<(), &'static str> {
    each_record(page, KEY_BEHIND + 8, |at| {
        let deleted = page[at - HEADER] & 0x20 != 0;
        // The first bit before the header shows whether the first nullable column is null.
        let is_ballast = page[at - HEADER - 1] & 1 != 0;
        match (deleted, is_ballast) {
            (true, _) => {}
            (false, true) => found.ballast += 1,
            (false, false) => {
                let (id, key) = (u64_at(page, at), u64_at(page, at + KEY_BEHIND));
                found.rows.push(Stored { page: number, key, id });
            }
        }
    })
}

/// Hands `take` where each record of `page` begins, as they are chained in the order of their primary keys; each is
/// `length` bytes long at least.
fn each_record(page: &[u8], length: usize, mut take: impl FnMut(usize)) -> std::result::Result<(), &'static str> {
    let mut at = INFIMUM;
    // No page holds more rows than it has room for.
    for _ in 0..PAGE / length {
        let step = u16_at(page, at - 2);
        at = (at + usize::from(step)) & 0xffff;
        if at == SUPREMUM {
            return Ok(());
        }
        if at <= SUPREMUM || at + length > PAGE {
            return Err("has a row that leads out of it");
        }
        take(at);
    }
    Err("has rows that lead in a circle")
}

fn u16_at(page: &[u8], at: usize) -> u16 {
    page.get(at..at + 2).map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
}

fn u64_at(page: &[u8], at: usize) -> u64 {
    page.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes)
}

/// A page of index 7 at `level`, with one record for each of `items`, `apart` from each other, that `fill` writes.
#[cfg(test)]
fn page_of(level: u16, items: &[u64], apart: usize, fill: impl Fn(&mut [u8], usize, u64)) -> Vec<u8> {
    let mut page = vec![0; PAGE];
    page[TYPE_AT..TYPE_AT + 2].copy_from_slice(&INDEX_PAGE.to_be_bytes());
    page[HEAP_AT] = 0x80;
    page[LEVEL_AT..LEVEL_AT + 2].copy_from_slice(&level.to_be_bytes());
    page[INDEX_AT..INDEX_AT + 8].copy_from_slice(&7_u64.to_be_bytes());
    let mut before = INFIMUM;
    for (place, item) in items.iter().enumerate() {
        let at = 200 + apart * place;
        page[before - 2..before].copy_from_slice(&((at - before) as u16).to_be_bytes());
        fill(&mut page, at, *item);
        before = at;
    }
    let end = (SUPREMUM.wrapping_sub(before) as u16).to_be_bytes();
    page[before - 2..before].copy_from_slice(&end);
    page
}

#[cfg(test)]
pub(crate) fn page_above(level: u16, children: &[u64]) -> Vec<u8> {
    let node = 8 + 4;
    page_of(level, children, HEADER + node, |page, at, child| {
        page[at + 8..at + node].copy_from_slice(&(child as u32).to_be_bytes());
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A leaf of index 7 with rows of so many ids, the even ones visited.
    fn leaf(ids: &[u64]) -> Vec<u8> {
        page_of(0, ids, 100, |page, at, id| {
            page[at - HEADER - 1] = (id % 2) as u8;
            page[at..at + 8].copy_from_slice(&id.to_be_bytes());
            page[at + KEY_BEHIND..at + KEY_BEHIND + 8].copy_from_slice(&(id + 100).to_be_bytes());
        })
    }

    fn parsed(pages: &[Vec<u8>]) -> Result<Option<Tablespace>> {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(&pages.concat()).expect("written");
        read(file.path(), &StopFlag::default())
    }

    #[test]
    fn visited_rows_are_found_and_ballast_is_counted() {
        let found = parsed(&[vec![0; PAGE], leaf(&[0, 1]), leaf(&[2, 3, 4])]).expect("readable").expect("plain");
        let rows: Vec<_> = found.rows.iter().map(|row| (row.page, row.key, row.id)).collect();
        assert_eq!(rows, [(1, 100, 0), (2, 102, 2), (2, 104, 4)]);
        assert_eq!(found.ballast, 2);
    }

    #[test]
    fn other_indexes_and_other_pages_are_passed_over() {
        let mut other = leaf(&[8]);
        other[INDEX_AT + 7] = 8;
        let mut node = leaf(&[10]);
        node[LEVEL_AT + 1] = 1;
        let found = parsed(&[leaf(&[0, 1]), other, node]).expect("readable").expect("plain");
        assert_eq!(found.rows.len(), 1);
    }

    #[test]
    fn a_broken_page_is_an_error_but_an_encoded_one_is_unknown() {
        let mut broken = leaf(&[0]);
        broken[INFIMUM - 2..INFIMUM].copy_from_slice(&0_u16.to_be_bytes());
        let error = parsed(&[broken]).expect_err("a row that follows itself");
        assert!(error.to_string().contains("page 0"), "{error}");
        let mut coded = leaf(&[0]);
        coded[TYPE_AT..TYPE_AT + 2].copy_from_slice(&37_401_u16.to_be_bytes());
        assert_eq!(parsed(&[coded]).expect("readable"), None);
    }

    #[test]
    fn a_pipe_or_a_link_in_place_of_a_tablespace_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let [pipe, link, file] = ["pipe.ibd", "link.ibd", "file.ibd"].map(|name| folder.path().join(name));
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).expect("a pipe");
        std::fs::write(&file, []).expect("a file");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert!(read(&file, &StopFlag::default()).is_ok());
        for other in [pipe, link] {
            let error = read(&other, &StopFlag::default()).unwrap_err().to_string();
            assert!(error.contains("cannot read"), "{error}");
        }
    }
}
