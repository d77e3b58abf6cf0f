//! Completions and manual pages, read by the programs they are for.

use std::process::Command;

use crate::mindful::Mindful;

#[test]
fn a_shell_completes_verbs_and_flags() {
    let mindful = Mindful::new();
    let script = mindful.succeed("generate completions bash");
    let file = mindful.path("mindful.bash");
    std::fs::write(&file, &script.stdout).unwrap();
    let completed = |words: &str| {
        let ask = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _mindful mindful \"${{COMP_WORDS[-1]}}\" ''; echo ${{COMPREPLY[@]}}",
            file.display()
        );
        String::from_utf8(Command::new("bash").args(["-c", &ask]).output().unwrap().stdout).unwrap()
    };
    assert_eq!(completed("mindful swe").trim(), "sweep");
    assert!(completed("mindful run --sess").contains("--sessions"));
    for shell in ["zsh", "fish"] {
        assert!(mindful.run(format!("generate completions {shell}")).stdout.len() > 1_000, "{shell}");
    }
    mindful.refuses("generate completions ksh", "unknown shell `ksh`");
}

#[test]
fn every_verb_has_a_manual_page() {
    let mindful = Mindful::new();
    let folder = mindful.path("man");
    mindful.succeed(("generate man", &folder));
    for page in ["mindful.1", "mindful-run.1", "mindful-sweep.1", "mindful-compare.1", "mindful-watch.1"] {
        let text = std::fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH GENERAL"), "{page}");
    }
    mindful.refusal("generate man /proc/none");
}
