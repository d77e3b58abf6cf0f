//! A missing file of bare blocks.

use crate::mindful::terminal::{BINARY, terminal, typed};
use crate::mindful::{Mindful, assert_has, ended};

#[test]
fn a_mistyped_path_of_bare_files_makes_no_file() {
    let mindful = Mindful::new();
    for verb in ["run --target raw:typo", "raw typo", "sweep --target raw:typo"] {
        mindful.refuses((verb, "-q"), "typo does not exist…mindful load --target raw:typo");
        assert!(!mindful.path("typo").exists());
    }
    let run = "raw --warmup 0s --duration 500ms -q";
    let made = mindful.run((&run, "meant --scale 8MiB"));
    assert!(ended(&made) && mindful.path("meant").exists(), "{made:?}");
    mindful.succeed("load --target raw:loaded --scale 8MiB -q");
    assert!(mindful.path("loaded").exists());
    let again = mindful.run((&run, "loaded"));
    assert!(ended(&again), "an existing file is read without a question: {again:?}");
}

#[test]
fn on_a_terminal_a_file_that_is_not_there_is_asked_for() {
    let mindful = Mindful::new();
    let raw = format!("{BINARY} raw typo --warmup 0s --duration 300ms -q");
    let Some((shown, _)) = typed(terminal(&mindful, &raw), "[y/N]", "n\n") else { return };
    assert_has(shown, "typo does not exist; create and fill it? [y/N]…name an existing file or device");
    assert!(!mindful.path("typo").exists());
}
