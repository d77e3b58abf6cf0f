//! Every code of a finding that the sources can emit has its paragraph in docs/findings.md, and none is reported that is not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// All text of Rust below `folder`.
fn rust(folder: &Path) -> Vec<String> {
    let (folders, files): (Vec<_>, Vec<_>) = entries(folder).into_iter().partition(|path| path.is_dir());
    let own = files.iter().filter(|path| path.extension().is_some_and(|e| e == "rs"));
    own.map(|path| fs::read_to_string(path).unwrap()).chain(folders.iter().flat_map(|inner| rust(inner))).collect()
}

/// The sources of each crate and engine.
fn sources() -> Vec<String> {
    let members = ["crates", "engines"].into_iter().flat_map(|parent| entries(&root().join(parent)));
    members.map(|member| rust(&member.join("src")).concat()).collect()
}

fn is_code(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// What makes a finding: `Finding::new`, each function that takes a `code`, and `found`, the name that one of these has
/// where the severity depends on the plan.
fn makers(source: &str) -> Vec<String> {
    let functions = source.split("fn ").skip(1).filter(|rest| {
        let parameters = rest.split('{').next().unwrap_or_default();
        parameters.contains("code: &")
    });
    let named = functions.map(|rest| rest.split(['(', '<']).next().unwrap_or_default().to_owned());
    named.chain(["Finding::new", "found"].map(str::to_owned)).collect()
}

/// The codes that `source` emits: literals that a maker is called with first.
fn codes(source: &str) -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for maker in makers(source) {
        for (at, call) in source.match_indices(&format!("{maker}(")) {
            let before = source[..at].chars().next_back().unwrap_or(' ');
            let literal = source[at + call.len()..].trim_start().strip_prefix('"');
            let code = literal.and_then(|rest| rest.split('"').next()).filter(|code| is_code(code));
            if let Some(code) = code.filter(|_| !before.is_alphanumeric() && before != '_') {
                codes.insert(code.to_owned());
            }
        }
    }
    codes
}

/// The codes that begin a paragraph in bold, or follow each other in its beginning.
fn documented() -> BTreeSet<String> {
    let page = fs::read_to_string(root().join("docs/findings.md")).unwrap();
    let bold = page.split("**").skip(1).step_by(2);
    bold.filter(|text| is_code(text)).map(str::to_owned).collect()
}

#[test]
fn every_code_has_its_paragraph_and_every_paragraph_its_code() {
    let emitted: BTreeSet<String> = sources().iter().flat_map(|source| codes(source)).collect();
    assert!(emitted.len() > 40, "the sources are read: {emitted:?}");
    let documented = documented();
    let missing: Vec<_> = emitted.difference(&documented).collect();
    let stale: Vec<_> = documented.difference(&emitted).collect();
    assert!(missing.is_empty(), "docs/findings.md has no paragraph for {missing:?}");
    assert!(stale.is_empty(), "docs/findings.md tells of {stale:?}, which nothing emits");
}

#[test]
fn codes_are_seen_in_calls_of_all_makers() {
    let source = r#"
        fn info(code: &str, text: &str) -> Finding { Finding::new(code, Severity::Info, text, "") }
        fn look() { found.push(info("one-thing", "a")); Finding::new(
            "another", Severity::Error, "b", ""); misinfo("not-this"); }
    "#;
    assert_eq!(codes(source), BTreeSet::from(["one-thing".to_owned(), "another".to_owned()]));
}

/// Rows of the table of guard-rails: their number, and the codes in the last cell.
fn guard_rails(page: &str) -> Vec<(String, Vec<String>)> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| F"));
    let row = |row: &str| {
        let number = row.split(' ').next().unwrap().to_owned();
        let codes = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let marked = codes.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        (number, marked)
    };
    rows.map(row).collect()
}

#[test]
fn every_guard_rail_has_its_row_and_names_codes_that_exist() {
    let rows = guard_rails(&fs::read_to_string(root().join("docs/findings.md")).unwrap());
    let numbers: Vec<_> = rows.iter().map(|(number, _)| number.clone()).collect();
    assert_eq!(numbers, (1..=32).map(|number| number.to_string()).collect::<Vec<_>>());
    let documented = documented();
    for (number, codes) in &rows {
        for code in codes {
            assert!(documented.contains(code), "F{number} names `{code}`, which nothing emits");
        }
    }
    assert!(rows.iter().filter(|(_, codes)| !codes.is_empty()).count() > 20, "{rows:?}");
}
