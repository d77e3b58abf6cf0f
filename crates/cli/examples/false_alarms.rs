//! Frequency of SUSPECT runs, on a quiet host and next to disturbances, with their first finding: `cargo run --release
//! -p mindful --features benchmarks --example false_alarms -- runs=100,50,50,50 sessions=8,64 seconds=10 warmup=1
//! folder=/tmp/mindful-false-alarms`. Each of these arguments may be omitted.
//!
//! It runs the release binary on a private server in the folder, which it starts once and keeps warm. For each of the
//! `sessions` there are four rows: a quiet host; a loop that keeps one CPU busy; a job of half as many sessions that
//! reads the same disk past the page cache; and both. `runs` is the number of runs of each. Rows take turns, so an
//! interrupted call has some runs of each. The host must be quiet otherwise. Each run adds a line with its findings to
//! `runs.tsv` in the folder, and `table.md` is the table so far. A call with the same folder and arguments continues
//! it.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a table for a person")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use mindful_analyze::stats::distribution::rate_interval;
use mindful_core::contract::event::{Events, Silent};
use mindful_core::plan::settings::{Origin, Settings};
use mindful_postgres::private::{self, DATABASE, Instance, KEYS, PORT, USER};
use serde_json::Value;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

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

    /// Correct codes for it: a reader at full speed uses a CPU, too, and stolen time is the kernel's own count.
    const fn true_of_it(self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &["cpu-steal"],
            Self::Cpu => &["cpu-steal", "foreign-cpu"],
            Self::Disk | Self::Both => &["cpu-steal", "foreign-cpu", "foreign-reads"],
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

struct Asked {
    runs: [u32; 4],
    sessions: Vec<u32>,
    seconds: u32,
    warmup: u32,
    folder: PathBuf,
}

impl Asked {
    fn new(arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let folder = PathBuf::from("/tmp/mindful-false-alarms");
        let mut asked = Self { runs: [100, 50, 50, 50], sessions: vec![8, 64], seconds: 10, warmup: 1, folder };
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

    /// The first line of `runs.tsv`: the common parameters of one table.
    fn title(&self) -> String {
        format!("run\tsessions\tbeside\tfirst\twarnings of {} s after {} s", self.seconds, self.warmup)
    }

    fn rows(&self) -> impl Iterator<Item = (u32, Beside)> {
        self.sessions.iter().flat_map(|sessions| Beside::ALL.map(|beside| (*sessions, beside)))
    }

    /// Rows of the table that need a run more, in the turn that they take.
    fn due(&self, reported: &[Reported]) -> Vec<(u32, Beside)> {
        let counted = |row: (u32, Beside)| reported.iter().filter(|run| run.row() == row).count();
        self.rows().filter(|row| counted(*row) < self.runs[row.1 as usize] as usize).collect()
    }
}

struct Reported {
    sessions: u32,
    beside: Beside,
    /// Codes of its warnings and errors, the first first.
    warnings: Vec<String>,
}

impl Reported {
    fn row(&self) -> (u32, Beside) {
        (self.sessions, self.beside)
    }

    /// The hypervisor gave the CPUs to others: this host was not as quiet as intended.
    fn stolen(&self) -> bool {
        self.warnings.iter().any(|code| code == "cpu-steal")
    }

    fn named(&self) -> bool {
        self.beside.codes().iter().all(|code| self.warnings.iter().any(|found| found == code))
    }

    /// An untrue finding precedes those that name the whole disturbance; without a disturbance, any untrue finding.
    fn false_before(&self) -> bool {
        let names = |code: &String| self.beside.codes().contains(&code.as_str());
        let until = self.warnings.iter().rposition(names).unwrap_or(self.warnings.len());
        self.warnings.iter().take(until).any(|code| !self.beside.true_of_it().contains(&code.as_str()))
    }

    /// The run in `line`; `None` for an incomplete line.
    fn of(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, sessions, beside, _, warnings] = fields[..] else { return None };
        let beside = Beside::ALL.into_iter().find(|known| known.name() == beside)?;
        let warnings = warnings.split_whitespace().map(str::to_owned).collect();
        Some(Self { sessions: sessions.parse().ok()?, beside, warnings })
    }

    fn line(&self, number: usize) -> String {
        let first = self.warnings.first().map_or("-", String::as_str);
        format!("{number}\t{}\t{}\t{first}\t{}", self.sessions, self.beside.name(), self.warnings.join(" "))
    }
}

/// The table of docs/method-statistics.md over the runs so far.
fn table(asked: &Asked, reported: &[Reported]) -> String {
    let mut text =
        "| sessions | disturbance | runs | on stolen CPUs | SUSPECT or worse | named | something false before it |\n"
            .to_owned();
    text.push_str("|---|---|---|---|---|---|---|\n");
    for (sessions, beside) in asked.rows() {
        let row: Vec<&Reported> = reported.iter().filter(|run| run.row() == (sessions, beside)).collect();
        let share = |what: &dyn Fn(&Reported) -> bool| {
            let count = row.iter().filter(|run| what(run)).count();
            let percent = |share: f64| 100.0 * share;
            rate_interval(count as u64, row.len() as u64).map_or("-".to_owned(), |rate| {
                let (low, high) = (percent(rate.low), percent(rate.high));
                format!("{count} ({:.0} %, {low:.0} to {high:.0})", percent(count as f64 / row.len() as f64))
            })
        };
        let named = if beside == Beside::Nothing { "-".to_owned() } else { share(&Reported::named) };
        let (suspect, before) = (share(&|run| !run.warnings.is_empty()), share(&Reported::false_before));
        let (beside, runs, stolen) = (beside.name(), row.len(), row.iter().filter(|run| run.stolen()).count());
        let _ = writeln!(text, "| {sessions} | {beside} | {runs} | {stolen} | {suspect} | {named} | {before} |");
    }
    text
}

fn main() -> Outcome<()> {
    let asked = Asked::new(std::env::args().skip(1))?;
    std::fs::create_dir_all(&asked.folder)?;
    let mut reported = stored(&asked)?;
    let mut lines = std::fs::File::create(asked.folder.join("runs.tsv"))?;
    writeln!(lines, "{}", asked.title())?;
    for (at, run) in reported.iter().enumerate() {
        writeln!(lines, "{}", run.line(at + 1))?;
    }
    let server = Server::start(&asked.folder)?;
    // Data that is made only once is not measured: the dataset, and the file of the disturbance.
    run(&asked, &server, 8, Beside::Disk)?;
    let mut due = asked.due(&reported);
    while !due.is_empty() {
        for (sessions, beside) in due {
            reported.push(Reported { sessions, beside, warnings: run(&asked, &server, sessions, beside)? });
            let line = reported.last().map(|run| run.line(reported.len())).unwrap_or_default();
            writeln!(lines, "{line}")?;
            eprintln!("{line}");
            std::fs::write(asked.folder.join("table.md"), table(&asked, &reported))?;
        }
        due = asked.due(&reported);
    }
    print!("{}", table(&asked, &reported));
    Ok(())
}

/// The runs that an earlier start of the same arguments left.
fn stored(asked: &Asked) -> Outcome<Vec<Reported>> {
    let path = asked.folder.join("runs.tsv");
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(Vec::new()) };
    let mut lines = text.lines();
    if lines.next() != Some(asked.title().as_str()) {
        return Err(format!("{} is of runs of another length: give another folder", path.display()).into());
    }
    Ok(lines.filter_map(Reported::of).collect())
}

/// The private server of a default run, kept for all of them.
struct Server(Instance);

impl Server {
    fn start(folder: &Path) -> Outcome<Self> {
        let mut settings = Settings::defaults(KEYS);
        settings.set("data_dir", folder.join("private").to_string_lossy(), Origin::Default);
        Ok(Self(private::open(&private::Options::parse(&settings)?, 0, &(Arc::new(Silent) as Arc<dyn Events>))?))
    }

    fn url(&self) -> String {
        let folder = self.0.socket_folder().display().to_string().replace('/', "%2F");
        format!("postgresql://{USER}@{folder}:{PORT}/{DATABASE}")
    }
}

/// Codes of the warnings and errors of one run, as they are reported.
fn run(asked: &Asked, server: &Server, sessions: u32, beside: Beside) -> Outcome<Vec<String>> {
    let folder = asked.folder.as_path();
    let mut background = Vec::new();
    if matches!(beside, Beside::Cpu | Beside::Both) {
        // It has a separate session, because the kernel may share CPU by session. It ends with this program on every
        // path.
        let mut busy = Command::new("setsid");
        busy.args(["sh", "-c", "while kill -0 $PPID; do :; done"]).stderr(Stdio::null());
        background.push(Background(busy.spawn()?));
    }
    if matches!(beside, Beside::Disk | Beside::Both) {
        background.push(reader(folder, sessions / 2)?);
    }
    let (sessions, duration, warmup) =
        (sessions.to_string(), format!("{}s", asked.seconds), format!("{}s", asked.warmup));
    let mut command = mindful(folder)?;
    command.args(["run", "--format", "json", "--target", &server.url()]);
    let output = command.args(["--sessions", &sessions, "--duration", &duration, "--warmup", &warmup]).output()?;
    drop(background);
    let reported: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let findings = reported["findings"].as_array().ok_or("a run without findings")?;
    let grave = findings.iter().filter(|finding| finding["severity"] != "info");
    Ok(grave.filter_map(|finding| Some(finding["code"].as_str()?.to_owned())).collect())
}

/// Reads a file of the same disk by so many sessions, past the page cache.
fn reader(folder: &Path, sessions: u32) -> Outcome<Background> {
    let target = format!("raw:{}", folder.join("other").display());
    let (sessions, mut command) = (sessions.max(1).to_string(), mindful(folder)?);
    command.args(["run", "--target", &target, "--schemas", "1", "--scale", "256MiB", "--sessions", &sessions]);
    command.args(["--warmup", "0s", "--duration", "10m"]).stdout(Stdio::null()).stderr(Stdio::null());
    // It begins while the measured run connects and warms up. The very first time, which does not count, it writes its
    // file.
    Ok(Background(command.spawn()?))
}

/// The binary that was built with this example, with a separate store.
fn mindful(folder: &Path) -> Outcome<Command> {
    let example = std::env::current_exe()?;
    let binary = example.parent().and_then(Path::parent).ok_or("no folder of binaries")?.join("mindful");
    let mut command = Command::new(binary);
    command.env("MINDFUL_STORE", folder.join("store")).current_dir(folder).stdin(Stdio::null());
    Ok(command)
}
