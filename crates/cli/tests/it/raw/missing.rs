//! A missing file of bare blocks.

use crate::mindful::terminal::{terminal, typed};
use crate::mindful::{Mindful, ended};

#[test]
fn a_mistyped_path_of_bare_files_makes_no_file() {
    let mindful = Mindful::new();
    for verb in ["run --target raw:typo", "raw typo", "sweep --target raw:typo"] {
        let refusal = mindful.refusal((verb, "-q"));
        let way_out = refusal.contains("typo does not exist") && refusal.contains("mindful load --target raw:typo");
        assert!(way_out && !mindful.path("typo").exists(), "{refusal}");
    }
    let run = "raw --warmup 0s --duration 500ms -q";
    let made = mindful.run((&run, "meant --scale 8MiB"));
    assert!(ended(&made) && mindful.path("meant").exists(), "{made:?}");
    let loaded = mindful.run("load --target raw:loaded --scale 8MiB -q");
    assert!(loaded.status.success() && mindful.path("loaded").exists(), "{loaded:?}");
    let again = mindful.run((&run, "loaded"));
    assert!(ended(&again), "an existing file is read without a question: {again:?}");
}

#[test]
fn on_a_terminal_a_file_that_is_not_there_is_asked_for() {
    let mindful = Mindful::new();
    let raw = format!("{} raw typo --warmup 0s --duration 300ms -q", env!("CARGO_BIN_EXE_mindful"));
    let Some((shown, _)) = typed(terminal(&mindful, &raw), "[y/N]", "n\n") else { return };
    assert!(shown.contains("typo does not exist; create and fill it? [y/N]"), "{shown}");
    assert!(shown.contains("name an existing file or device") && !mindful.path("typo").exists(), "{shown}");
}
