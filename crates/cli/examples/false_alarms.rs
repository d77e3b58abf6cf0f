//! How often runs are called SUSPECT, on a quiet host and beside disturbances, and what stands first then:
//! `cargo run --release -p mindful --example false_alarms -- RUNS SECONDS [FOLDER]`.
//!
//! It runs the release binary beside it on a private server in FOLDER, RUNS times with 8 and with 64 sessions: quiet,
//! beside a loop that keeps one CPU busy, beside a job that reads the same disk past the page cache, and beside both. The
//! host has to be quiet otherwise. The table goes to stdout, each run's first finding to stderr.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a table for a person")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// What is beside a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    Cpu,
    Disk,
    Both,
}

impl Beside {
    const ALL: [Self; 4] = [Self::Nothing, Self::Cpu, Self::Disk, Self::Both];

    const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "quiet",
            Self::Cpu => "a busy CPU",
            Self::Disk => "a reader of the disk",
            Self::Both => "both",
        }
    }

    /// Codes that are true of it: who reads at full speed uses a CPU, too.
    const fn true_of_it(self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &[],
            Self::Cpu => &["foreign-cpu"],
            Self::Disk | Self::Both => &["foreign-cpu", "foreign-reads"],
        }
    }

    /// Codes that have to name it.
    const fn codes(self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &[],
            Self::Cpu => &["foreign-cpu"],
            Self::Disk => &["foreign-reads"],
            Self::Both => &["foreign-cpu", "foreign-reads"],
        }
    }
}

/// A process that is at work until it is dropped.
struct Background(Child);

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [runs, seconds, rest @ ..] = arguments.as_slice() else { return Err("give RUNS SECONDS [FOLDER]".into()) };
    let (runs, seconds): (u32, u32) = (runs.parse()?, seconds.parse()?);
    let folder = rest.first().map_or_else(|| PathBuf::from("/tmp/mindful-false-alarms"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    println!("| sessions | beside it | runs | SUSPECT or worse | named | something else first |");
    println!("|---|---|---|---|---|---|");
    for sessions in [8, 64] {
        for beside in Beside::ALL {
            let (mut suspect, mut named, mut other_first) = (0, 0, 0);
            for _ in 0..runs {
                let warnings = run(&folder, sessions, seconds, beside)?;
                let expected = |code: &String| beside.true_of_it().contains(&code.as_str());
                suspect += u32::from(!warnings.is_empty());
                named += u32::from(beside.codes().iter().all(|code| warnings.iter().any(|found| found == code)));
                other_first += u32::from(warnings.first().is_some_and(|first| !expected(first)));
                eprintln!("{sessions} sessions, {}: {}", beside.name(), warnings.join(" "));
            }
            let percent = |count: u32| format!("{:.0} %", 100.0 * f64::from(count) / f64::from(runs.max(1)));
            let named = if beside == Beside::Nothing { "-".to_owned() } else { percent(named) };
            let (suspect, other_first) = (percent(suspect), percent(other_first));
            println!("| {sessions} | {} | {runs} | {suspect} | {named} | {other_first} |", beside.name());
        }
    }
    Ok(())
}

/// Codes of the warnings and errors of one run, as they are told.
fn run(folder: &Path, sessions: u32, seconds: u32, beside: Beside) -> Outcome<Vec<String>> {
    let mut background = Vec::new();
    if matches!(beside, Beside::Cpu | Beside::Both) {
        // A session of its own: the kernel may share CPU out by sessions.
        let mut busy = Command::new("setsid");
        background.push(Background(busy.args(["sh", "-c", "while :; do :; done"]).spawn()?));
    }
    if matches!(beside, Beside::Disk | Beside::Both) {
        background.push(reader(folder)?);
    }
    let (sessions, duration) = (sessions.to_string(), format!("{seconds}s"));
    let mut command = mindful(folder)?;
    command.args(["run", "--format", "json", "--data-dir"]).arg(folder.join("private"));
    let output = command.args(["--sessions", &sessions, "--duration", &duration]).output()?;
    drop(background);
    let told: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let findings = told["findings"].as_array().ok_or("a run without findings")?;
    let grave = findings.iter().filter(|finding| finding["severity"] != "info");
    Ok(grave.filter_map(|finding| Some(finding["code"].as_str()?.to_owned())).collect())
}

/// Reads a file of the same disk, past the page cache.
fn reader(folder: &Path) -> Outcome<Background> {
    let target = format!("raw:{}", folder.join("other").display());
    let mut command = mindful(folder)?;
    command.args(["run", "--target", &target, "--schemas", "1", "--scale", "256MiB", "--sessions", "4"]);
    command.args(["--warmup", "0s", "--duration", "10m"]).stdout(Stdio::null()).stderr(Stdio::null());
    let child = Background(command.spawn()?);
    // The first time it writes its file.
    std::thread::sleep(std::time::Duration::from_secs(5));
    Ok(child)
}

/// The binary that was built with this example, with a store of its own.
fn mindful(folder: &Path) -> Outcome<Command> {
    let example = std::env::current_exe()?;
    let binary = example.parent().and_then(Path::parent).ok_or("no folder of binaries")?.join("mindful");
    let mut command = Command::new(binary);
    command.env("MINDFUL_STORE", folder.join("store")).current_dir(folder).stdin(Stdio::null());
    Ok(command)
}
