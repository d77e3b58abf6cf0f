//! The proof by the tree above the rows against the one by every page.

use std::fs;
use std::path::Path;

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::LayoutProof;

use crate::checks::refused::loaded;
use crate::shared;
use crate::support::{MARIADB, MYSQL, OLDER, sql};

/// Bytes that this thread has read from files.
fn read_bytes() -> u64 {
    let io = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    io.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse().ok()).unwrap()
}

fn reading(proof: impl FnOnce() -> LayoutProof) -> (LayoutProof, u64) {
    let before = read_bytes();
    let proof = proof();
    (proof, read_bytes() - before)
}

#[test]
fn the_tree_proves_the_same_as_all_pages_with_fewer_reads() {
    for kind in [MARIADB, MYSQL, OLDER] {
        let shared = shared::server(kind);
        // More leaves than one page can point to.
        let (target, _) = loaded(&shared, 2, 1_500);
        let stop = StopFlag::default();
        let (by_tree, some) = reading(|| target.verify(&stop).unwrap());
        let (by_pages, all) = reading(|| target.verify_all(&stop).unwrap());
        assert_eq!((by_tree.failure(), by_pages.failure()), (None, None), "{kind:?}");
        assert_eq!(by_tree.schemas, by_pages.schemas, "{kind:?}");
        assert_eq!(by_tree.cross_correlation, by_pages.cross_correlation, "{kind:?}");
        assert!(all > 2 * 1_500 * 16_384, "{kind:?}: {all} bytes");
        assert!(some < all / 2, "{kind:?}: {some} bytes by the tree, {all} by all pages");
    }
}

/// A fault: the number of blocks, the statements that make it, in which `{}` is the table, and its message.
const WRONG: [(u64, [&str; 2], &str); 3] = [
    // Rebuilt, as an administrator might: shorter rows fill pages by threes.
    (600, ["UPDATE {} SET pad = LEFT(pad, 4000)", "ALTER TABLE {} FORCE"], "schema 1 has 600 rows in"),
    // One row moves to the page of the previous row.
    (1_500, ["UPDATE {} SET pad = '' WHERE id IN (700, 702)", "ALTER TABLE {} FORCE"], "1500 rows in 149"),
    // The same keys, one page after the other.
    (
        600,
        ["UPDATE {} SET k = k + 10000 WHERE k IS NOT NULL", "UPDATE {} SET k = id DIV 2 + 1 WHERE k IS NOT NULL"],
        "correlate",
    ),
];

#[test]
fn rows_in_other_places_are_no_proof() {
    let shared = shared::server(MARIADB);
    for (blocks, harm, why) in WRONG {
        let (target, name) = loaded(&shared, 1, blocks);
        assert_eq!(target.verify(&StopFlag::default()).unwrap().failure(), None);
        for statement in harm {
            sql(&shared.server, &statement.replace("{}", &format!("`{name}`.blocks_1")));
        }

        let failure = target.verify(&StopFlag::default()).unwrap().failure();

        assert!(failure.as_ref().is_some_and(|failure| failure.contains(why)), "{failure:?}");
        assert_eq!(target.stored_proof().unwrap(), None, "a changed table keeps no proof");
    }
}

#[test]
fn no_verify_follows_a_link_or_waits_for_a_pipe() {
    let shared = shared::server(MARIADB);
    let (target, name) = loaded(&shared, 1, 1_000);
    let folder = sql(&shared.server, "SELECT @@datadir");
    let file = Path::new(folder.trim()).join(&name).join("blocks_1.ibd");
    let away = file.with_extension("away");
    let stop = StopFlag::default();
    for plant in [pipe, link] {
        // The server has it open and continues to use it.
        fs::rename(&file, &away).unwrap();
        plant(&away, &file);
        let (by_rows, some) = reading(|| target.verify(&stop).unwrap());
        let (by_all_rows, all) = reading(|| target.verify_all(&stop).unwrap());
        fs::rename(&away, &file).unwrap();
        assert_eq!((by_rows.failure(), by_all_rows.failure()), (None, None));
        assert!(some + all < 1_000 * 16_384, "{some} and {all} bytes: the file was read");
    }
    assert_eq!(target.verify(&stop).unwrap().failure(), None);
}

fn pipe(_: &Path, at: &Path) {
    rustix::fs::mkfifoat(rustix::fs::CWD, at, 0o666.into()).unwrap();
}

fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).unwrap();
}
