//! Every text through ANTLR's grammar of PL/SQL, which knows syntax but not semantics; names that it does not know are
//! checked separately. `.ci/tools` makes the parser.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use mindful_conformance::{tool, whole_tool};
use mindful_core::workload::draw::mix64;

use crate::fake::wire::root;
use crate::work::shapes;

/// The parser's result for each file of texts: `ok`, or the place of the fault; `None` after a notice that there is no
/// parser.
fn parsed(texts: &BTreeMap<String, String>) -> Option<BTreeMap<String, String>> {
    let (classes, jar) = (whole_tool("plsql-0.7.0")?, tool("antlr4-4.13.2-complete.jar")?);
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in texts {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let path = std::env::join_paths([classes, jar]).unwrap();
    // Each text is parsed once: optimising the parser would take longer than the parsing.
    let quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
    let java = Command::new("java").args(quick).arg("-cp").arg(path).arg("Check").arg(folder.path()).output();
    let output = java.expect("java is there: apt-get install default-jre-headless");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    Some(lines.lines().filter_map(|line| line.split_once(' ')).map(|(name, said)| (name.into(), said.into())).collect())
}

/// The hashes of texts that the parser has accepted before, so that each is parsed once.
fn accepted() -> PathBuf {
    root().join("target/tools/plsql-0.7.0/accepted")
}

fn hash(text: &str) -> String {
    let hash = |seed: u64| text.bytes().fold(seed, |hash, byte| mix64(hash ^ u64::from(byte)));
    format!("{:016x}{:016x}", hash(1), hash(2))
}

#[test]
fn every_text_of_every_plan_is_in_the_grammar() {
    let all = shapes::all();
    assert!(all.len() > 100, "{} texts", all.len());
    let known: BTreeSet<String> =
        fs::read_to_string(accepted()).unwrap_or_default().lines().map(str::to_owned).collect();
    let new: BTreeMap<String, String> = all.into_iter().filter(|(_, text)| !known.contains(&hash(text))).collect();
    if new.is_empty() {
        return;
    }
    let Some(said) = parsed(&new) else { return };
    assert_eq!(said.len(), new.len());
    let wrong: Vec<_> = said.iter().filter(|(_, said)| *said != "ok").collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let lines: String = known.into_iter().chain(new.values().map(|text| hash(text))).map(|hash| hash + "\n").collect();
    fs::write(accepted(), lines).unwrap();
}

/// Faults, each put into a correct text of ours.
const FAULTS: &[(&str, &str, &str)] = &[
    ("slice_u2000_s1000_19_1_each", "END LOOP;", "ENDLOOP;"),
    ("slice_u2000_s1000_19_1_each", "v_began := v_now;", "v_began = v_now;"),
    ("slice_u2000_s1000_19_1_each", "ELSIF v_what", "ELSEIF v_what"),
    ("slice_u2000_s1000_19_1_each", "COMMIT WRITE IMMEDIATE WAIT;", "COMMIT WRITE AT ONCE;"),
    ("slice_u2000_s1000_19_1_each", "v_seen := SQL%ROWCOUNT;", "GET DIAGNOSTICS v_seen = ROW_COUNT;"),
    ("slice_u2000_s1000_19_1_each", "END CASE;", "END"),
    ("slice_u2000_s1000_19_1_each", "v_us * 1000 >=", "v_us::integer * 1000 >="),
    ("blocks_all_random_8192", "NOCOMPRESS", "WITH (fillfactor = 10)"),
    ("blocks_all_random_8192", "CAST(seq AS NUMBER(12)),", "CAST(seq AS NUMBER(12))"),
    ("standing", "ORDER BY object_name", "ORDER BY object_name LIMIT 5"),
    ("index_plain", "PCTFREE 0", "PCTFREE"),
    ("update_light", "b.mark = b.mark + 1,", "b.mark := b.mark + 1,"),
];

#[test]
fn the_grammar_refuses_invalid_texts() {
    let all = shapes::all();
    let wrong: BTreeMap<String, String> = (0..)
        .zip(FAULTS)
        .map(|(number, (name, right, wrong))| {
            let text = &all[*name];
            assert!(text.contains(right), "{name} has no `{right}`");
            (format!("{number}_{name}"), text.replacen(right, wrong, 1))
        })
        .collect();
    let Some(said) = parsed(&wrong) else { return };
    let taken: Vec<_> = said.iter().filter(|(_, said)| *said == "ok").map(|(name, _)| name).collect();
    assert!(taken.is_empty() && said.len() == FAULTS.len(), "taken though wrong: {taken:?}");
}

/// Words of a text without comments, literals and hints, in lower case; `:` stays in front of a bind variable.
fn words(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find('\'')).min() {
        plain.push_str(&rest[..at]);
        let end = if rest[at..].starts_with("/*") { "*/" } else { "'" };
        let behind = &rest[at + end.len()..];
        rest = behind.find(end).map_or("", |found| &behind[found + end.len()..]);
    }
    plain.push_str(rest);
    let of_word = |c: char| c.is_ascii_alphanumeric() || "_$#:".contains(c);
    let split = plain.split(|c| !of_word(c)).filter(|word| !word.is_empty());
    split.map(|word| word.trim_end_matches([':']).to_lowercase()).collect()
}

#[test]
fn a_block_declares_what_it_uses_and_uses_what_it_declares() {
    let begins = ["v_", "c_", "t_", "p_"];
    let ours = |word: &&String| begins.iter().any(|begin| word.starts_with(begin));
    for (name, text) in shapes::all().into_iter().filter(|(name, _)| name.starts_with("slice_")) {
        let (declared, body) = text.split_once("\nBEGIN\n").unwrap();
        let lines = declared.lines().map(str::trim).filter(|line| begins.iter().any(|begin| line.starts_with(begin)));
        let mut names: BTreeSet<String> = lines.filter_map(|line| words(line).into_iter().next()).collect();
        names.extend(declared.lines().filter_map(|line| Some(words(line.trim().strip_prefix("TYPE ")?)[0].clone())));
        names.extend(["v_each".to_owned(), "p_at".to_owned()]);
        let used: Vec<String> = words(&text).into_iter().filter(|word| ours(&word)).collect();
        let undeclared: BTreeSet<_> = used.iter().filter(|word| !names.contains(*word)).collect();
        assert!(undeclared.is_empty(), "{name} uses {undeclared:?}");
        for declared in &names {
            let times = used.iter().filter(|word| *word == declared).count();
            assert!(times >= 2, "{name} declares {declared} for nothing");
        }
        let binds: BTreeSet<_> = words(&text).into_iter().filter(|word| word.starts_with(':')).collect();
        let given = ["answer", "begin_us", "end_us", "ops", "pending", "since_us", "until_us"];
        assert!(binds.iter().map(|bind| &bind[1..]).eq(given), "{name}: {binds:?}");
        assert!(body.trim_end().ends_with("END;"));
    }
}

#[test]
fn columns_of_views_are_those_of_oracles_reference() {
    let list = include_str!("../../columns.txt");
    let views: BTreeMap<&str, BTreeSet<&str>> = list
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (columns, page) = line.split_once(" @ ").unwrap_or_else(|| panic!("no page after `{line}`"));
            assert!(page.chars().any(|c| c.is_ascii_digit()), "the page has no release: `{line}`");
            let (view, columns) = columns.split_once(':').unwrap();
            (view, columns.split_whitespace().collect())
        })
        .collect();
    let known: BTreeSet<&str> = include_str!("../../words.txt").split_whitespace().collect();
    let mut seen = BTreeSet::new();
    let templates = shapes::templates();
    for (name, text) in shapes::all().into_iter().filter(|(name, _)| templates.contains_key(name)) {
        let words = words(&text);
        let of = words.iter().filter_map(|word| views.get_key_value(word.as_str()));
        let (named, columns): (BTreeSet<_>, Vec<_>) = of.map(|(view, columns)| (*view, columns)).unzip();
        for word in words.iter().filter(|word| word.starts_with("v$") || word.starts_with("user_")) {
            assert!(views.contains_key(word.as_str()), "{name}: {word} is not in columns.txt");
        }
        seen.extend(named.clone());
        let strange: Vec<_> = words
            .iter()
            .filter(|word| !word.starts_with(':') && !word.starts_with(char::is_numeric) && word.len() > 1)
            .filter(|word| !named.contains(word.as_str()) && !known.contains(word.as_str()))
            .filter(|word| !columns.iter().any(|columns| columns.contains(word.as_str())))
            .collect();
        assert!(named.is_empty() || strange.is_empty(), "{name}: no column of {named:?} is called {strange:?}");
    }
    assert!(seen.len() == views.len(), "{:?} are not asked", views.keys().filter(|view| !seen.contains(*view)));
}

#[test]
fn redo_is_omitted_on_request_and_commits_are_as_configured() {
    let all = shapes::all();
    let logged = |name: &str| !all[name].contains("NOLOGGING") && all[name].contains(" LOGGING");
    for name in ["index_plain", "blocks_plain_random_8192"] {
        assert!(logged(name), "{name}: {}", all[name]);
    }
    for name in ["index_all", "blocks_all_random_8192"] {
        assert!(!logged(name), "{name}: {}", all[name]);
    }
    for (mode, words) in [
        ("each", "COMMIT WRITE IMMEDIATE WAIT;"),
        ("every", "COMMIT WRITE IMMEDIATE WAIT;"),
        ("nowait", "COMMIT WRITE BATCH NOWAIT;"),
        ("slob", "COMMIT;"),
    ] {
        let text = &all[&format!("slice_u2000_s1000_19_1_{mode}")];
        assert!(text.contains(words) && text.matches("COMMIT").count() == 1, "{mode}: {text}");
    }
    assert!(!all["slice_u2000_s1000_19_1_slice"].contains("COMMIT"), "it commits when the slice is over");
}

#[test]
fn no_text_uses_a_view_that_needs_a_pack() {
    let packs = [
        "active_session_history",
        "dba_hist",
        "dba_addm",
        "awr",
        "dbms_workload",
        "dbms_sqltune",
        "dbms_advisor",
        "sql_monitor",
        "sql_plan_monitor",
        "v$ash",
        "dba_sql_profiles",
    ];
    let grants = include_str!("../../../sql/grants.sql").to_lowercase();
    for (name, text) in shapes::all().into_iter().chain([("grants".to_owned(), grants)]) {
        let text = text.to_lowercase();
        let touched: Vec<_> = packs.iter().filter(|pack| text.contains(**pack)).collect();
        assert!(touched.is_empty(), "{name} touches {touched:?}");
        assert!(!text.contains("alter system") && !text.contains("alter session set \"_"), "{name} sets something");
    }
}
