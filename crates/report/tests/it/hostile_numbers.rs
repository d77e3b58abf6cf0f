//! Stored runs with corrupted numbers, lines and order: if the reader accepts them, analysis and every report end, in
//! bounded memory, without a panic or an overflow.

use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use mindful_analyze::Analysis;
use mindful_conformance::own_process;
use mindful_core::record::run::{Point, Run};
use mindful_record::read_run;
use mindful_report::export::{csv, json};
use mindful_report::{Detail, Style, explain, heat, html};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rustix::process::{Resource, Rlimit, setrlimit};

const EXTREMES: [&str; 12] = [
    "0",
    "-1",
    "1",
    "0.5",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1e308",
    "-1e308",
    "5e-324",
    "\"NaN\"",
];
/// Memory that the whole test may map, bytes.
const MOST_MEMORY: u64 = 4 << 30;
/// Longest that one run may take: a bound against hangs.
const LONGEST: Duration = Duration::from_mins(2);

/// The lines of two ranks in a run, each on its own target.
const RANKS: [&str; 2] = [
    r#"{"event":"rank","rank":0,"ranks":2,"job":"j","host":"a","first_session":0,"sessions":2,"on_target":{"target":0,"targets":2,"first_rank":0,"ranks":1},"clock_offset_us":0,"clock_within_us":10,"start_us":1790000000000000,"cpus":2.0,"cpu_us":[[0,1000.0],[1,2000.0]]}"#,
    r#"{"event":"rank","rank":1,"ranks":2,"job":"j","host":"b","first_session":2,"sessions":1,"on_target":{"target":1,"targets":2,"first_rank":1,"ranks":1},"clock_offset_us":9,"clock_within_us":10,"start_us":1790000000000001,"cpus":2.0,"cpu_us":[[0,1000.0],[1,2000.0]]}"#,
];

/// The stored runs of format 1, a line each event, and one of them as if made by ranks.
fn runs() -> Vec<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/format-1");
    let read = |name| std::fs::read_to_string(folder.join(name).join("run.jsonl")).unwrap();
    let mut runs: Vec<Vec<String>> =
        ["postgres", "ladder", "job"].map(|name| read(name).lines().map(str::to_owned).collect()).into();
    let mut shared = runs[0].clone();
    let started = shared.iter().position(|line| line.starts_with(r#"{"event":"started""#)).unwrap();
    let behind = started + 1;
    shared.splice(behind..behind, RANKS.map(str::to_owned));
    runs.push(shared);
    runs
}

/// The places of numbers in `line`, outside of texts.
fn numbers(line: &str) -> Vec<std::ops::Range<usize>> {
    let (mut found, mut in_text, mut escaped, mut begin) = (Vec::new(), false, false, None);
    for (at, byte) in line.bytes().enumerate() {
        let part = !in_text && (byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'E'))
            || (begin.is_some() && byte == b'e');
        match (part, begin) {
            (true, None) => begin = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                begin = None;
            }
            _ => {}
        }
        in_text ^= byte == b'"' && !escaped;
        escaped = in_text && byte == b'\\' && !escaped;
    }
    found
}

/// One way to corrupt a run; positions count from the beginning and wrap.
#[derive(Debug, Clone)]
enum Spoil {
    Number(prop::sample::Index, prop::sample::Index, usize),
    /// A number becomes an extreme in all lines of the same shape.
    Everywhere(prop::sample::Index, prop::sample::Index, usize),
    Drop(prop::sample::Index),
    Double(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
}

fn spoil() -> impl Strategy<Value = Spoil> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        4 => (at(), at(), 0..EXTREMES.len()).prop_map(|(a, b, c)| Spoil::Number(a, b, c)),
        4 => (at(), at(), 0..EXTREMES.len()).prop_map(|(a, b, c)| Spoil::Everywhere(a, b, c)),
        1 => at().prop_map(Spoil::Drop),
        1 => at().prop_map(Spoil::Double),
        1 => (at(), at()).prop_map(|(a, b)| Spoil::Swap(a, b)),
    ]
}

fn replace(line: &mut String, number: usize, extreme: usize) {
    if let Some(range) = numbers(line).get(number) {
        line.replace_range(range.clone(), EXTREMES[extreme]);
    }
}

fn apply(lines: &mut Vec<String>, how: &Spoil) {
    if lines.len() < 2 {
        return;
    }
    let count = lines.len();
    match how {
        Spoil::Number(line, number, extreme) | Spoil::Everywhere(line, number, extreme) => {
            let at = line.index(count);
            let number = number.index(numbers(&lines[at]).len().max(1));
            // The beginning of a line, up to its first number, shows its kind.
            let shape = lines[at].split(|c: char| c.is_ascii_digit()).next().unwrap_or_default().to_owned();
            for (other, line) in lines.iter_mut().enumerate() {
                let alike = matches!(how, Spoil::Everywhere(..)) && line.starts_with(&shape);
                if other == at || alike {
                    replace(line, number, *extreme);
                }
            }
        }
        Spoil::Drop(line) => drop(lines.remove(line.index(count))),
        Spoil::Double(line) => {
            let at = line.index(count);
            lines.insert(at, lines[at].clone());
        }
        Spoil::Swap(a, b) => lines.swap(a.index(count), b.index(count)),
    }
}

/// Makes all reports of the run in `file`, if it can be read; returns the length of the texts.
fn report_length(file: &Path) -> Option<usize> {
    let mut run = read_run(file).ok()?;
    let mut analysis = mindful_analyze::analyze(&run);
    let style = Style::default();
    let report = |run: &Run, analysis: &Analysis| mindful_report::run_report(run, analysis, None, Detail::Full);
    let mut all = vec![
        report(&run, &analysis).to_text(&style),
        html::page(&[(&run, &analysis)]),
        csv::steps(&analysis),
        json::summary(&analysis.summary),
        heat::terminal::report(&run, &analysis, &style),
    ];
    // Also the other kinds of reports: of a sweep, and of single steps.
    (analysis.summary.contrast, analysis.summary.io_job) = (None, None);
    all.push(report(&run, &analysis).to_text(&style));
    run.steps.iter_mut().for_each(|step| step.head.point = Point::default());
    all.push(report(&run, &analysis).to_text(&style));
    all.extend(explain::names().filter_map(|name| explain::figure(name, &analysis).ok()));
    Some(all.iter().map(String::len).sum())
}

/// Ends the process if a run is not reported in time, because its thread cannot be ended.
fn watchdog() -> mpsc::Sender<()> {
    let (alive, signs) = mpsc::channel();
    std::thread::spawn(move || {
        loop {
            match signs.recv_timeout(LONGEST) {
                Ok(()) => {}
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    std::io::stderr().write_all(b"a run is not reported in time\n").unwrap();
                    std::process::abort();
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
        }
    });
    alive
}

#[test]
fn no_numbers_or_order_of_a_run_break_its_reports() {
    if !own_process() {
        return;
    }
    let limit = Rlimit { current: Some(MOST_MEMORY), maximum: Some(MOST_MEMORY) };
    setrlimit(Resource::As, limit).unwrap();
    let (folder, runs, alive) = (tempfile::tempdir().unwrap(), runs(), watchdog());
    let file = folder.path().join("run.jsonl");
    for run in &runs {
        std::fs::write(&file, run.join("\n")).unwrap();
        assert!(report_length(&file).is_some(), "what is whole is reported");
    }
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(500);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let spoils = (0..runs.len(), prop::collection::vec(spoil(), 1..6));
    // Always the same cases; PROPTEST_CASES draws more.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&spoils, |(run, spoils)| {
        let mut lines = runs[run].clone();
        for how in &spoils {
            apply(&mut lines, how);
        }
        std::fs::write(&file, lines.join("\n")).unwrap();
        alive.send(()).unwrap();
        let length = report_length(&file).unwrap_or(0);
        prop_assert!(length < 256 << 20, "the reports are {length} bytes long");
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
