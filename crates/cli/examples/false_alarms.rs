//! How often runs are called SUSPECT, on a quiet host and beside disturbances, and what stands first then:
//! `cargo run --release -p mindful --example false_alarms -- runs=100,50,50,50 sessions=8,64 seconds=10 warmup=3
//! folder=/tmp/mindful-false-alarms`, where each of these may be left away.
//!
//! It runs the release binary beside it on a private server in the folder: as often as `runs` says quiet, beside a loop that
//! keeps one CPU busy, beside a job that reads the same disk past the page cache, and beside both, with each of the
//! `sessions`. Rows take turns, so that one that is cut off has some of each. The host has to be quiet otherwise. After each
//! run `runs.tsv` in the folder has a line more, with what stood first in it, and `table.md` is what is known by then.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a table for a person")]

use std::fmt::Write as _;
use std::io::Write as _;
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

/// What is asked for.
struct Asked {
    /// Of each row of a count of sessions.
    runs: [u32; 4],
    sessions: Vec<u32>,
    seconds: u32,
    warmup: u32,
    folder: PathBuf,
}

impl Asked {
    fn new(arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let folder = PathBuf::from("/tmp/mindful-false-alarms");
        let mut asked = Self { runs: [100, 50, 50, 50], sessions: vec![8, 64], seconds: 10, warmup: 3, folder };
        for argument in arguments {
            let (name, value) = argument.split_once('=').ok_or("give NAME=VALUE")?;
            let list = || value.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>();
            match name {
                "runs" => {
                    let given = list()?;
                    asked.runs = given.try_into().map_err(|_| "runs: quiet, CPU, disk, both")?;
                }
                "sessions" => asked.sessions = list()?,
                "seconds" => asked.seconds = value.parse()?,
                "warmup" => asked.warmup = value.parse()?,
                "folder" => asked.folder = PathBuf::from(value),
                _ => return Err(format!("{name}: runs, sessions, seconds, warmup or folder").into()),
            }
        }
        Ok(asked)
    }

    /// Rows of the table in the turn that they take, each as often as asked.
    fn turns(&self) -> impl Iterator<Item = (u32, Beside)> {
        let rounds = self.runs.iter().copied().max().unwrap_or(0);
        let rows = self.sessions.iter().flat_map(|sessions| Beside::ALL.map(|beside| (*sessions, beside)));
        (0..rounds).flat_map(move |round| {
            rows.clone().filter(move |(_, beside)| round < self.runs[*beside as usize]).collect::<Vec<_>>()
        })
    }
}

/// What one run said.
struct Told {
    sessions: u32,
    beside: Beside,
    /// Codes of its warnings and errors, the first first.
    warnings: Vec<String>,
}

impl Told {
    fn named(&self) -> bool {
        self.beside.codes().iter().all(|code| self.warnings.iter().any(|found| found == code))
    }

    /// Something that is not true stands before what is.
    fn other_first(&self) -> bool {
        self.warnings.first().is_some_and(|first| !self.beside.true_of_it().contains(&first.as_str()))
    }

    fn line(&self, number: usize) -> String {
        let first = self.warnings.first().map_or("-", String::as_str);
        format!("{number}\t{}\t{}\t{first}\t{}", self.sessions, self.beside.name(), self.warnings.join(" "))
    }
}

/// The table of docs/method-statistics.md over the runs so far.
fn table(asked: &Asked, told: &[Told]) -> String {
    let mut text = "| sessions | beside it | runs | SUSPECT or worse | named | something else first |\n".to_owned();
    text.push_str("|---|---|---|---|---|---|\n");
    for (sessions, beside) in asked.sessions.iter().flat_map(|sessions| Beside::ALL.map(|beside| (*sessions, beside))) {
        let row: Vec<&Told> = told.iter().filter(|run| (run.sessions, run.beside) == (sessions, beside)).collect();
        let share = |what: &dyn Fn(&Told) -> bool| match (row.iter().filter(|run| what(run)).count(), row.len()) {
            (_, 0) => "-".to_owned(),
            (count, of) => format!("{count} ({:.0} %)", 100.0 * count as f64 / of as f64),
        };
        let named = if beside == Beside::Nothing { "-".to_owned() } else { share(&Told::named) };
        let (suspect, other) = (share(&|run| !run.warnings.is_empty()), share(&Told::other_first));
        let _ = writeln!(text, "| {sessions} | {} | {} | {suspect} | {named} | {other} |", beside.name(), row.len());
    }
    text
}

fn main() -> Outcome<()> {
    let asked = Asked::new(std::env::args().skip(1))?;
    std::fs::create_dir_all(&asked.folder)?;
    let mut lines = std::fs::File::create(asked.folder.join("runs.tsv"))?;
    writeln!(lines, "run\tsessions\tbeside\tfirst\twarnings")?;
    // What each makes once is not measured: the server and its data, the file that is read beside it.
    run(&asked, 8, Beside::Disk)?;
    let mut told = Vec::new();
    for (sessions, beside) in asked.turns() {
        told.push(Told { sessions, beside, warnings: run(&asked, sessions, beside)? });
        let line = told.last().map(|run| run.line(told.len())).unwrap_or_default();
        writeln!(lines, "{line}")?;
        eprintln!("{line}");
        std::fs::write(asked.folder.join("table.md"), table(&asked, &told))?;
    }
    print!("{}", table(&asked, &told));
    Ok(())
}

/// Codes of the warnings and errors of one run, as they are told.
fn run(asked: &Asked, sessions: u32, beside: Beside) -> Outcome<Vec<String>> {
    let folder = asked.folder.as_path();
    let mut background = Vec::new();
    if matches!(beside, Beside::Cpu | Beside::Both) {
        // A session of its own: the kernel may share CPU out by sessions.
        let mut busy = Command::new("setsid");
        background.push(Background(busy.args(["sh", "-c", "while :; do :; done"]).spawn()?));
    }
    if matches!(beside, Beside::Disk | Beside::Both) {
        background.push(reader(folder)?);
    }
    let (sessions, duration, warmup) =
        (sessions.to_string(), format!("{}s", asked.seconds), format!("{}s", asked.warmup));
    let mut command = mindful(folder)?;
    command.args(["run", "--format", "json", "--data-dir"]).arg(folder.join("private"));
    let output = command.args(["--sessions", &sessions, "--duration", &duration, "--warmup", &warmup]).output()?;
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
    // It begins; the very first time, which does not count, it writes its file.
    std::thread::sleep(std::time::Duration::from_secs(2));
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
