//! An unwritable store is refused before any target is opened.

use std::fs;

use crate::mindful::small_disk::SmallDisk;
use crate::mindful::{Mindful, ended, null};

/// Every verb that opens a target to measure it prints one line that `store` cannot be written, and makes no target.
fn all_are_refused(mindful: &Mindful, store: &str, why: &str) {
    let small = "--schemas 1 --scale 1000 --warmup 0s --duration 1s";
    let plan = "target = \"sqlite:made\"\nscale = 1000\nwarmup = \"0s\"\nduration = \"1s\"\n";
    fs::write(mindful.path("plan.toml"), plan).unwrap();
    let verbs = ["run", "load", "sweep --sessions 1,2", "run --repeat 2", "contrast"].into_iter();
    let verbs =
        verbs.flat_map(|verb| ["--target sqlite:made", "--data-dir made"].map(|on| format!("{verb} {on} {small}")));
    let raw = ["raw", "raw --preset simple"].map(|verb| format!("{verb} --target raw:made {small}"));
    let all: Vec<_> = verbs.chain(raw).chain(["compare --run plan.toml plan.toml".to_owned()]).collect();
    assert_eq!(all.len(), 13);
    for args in all {
        mindful.refuses((&args, ["--store", store]), format!("cannot be written…{why}…--store"));
        assert!(!mindful.path("made").exists(), "{args} opened it first");
    }
}

#[test]
fn a_store_that_cannot_be_written_is_refused_before_the_load() {
    let mindful = Mindful::new();
    fs::write(mindful.path("file"), "").unwrap();
    all_are_refused(&mindful, "file", "Not a directory");
}

#[test]
fn a_full_store_is_refused_before_the_target_is_opened() {
    let Some(small) = SmallDisk::private(4) else { return };
    let mindful = Mindful::new();
    let store = small.path().display().to_string();
    let fill = small.fill();
    all_are_refused(&mindful, &store, "No space left");
    fs::remove_file(fill).unwrap();
    let ran = mindful.run(null("run", ["--store", &store]));
    assert!(ended(&ran), "with room it runs: {ran:?}");
}
