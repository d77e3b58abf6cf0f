//! Each code of a finding has its row in docs/findings.md and is raised somewhere, and no row names another code.

use std::collections::BTreeSet;

use mindful_core::Engine;
use mindful_core::result::finding::{Code, codes};

use crate::house::{members, rust, text};

fn texts() -> Vec<String> {
    members().iter().map(|member| rust(&member.join("src"))).collect()
}

/// All kinds of findings: those that mindful raises, and each engine's own.
fn listed() -> Vec<Code> {
    let engines: [&dyn Engine; 4] =
        [&mindful_postgres::ENGINE, &mindful_mysql::ENGINE, &mindful_raw::ENGINE, &mindful_null::ENGINE];
    let of_engines = engines.iter().flat_map(|engine| engine.facts().finding_codes);
    // Builds contain Oracle's engine only with its driver.
    codes::ALL.iter().chain(of_engines).chain(mindful_oracle::codes::ALL).copied().collect()
}

fn names() -> BTreeSet<String> {
    listed().into_iter().map(|code| code.name.to_owned()).collect()
}

/// Whether `source` makes a finding of kind `code`: `codes::NAME.finding(…)`, or a call that takes `codes::NAME` first.
fn raises(source: &str, code: &str) -> bool {
    let constant = format!("codes::{}", code.to_uppercase().replace('-', "_"));
    source.match_indices(&constant).any(|(at, _)| {
        let after = &source[at + constant.len()..];
        let called =
            source[..at].trim_end().strip_suffix('(').is_some_and(|call| call.ends_with(char::is_alphanumeric));
        after.trim_start().starts_with(".finding(") || (called && after.starts_with(','))
    })
}

/// Code and severity of each row of the tables of docs/findings.md.
fn documented() -> Vec<(String, String)> {
    let page = text("docs/findings.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    rows.map(|(code, rest)| (code.to_owned(), rest.split(" | ").next().unwrap().to_owned())).collect()
}

#[test]
fn each_code_has_one_row_with_its_usual_severity() {
    let row = |code: &Code| (code.name.to_owned(), code.usual_severity.to_string());
    let mut listed: Vec<_> = listed().iter().map(row).collect();
    let mut documented = documented();
    listed.sort_unstable();
    documented.sort_unstable();
    assert_eq!(listed, documented);
    assert!(listed.len() > 90, "{listed:?}");
}

#[test]
fn exactly_the_listed_codes_are_raised() {
    let sources = texts();
    for code in names() {
        assert!(sources.iter().any(|source| raises(source, &code)), "`{code}` is listed, and nothing raises it");
    }
    // A finding takes a `Code`, and only the macro that lists them makes one.
    let makers = sources.iter().flat_map(|source| source.matches("result::finding::Code {")).count();
    assert_eq!(makers, 1, "codes are made by `finding_codes!` alone");
}

#[test]
fn a_call_that_raises_is_distinguished_from_a_mention() {
    let source = "found.push(codes::ONE_THING.finding(text, why)); Finding::new(\n    codes::ANOTHER,\n Severity::Info); \
                  [(codes::ADVICE, text)]; if code == codes::MENTIONED {}";
    let raised = ["one-thing", "another", "advice", "mentioned", "one"].map(|code| raises(source, code));
    assert_eq!(raised, [true, true, false, false, false]);
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
    let rows = guard_rails(&text("docs/trust.md"));
    let numbers: Vec<_> = rows.iter().map(|(number, _)| number.clone()).collect();
    assert_eq!(numbers, (1..=32).map(|number| number.to_string()).collect::<Vec<_>>());
    let names = names();
    for (number, codes) in &rows {
        for code in codes {
            assert!(names.contains(code), "F{number} names `{code}`, which is no code");
        }
    }
    assert!(rows.iter().filter(|(_, codes)| !codes.is_empty()).count() > 20, "{rows:?}");
}
