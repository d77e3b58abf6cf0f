//! The style of printed reports (docs/style.md), over the snapshots.

use std::fs;
use std::path::Path;

/// The lines of all reports for a person, with the name of their snapshot.
fn lines() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let reports = files.filter(|path| !path.to_string_lossy().contains("_as_"));
    let of_file = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).unwrap();
        // The text above the second line of dashes describes the snapshot.
        let body = text.splitn(3, "---\n").nth(2).unwrap_or_default().to_owned();
        body.lines().map(|line| (name.clone(), line.to_owned())).collect::<Vec<_>>()
    };
    reports.flat_map(of_file).collect()
}

const THINGS: [&str; 9] =
    ["sessions", "schemas", "steps", "runs", "blocks", "operations", "points", "samples", "rounds"];

#[test]
fn one_thing_is_no_things() {
    for (name, line) in lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let one = words.windows(2).find(|pair| pair[0] == "1" && THINGS.contains(&pair[1].trim_matches([',', ';'])));
        assert!(one.is_none(), "{name}: {line}");
    }
}

#[test]
fn a_severity_is_first_on_its_line_and_a_code_follows() {
    let all = lines();
    let findings = all.iter().filter_map(|(_, line)| {
        let (word, rest) = line.trim_start().split_once(' ')?;
        ["error", "warning", "info"].contains(&word).then(|| rest.trim_start().to_owned())
    });
    let findings: Vec<String> = findings.collect();
    assert!(findings.len() >= 6, "{findings:#?}");
    for rest in findings {
        let code = rest.split([':', ',']).next().unwrap();
        assert!(code.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{rest}");
    }
}

#[test]
fn lines_keep_to_a_hundred_columns() {
    for (name, line) in lines().into_iter().filter(|(_, line)| !line.starts_with("stored in")) {
        assert!(line.chars().count() <= 100 || name.contains("the_list"), "{name}: {line}");
    }
}
