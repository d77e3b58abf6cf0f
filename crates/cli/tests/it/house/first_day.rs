//! The twelve jobs of docs/first-day.md: each command is run unchanged, and prints the output below it.

use std::fs;
use std::path::Path;
use std::process::Command;

use mindful_conformance::place;

use crate::house::text;
use crate::made::{Dress, showcase};
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, message, printed};

/// The test's values in place of minutes and gigabytes: a variable for each flag.
const SHORT: [(&str, &str); 6] = [
    ("MINDFUL_DURATION", "1s"),
    ("MINDFUL_WARMUP", "200ms"),
    ("MINDFUL_SCALE", "16MiB"),
    ("MINDFUL_SCHEMAS", "1"),
    ("MINDFUL_DEVICE_TRACE", "off"),
    ("MINDFUL_THINK_TIME", "20ms..20ms"),
];

/// A comparison uses only its plans, not the environment.
const PAUSED: &str = "think_time = \"20ms..20ms\"\n";

/// A block of the page: what follows its opening marks, and its lines.
struct Block {
    kind: String,
    text: String,
}

fn page() -> Vec<Block> {
    let text = text("docs/first-day.md");
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            inside = !inside;
            if inside {
                blocks.push(Block { kind: kind.to_owned(), text: String::new() });
            }
        } else if inside && let Some(block) = blocks.last_mut() {
            block.text += line;
            block.text.push('\n');
        }
    }
    blocks
}

#[test]
fn each_command_of_the_first_day_prints_the_output_on_the_page() {
    let mindful = Mindful::beside_others(place());
    let server = UsersServer::at(&mindful.path("users"), "shared_buffers=16MB");
    server.sql("CREATE DATABASE bench");
    let url = server.admit(&mindful, "mindful_bench");
    let url = format!("{}/bench", url.rsplit_once('/').unwrap().0);
    old_records(&mindful);
    let (blocks, mut printed) = (page(), String::new());
    assert!(blocks.iter().filter(|block| block.kind == "sh").count() >= 15, "commands of twelve jobs");
    for block in blocks {
        match block.kind.split_once(' ') {
            Some(("toml", name)) => {
                let pause = if block.text.contains("data_dir") { PAUSED } else { "" };
                fs::write(mindful.path(name), format!("{}{pause}", block.text)).unwrap();
            }
            None if block.kind == "sh" => printed = shell(&mindful, &url, &block.text),
            None if block.kind == "text" => shows(&block.text, &printed),
            _ => assert!(block.text.starts_with("export "), "no command: {}", block.text),
        }
        if block.text.contains("grants.sql") {
            server.sql(&fs::read_to_string(mindful.path("grants.sql")).unwrap());
        }
    }
    for file in ["run.html", "run.json", "run.csv"] {
        assert!(fs::metadata(mindful.path(file)).unwrap().len() > 100, "{file}");
    }
}

/// Results from before mindful.
fn old_records(mindful: &Mindful) {
    fs::write(mindful.path("slob.conf"), "UPDATE_PCT=25\nRUN_TIME=300\nSCALE=8M\nWORK_UNIT=16\n").unwrap();
    fs::create_dir(mindful.path("awr")).unwrap();
    fs::write(mindful.path("awr/awr.txt.128"), showcase().report(Dress::Awr12)).unwrap();
}

/// What the commands print on stdout. A busy host may make a run INVALID (1); a gate may be crossed (4).
fn shell(mindful: &Mindful, url: &str, commands: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_mindful")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", commands]).env("PATH", path).env("BENCH", url).env("MINDFUL_DATA_DIR", mindful.path("data"));
    let output = mindful.at_home(shell).envs(SHORT).output().unwrap();
    let errors = message(&output);
    assert!(matches!(output.status.code(), Some(0 | 1 | 4)), "{commands}{errors}");
    assert!(!errors.contains("did you mean") && !errors.contains("panicked"), "{commands}{errors}");
    printed(&output)
}

/// Compares `printed` with what the page shows: all lines in their order, figures and ids aside.
fn shows(page: &str, printed: &str) {
    let mut lines = printed.lines().map(masked);
    for line in page.lines().filter(|line| *line != "…") {
        let expected = masked(line);
        assert!(lines.any(|line| alike(&expected, &line)), "the page shows `{line}`, printed is:\n{printed}");
    }
}

/// A line without the parts that differ between runs: figures, ids, validity, and blanks between columns.
fn masked(line: &str) -> String {
    let mut words: Vec<String> = line.split_whitespace().map(figures).collect();
    if let Some(first) = words.first_mut().filter(|word| ["SUSPECT", "INVALID"].contains(&word.as_str())) {
        "VALID".clone_into(first);
    }
    words.join(" ")
}

fn figures(word: &str) -> String {
    let is_id = word.len() >= 19 && word.as_bytes()[..8].iter().all(u8::is_ascii_digit) && word.contains('-');
    if is_id {
        return word.chars().skip(19).fold("ID".to_owned(), |text, c| text + &c.to_string());
    }
    let mut text = String::new();
    let mut before = ' ';
    for c in word.chars() {
        let part = c.is_ascii_digit() || (before.is_ascii_digit() && matches!(c, ',' | '.' | ':'));
        if !part || !text.ends_with('#') {
            text.push(if part || c == '-' && text.is_empty() { '#' } else { c });
        }
        before = c;
    }
    text.replace("+#", "#").replace("##", "#")
}

/// Whether `line` matches `expected`; `…` matches anything.
fn alike(expected: &str, line: &str) -> bool {
    let parts: Vec<&str> = expected.split('…').map(str::trim).collect();
    let [first, .., last] = parts.as_slice() else { return expected == line };
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    for part in &parts[1..] {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    line.ends_with(last)
}
