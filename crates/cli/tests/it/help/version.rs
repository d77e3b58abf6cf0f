//! What the binary prints about itself, and what each run stores about it.

use crate::mindful::{Mindful, assert_has, message, printed};

#[test]
fn the_version_names_commit_profile_and_features() {
    let output = Mindful::new().run("--version");
    let line = printed(&output);
    let (numbers, rest) = line.trim().strip_prefix("mindful ").unwrap().split_once(" (").unwrap();
    assert_eq!(numbers, env!("CARGO_PKG_VERSION"));
    let (built, features) = rest.strip_suffix(')').unwrap().split_once("; ").unwrap();
    let (commit, profile) = built.split_once(", ").unwrap();
    let hash = commit.trim_end_matches("+changes");
    assert!(hash == "unknown" || (hash.len() == 12 && hash.bytes().all(|b| b.is_ascii_hexdigit())), "{line}");
    let built_in = std::path::Path::new(env!("CARGO_BIN_EXE_mindful")).parent().unwrap().file_name().unwrap();
    assert_eq!(profile, built_in.to_str().unwrap(), "{line}");
    let oracle = if cfg!(feature = "oracle") { ", oracle" } else { "" };
    let png = if cfg!(feature = "png") { ", png" } else { "" };
    assert_eq!(features, format!("postgres, mysql, sqlite, raw{oracle}{png}"));
}

#[test]
fn each_summary_names_the_program_that_measured_it() {
    let mindful = Mindful::new();
    let version = mindful.text("--version");
    let summary = mindful.measured("");
    assert_eq!(summary["mindful_build"].as_str(), version.trim().strip_prefix("mindful "), "{summary:#}");
}

#[test]
fn without_arguments_the_first_minute_is_explained() {
    let output = Mindful::new().run("");
    assert_eq!(output.status.code(), Some(2));
    let text = message(&output);
    assert_eq!(text.lines().count(), 5, "{text}");
    assert_has(&text, "mindful run…postgres://…mindful doctor…--help…examples/");
}
