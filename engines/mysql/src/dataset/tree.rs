//! The tree above the rows of a table: the primary keys of each page, from the pages above the leaves, a thousandth of
//! the file. Some leaves are read as a check.

use std::fs::File;
use std::os::unix::fs::FileExt;

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::workload::draw::{self, Permutation};
use mindful_core::{Result, contract::clock};

use crate::dataset::ibd::{self, Node, PAGE, Stored, Tablespace};

/// Pages that may be the root of the clustered index, which is the first that the file has: MySQL keeps its description of
/// the table before it.
const ROOTS: [u64; 2] = [3, 4];
/// Number of leaves to read: if one in 25 had wrong contents, all of those would be missed once in 10^8.
const LOOKED_INTO: u64 = 500;

/// A leaf: its page, and the least primary key it may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub page: u64,
    /// The smallest primary key that it can contain; its keys are below that of the next leaf.
    pub least: u64,
}

/// The leaves of the clustered index of `file`, in the order of primary keys; `None` if there are more than `blocks`,
/// or if the pages above them are unreadable: then every page must be read.
pub(crate) fn leaves(file: &File, blocks: u64, stop: &StopFlag) -> Result<Option<Vec<Leaf>>> {
    let at = |number| Some((number, ibd::level_of(&page_at(file, number)?)?));
    let Some((root, mut level)) = ROOTS.into_iter().find_map(at) else { return Ok(None) };
    // Each page is in the tree once: a tree that leads to a page twice is damaged.
    let mut pages_left = file.metadata().map_or(0, |metadata| metadata.len() / PAGE as u64);
    let mut pages = vec![Leaf { page: root, least: 0 }];
    let index = page_at(file, root).map(|page| ibd::index_of(&page));
    while level > 0 {
        let mut below = Vec::new();
        for parent in &pages {
            stop.refuse("the proof was stopped")?;
            let node = page_at(file, parent.page).filter(|page| ibd::level_of(page) == Some(level));
            let Some(node) = node.filter(|page| Some(ibd::index_of(page)) == index) else { return Ok(None) };
            let Ok(nodes) = ibd::nodes_of(&node) else { return Ok(None) };
            let Some(left) = pages_left.checked_sub(nodes.len() as u64) else { return Ok(None) };
            pages_left = left;
            below.extend(nodes.into_iter().map(|Node { least, child }| Leaf { page: child, least }));
            if below.len() as u64 > blocks {
                return Ok(None);
            }
        }
        pages = below;
        level -= 1;
    }
    Ok(Some(pages))
}

/// Whether there is a leaf for each visited row: the next one begins with the next even primary key, or with the ballast
/// before it, as the second page of a table does.
pub(crate) fn is_one_row_a_leaf(leaves: &[Leaf], blocks: u64) -> bool {
    let begins = |(leaf, id): (&Leaf, u64)| leaf.least == id || leaf.least + 1 == id;
    leaves.len() as u64 == blocks && leaves.iter().zip((0..).step_by(2)).all(begins)
}

/// Whether leaves drawn at random hold the one visited row that they should, and no other. `ids` has the primary key of
/// each key, from 1.
pub(crate) fn leaves_hold(file: &File, leaves: &[Leaf], ids: &[u64], stop: &StopFlag) -> Result<bool> {
    let blocks = leaves.len() as u64;
    let draws = Permutation::new(blocks, draw::mix64(clock::now_us().unsigned_abs()));
    let mut keys: Vec<u64> = (0..blocks.min(LOOKED_INTO)).map(|index| draws.get(index)).collect();
    keys.sort_unstable();
    for key in keys {
        stop.refuse("the proof was stopped")?;
        let id = ids[key as usize];
        let Some(leaf) = leaves.get((id / 2) as usize) else { return Ok(false) };
        let mut found = Tablespace::default();
        let read = page_at(file, leaf.page).filter(|page| ibd::level_of(page) == Some(0));
        if read.is_none_or(|page| ibd::rows_of(&page, leaf.page, &mut found).is_err()) {
            return Ok(false);
        }
        if found.rows != [Stored { page: leaf.page, key: key + 1, id }] {
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

    /// A tree of three levels; the pages above the leaves point `often` to the one page below.
    fn winding(often: usize) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        let pages = [None, None, None, Some((2, 4)), Some((1, 5)), Some((0, 6)), None];
        for page in pages {
            let page = page.map_or_else(|| vec![0; PAGE], |(level, child)| ibd::page_above(level, &vec![child; often]));
            file.write_all(&page).expect("room");
        }
        file
    }

    #[test]
    fn pages_that_lead_to_one_again_and_again_are_no_tree() {
        let of = |often, blocks| leaves(&winding(often), blocks, &StopFlag::default()).expect("no stop");
        assert_eq!(of(1, 1), Some(vec![Leaf { page: 5, least: 0 }]));
        // As a tree these would have 810,000 leaves, in a file of seven pages.
        assert_eq!(of(900, u64::MAX), None);
        assert_eq!(of(2, 4).map(|leaves| leaves.len()), Some(4));
        assert_eq!(of(2, 3), None, "more than there are blocks");
    }

    #[test]
    fn a_leaf_that_takes_two_rows_or_begins_elsewhere_is_reported() {
        let of = |least: &[u64]| -> Vec<Leaf> { least.iter().map(|id| Leaf { page: 5, least: *id }).collect() };
        assert!(is_one_row_a_leaf(&of(&[0, 2, 4]), 3));
        assert!(!is_one_row_a_leaf(&of(&[0, 4]), 3));
        assert!(is_one_row_a_leaf(&of(&[0, 1, 4]), 3));
        assert!(!is_one_row_a_leaf(&of(&[0, 2, 5]), 3));
        assert!(!is_one_row_a_leaf(&of(&[0, 2, 4]), 2));
    }
}
