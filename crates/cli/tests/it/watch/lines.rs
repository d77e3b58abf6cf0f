//! Counters watched without any load.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::mindful::{Mindful, assert_has, json_lines, printed};
use crate::stops::signal;

#[test]
fn each_second_is_a_line_of_rates_and_nothing_is_stored() {
    let mindful = Mindful::new();
    let watch = |args: &str| json_lines(&mindful.text(("watch --target null: --format json", args)));
    let lines = watch("--duration 3s --only client/");
    assert!((2..=4).contains(&lines.len()), "{lines:?}");
    for (number, line) in (1..).zip(&lines) {
        assert_eq!(line["second"], number);
        // The server is idle, so mindful itself needs only a small share of a CPU.
        let cores = line["per_s"]["client/client_cpu"].as_f64().unwrap() / 1e6;
        assert!(cores < 0.5, "{line}");
        assert!(line["per_s"].as_object().unwrap().keys().all(|name| name.contains("client/")), "{line}");
    }
    assert!(!mindful.runs().exists());
    // Its counters have four units: blocks, bytes, microseconds, and counts.
    assert_eq!(watch("--duration 2s --only null/ --top 1")[0]["per_s"].as_object().unwrap().len(), 4);
}

#[test]
fn watch_continues_until_it_is_interrupted() {
    let mindful = Mindful::new();
    let mut command = mindful.command("watch --target null:");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let second = |lines: &mut dyn Iterator<Item = std::io::Result<String>>| {
        lines.map_while(Result::ok).find(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    };
    assert!(second(&mut lines).is_some() && second(&mut lines).is_some());
    let signalled = Instant::now();
    signal(&child, Signal::INT);
    assert!(child.wait().unwrap().success());
    assert!(signalled.elapsed() < Duration::from_secs(30), "{:?}", signalled.elapsed());
}

#[test]
fn a_terminal_shows_a_line_a_second_and_all_when_asked() {
    let mindful = Mindful::new();
    let shown = |args: &str| mindful.text(("watch --target null:", args));
    let line = shown("--duration 2s --interval 500ms");
    let rows: Vec<&str> = line.lines().collect();
    assert!(rows[0].contains(" database -"), "{line}");
    assert!(rows[1].trim_start().starts_with("second") && rows[1].contains("top wait"), "{line}");
    assert!((4..=7).contains(&rows.len()), "{line}");
    let narrow = mindful.command("watch --target null: --duration 1s").env("COLUMNS", "80").output();
    let narrow = printed(&narrow.unwrap());
    assert!(narrow.starts_with("left out: dev MiB/s, dev w/s"), "{narrow}");
    assert_has(shown("--duration 2s --all"), "client/client_cpu");
    mindful.refuses("watch --target null: --interval 1us", "100ms to 1h");
    mindful.refuses("watch --target null: --instance", "engine null has no server with other databases");
}

/// Watch adds no load and starts nothing.
#[cfg(feature = "postgres")]
#[test]
fn watch_starts_no_private_server() {
    let mindful = Mindful::new();
    for target in ["", "--target embedded"] {
        mindful.refuses(("watch --duration 1s", target), "--target URL");
    }
}
