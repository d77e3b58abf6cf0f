//! The tablespace of one table, as InnoDB stores it: the rows in each page, and the tree of pages above them.
//!
//! Only the data for the proof is read: leaf pages of the clustered index, and of each row its primary key and its key.
//! The pages above the leaves, a thousandth of the file, contain the primary keys of each leaf. Then some leaves are read
//! as a check.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::workload::draw::{self, Permutation};
use mindful_core::{Error, Result, contract::clock};
use mindful_instance::files;

use crate::dataset::layout::PAGE_BYTES;

const PAGE: usize = PAGE_BYTES as usize;
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

/// Pages that may be the root of the clustered index, which is the first that the file has: MySQL keeps its description of
/// the table before it.
const ROOTS: [u64; 2] = [3, 4];
/// Number of leaves to read: if one in 25 had wrong contents, all of those would be missed once in 10^8.
const LOOKED_INTO: u64 = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stored {
    pub page: u64,
    pub key: u64,
    pub id: u64,
}

/// The visited rows in `file`, a tablespace without concurrent writes. `None` if its pages are encrypted or compressed, and
/// so unreadable.
pub(crate) fn read(file: &Path, stop: &StopFlag) -> Result<Option<Vec<Stored>>> {
    let failed = |error: std::io::Error| {
        Error::target(
            format!("cannot read {} ({error})", file.display()),
            "run mindful as a user with permission to read it",
        )
    };
    let mut source = files::open_file(file).map_err(failed)?;
    let (mut found, mut chunk) = (Vec::new(), Vec::with_capacity(CHUNK));
    let (mut clustered, mut number) = (None, 0);
    loop {
        stop.refuse("the proof was stopped")?;
        chunk.clear();
        let length = source.by_ref().take(CHUNK as u64).read_to_end(&mut chunk).map_err(failed)?;
        for page in chunk.chunks_exact(PAGE) {
            if CODED_PAGES.contains(&u16_at(page, TYPE_AT)) {
                return Ok(None);
            }
            // The clustered index is made first, with the table.
            if level_of(page) == Some(0) && *clustered.get_or_insert(index_of(page)) == index_of(page) {
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
    drop_cached(&source);
    Ok(Some(found))
}

/// A single read for a proof should not push other pages out of memory.
pub(crate) fn drop_cached(file: &File) {
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
}

/// Number of levels of its index below `page`; `None` for a page without an index.
fn level_of(page: &[u8]) -> Option<u16> {
    let compact = u16_at(page, HEAP_AT) & 0x8000 != 0;
    (u16_at(page, TYPE_AT) == INDEX_PAGE && compact).then(|| u16_at(page, LEVEL_AT))
}

fn index_of(page: &[u8]) -> u64 {
    u64_at(page, INDEX_AT)
}

/// A page of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    pub page: u64,
    /// The smallest primary key that it can contain; its keys are below that of the next one.
    pub least: u64,
}

/// The pages below one of the clustered index, in the order of primary keys.
fn nodes_of(page: &[u8]) -> Result<Vec<Node>, &'static str> {
    let mut nodes = Vec::new();
    each_record(page, 8 + 4, |at| {
        // The first one of a level covers all smaller keys.
        let is_first = page[at - HEADER] & 0x10 != 0;
        let child = u64::from(u16_at(page, at + 8)) << 16 | u64::from(u16_at(page, at + 10));
        nodes.push(Node { page: child, least: if is_first { 0 } else { u64_at(page, at) } });
    })?;
    Ok(nodes)
}

/// Adds the visited rows of a leaf of the clustered index.
fn rows_of(page: &[u8], number: u64, found: &mut Vec<Stored>) -> Result<(), &'static str> {
    each_record(page, KEY_BEHIND + 8, |at| {
        let deleted = page[at - HEADER] & 0x20 != 0;
        // The first bit before the header shows whether the first nullable column is null.
        let is_ballast = page[at - HEADER - 1] & 1 != 0;
        if !deleted && !is_ballast {
            let (id, key) = (u64_at(page, at), u64_at(page, at + KEY_BEHIND));
            found.push(Stored { page: number, key, id });
        }
    })
}

/// Hands `take` where each record of `page` begins, as they are chained in the order of their primary keys; each is
/// `length` bytes long at least.
fn each_record(page: &[u8], length: usize, mut take: impl FnMut(usize)) -> Result<(), &'static str> {
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

/// The leaves of the clustered index of `file`, in the order of primary keys; `None` if there are more than `blocks`,
/// or if the pages above them are unreadable: then every page must be read.
pub(crate) fn leaves(file: &File, blocks: u64, stop: &StopFlag) -> Result<Option<Vec<Node>>> {
    let at = |number| Some((number, level_of(&page_at(file, number)?)?));
    let Some((root, mut level)) = ROOTS.into_iter().find_map(at) else { return Ok(None) };
    // Each page is in the tree once: a tree that leads to a page twice is damaged.
    let mut pages_left = file.metadata().map_or(0, |metadata| metadata.len() / PAGE as u64);
    let mut pages = vec![Node { page: root, least: 0 }];
    let index = page_at(file, root).map(|page| index_of(&page));
    while level > 0 {
        let mut below = Vec::new();
        for parent in &pages {
            stop.refuse("the proof was stopped")?;
            let node = page_at(file, parent.page).filter(|page| level_of(page) == Some(level));
            let Some(node) = node.filter(|page| Some(index_of(page)) == index) else { return Ok(None) };
            let Ok(nodes) = nodes_of(&node) else { return Ok(None) };
            let Some(left) = pages_left.checked_sub(nodes.len() as u64) else { return Ok(None) };
            pages_left = left;
            below.extend(nodes);
            if below.len() as u64 > blocks {
                return Ok(None);
            }
        }
        pages = below;
        level -= 1;
    }
    Ok(Some(pages))
}

/// Whether there is a leaf for each visited row. Each leaf begins with the next even primary key, or with the ballast
/// before it; the second page of a table begins with ballast.
pub(crate) fn is_one_row_a_leaf(leaves: &[Node], blocks: u64) -> bool {
    let begins = |(leaf, id): (&Node, u64)| leaf.least == id || leaf.least + 1 == id;
    leaves.len() as u64 == blocks && leaves.iter().zip((0..).step_by(2)).all(begins)
}

/// Whether leaves drawn at random hold the one visited row that they should, and no other. `ids` has the primary key of
/// each key, from 1.
pub(crate) fn leaves_hold(file: &File, leaves: &[Node], ids: &[u64], stop: &StopFlag) -> Result<bool> {
    let blocks = leaves.len() as u64;
    let draws = Permutation::new(blocks, draw::mix64(clock::now_us().unsigned_abs()));
    let mut keys: Vec<u64> = (0..blocks.min(LOOKED_INTO)).map(|index| draws.get(index)).collect();
    keys.sort_unstable();
    for key in keys {
        stop.refuse("the proof was stopped")?;
        let id = ids[key as usize];
        let Some(leaf) = leaves.get((id / 2) as usize) else { return Ok(false) };
        let mut found = Vec::new();
        let read = page_at(file, leaf.page).filter(|page| level_of(page) == Some(0));
        let is_read = read.is_some_and(|page| rows_of(&page, leaf.page, &mut found).is_ok());
        if !is_read || found != [Stored { page: leaf.page, key: key + 1, id }] {
            return Ok(false);
        }
    }
    Ok(true)
}

fn page_at(file: &File, number: u64) -> Option<Vec<u8>> {
    let mut page = vec![0; PAGE];
    file.read_exact_at(&mut page, number * PAGE as u64).ok().map(|()| page)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A page of index 7 at `level`, with one record for each of `items`, `apart` from each other, that `fill` writes.
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

    fn page_above(level: u16, children: &[u64]) -> Vec<u8> {
        let node = 8 + 4;
        page_of(level, children, HEADER + node, |page, at, child| {
            page[at + 8..at + node].copy_from_slice(&(child as u32).to_be_bytes());
        })
    }

    /// A leaf of index 7 with rows of so many ids, the even ones visited.
    fn leaf(ids: &[u64]) -> Vec<u8> {
        page_of(0, ids, 100, |page, at, id| {
            page[at - HEADER - 1] = (id % 2) as u8;
            page[at..at + 8].copy_from_slice(&id.to_be_bytes());
            page[at + KEY_BEHIND..at + KEY_BEHIND + 8].copy_from_slice(&(id + 100).to_be_bytes());
        })
    }

    fn parsed(pages: &[Vec<u8>]) -> Result<Option<Vec<Stored>>> {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(&pages.concat()).expect("written");
        read(file.path(), &StopFlag::default())
    }

    #[test]
    fn visited_rows_are_found_in_their_pages() {
        let found = parsed(&[vec![0; PAGE], leaf(&[0, 1]), leaf(&[2, 3, 4])]).expect("readable").expect("plain");
        let rows = [(1, 100, 0), (2, 102, 2), (2, 104, 4)].map(|(page, key, id)| Stored { page, key, id });
        assert_eq!(found, rows);
    }

    #[test]
    fn other_indexes_and_other_pages_are_passed_over() {
        let mut other = leaf(&[8]);
        other[INDEX_AT + 7] = 8;
        let mut node = leaf(&[10]);
        node[LEVEL_AT + 1] = 1;
        let found = parsed(&[leaf(&[0, 1]), other, node]).expect("readable").expect("plain");
        assert_eq!(found.len(), 1);
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

    /// A tree of three levels; the pages above the leaves point `often` to the one page below.
    fn winding(often: usize) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        let pages = [None, None, None, Some((2, 4)), Some((1, 5)), Some((0, 6)), None];
        for page in pages {
            let page = page.map_or_else(|| vec![0; PAGE], |(level, child)| page_above(level, &vec![child; often]));
            file.write_all(&page).expect("room");
        }
        file
    }

    #[test]
    fn pages_that_lead_to_one_again_and_again_are_no_tree() {
        let of = |often, blocks| leaves(&winding(often), blocks, &StopFlag::default()).expect("no stop");
        assert_eq!(of(1, 1), Some(vec![Node { page: 5, least: 0 }]));
        // As a tree these would have 810,000 leaves, in a file of seven pages.
        assert_eq!(of(900, u64::MAX), None);
        assert_eq!(of(2, 4).map(|leaves| leaves.len()), Some(4));
        assert_eq!(of(2, 3), None, "more than there are blocks");
    }

    #[test]
    fn a_leaf_that_takes_two_rows_or_begins_elsewhere_is_reported() {
        let of = |least: &[u64]| -> Vec<Node> { least.iter().map(|id| Node { page: 5, least: *id }).collect() };
        assert!(is_one_row_a_leaf(&of(&[0, 2, 4]), 3));
        assert!(!is_one_row_a_leaf(&of(&[0, 4]), 3));
        assert!(is_one_row_a_leaf(&of(&[0, 1, 4]), 3));
        assert!(!is_one_row_a_leaf(&of(&[0, 2, 5]), 3));
        assert!(!is_one_row_a_leaf(&of(&[0, 2, 4]), 2));
    }
}
