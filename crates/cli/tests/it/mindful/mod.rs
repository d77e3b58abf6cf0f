//! The binary in a folder of its own: how tests start it, and read its runs.
//!
//! A command line is a text, as one would type it, or a list of words. A test names only the arguments that matter to it.
//! [`null`] and [`short_run`] add those of a small run; an argument that the test gives takes the place of theirs.

#[cfg(feature = "postgres")]
pub(crate) mod private;
pub(crate) mod processes;
pub(crate) mod proofs;
pub(crate) mod quiet;
pub(crate) mod report;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(crate) mod small_disk;
pub(crate) mod terminal;
#[cfg(all(feature = "postgres", feature = "raw"))]
pub(crate) mod users_server;
mod words;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use self::quiet::Quiet;
pub(crate) use self::words::Words;

pub(crate) struct Mindful {
    folder: TempDir,
    store: PathBuf,
    _quiet: Option<Quiet>,
}

impl Mindful {
    /// With its store in the folder in which commands run.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { store: folder.path().to_owned(), folder, _quiet: None }
    }

    /// In a folder of the caller's choice, with a store in it.
    pub(crate) fn at(folder: TempDir) -> Self {
        Self { store: folder.path().join("store"), folder, _quiet: None }
    }

    /// On a file system with `O_DIRECT` and a device below it, which `/tmp` may lack.
    pub(crate) fn on_disk() -> Self {
        Self::at(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    /// The same as [`Self::at`], once no other test measures or works. For tests in a module `alone`.
    pub(crate) fn alone(folder: TempDir) -> Self {
        Self { _quiet: Some(Quiet::wait()), ..Self::at(folder) }
    }

    /// The same as [`Self::at`] while others work too. For tests that keep the machine busy and compare no figures.
    pub(crate) fn beside_others(folder: TempDir) -> Self {
        Self { _quiet: Some(Quiet::beside()), ..Self::at(folder) }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.store.join("runs")
    }

    pub(crate) fn run_folder(&self, run: &Value) -> PathBuf {
        self.runs().join(id(run))
    }

    /// The record of a run.
    pub(crate) fn log(&self, run: &Value) -> PathBuf {
        self.run_folder(run).join("run.jsonl")
    }

    pub(crate) fn record(&self, run: &Value) -> String {
        std::fs::read_to_string(self.log(run)).unwrap()
    }

    /// Everything that the runs of the store have recorded so far.
    pub(crate) fn records(&self) -> String {
        let runs = std::fs::read_dir(self.runs()).into_iter().flatten().flatten();
        runs.filter_map(|run| std::fs::read_to_string(run.path().join("run.jsonl")).ok()).collect()
    }

    /// The number of runs in the store.
    pub(crate) fn count_runs(&self) -> usize {
        self.runs().read_dir().map_or(0, Iterator::count)
    }

    pub(crate) fn command(&self, args: impl Words) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mindful"));
        command.args(args.words());
        self.at_home(command)
    }

    pub(crate) fn at_home(&self, mut command: Command) -> Command {
        command.current_dir(self.folder()).env("MINDFUL_STORE", &self.store).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: impl Words) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a command that must exit with 0.
    pub(crate) fn succeed(&self, args: impl Words) -> Output {
        let output = self.run(args);
        assert!(output.status.success(), "{output:?}");
        output
    }

    /// Starts a command without reading its output.
    pub(crate) fn start(&self, args: impl Words) -> Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Starts a command without reading its output; [`Self::says`] returns its messages.
    pub(crate) fn start_telling(&self, args: impl Words) -> Child {
        let says = std::fs::File::create(self.path("says")).unwrap();
        self.command(args).stdout(Stdio::null()).stderr(says).spawn().unwrap()
    }

    /// The messages of the last command of [`Self::start_telling`], so far.
    pub(crate) fn says(&self) -> String {
        std::fs::read_to_string(self.path("says")).unwrap_or_default()
    }

    /// Starts a command whose output is read later.
    pub(crate) fn start_piped(&self, args: impl Words) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The standard output of a command. It may find a run invalid (1) or a gate crossed (4), but must not fail.
    pub(crate) fn text(&self, args: impl Words) -> String {
        text(&self.run(args))
    }

    pub(crate) fn json(&self, args: impl Words) -> Value {
        json(&self.run((args, "--format json")))
    }

    pub(crate) fn refusal(&self, args: impl Words) -> String {
        refused(&self.run(args))
    }

    /// A command prints all `parts`, which have `…` between them.
    pub(crate) fn shows(&self, args: impl Words, parts: impl AsRef<str>) {
        assert_has_all(&self.text(&args), parts.as_ref(), &args);
    }

    /// A command is refused in one line that contains all `parts`.
    pub(crate) fn refuses(&self, args: impl Words, parts: impl AsRef<str>) {
        assert_has_all(&self.refusal(&args), parts.as_ref(), &args);
    }

    /// The same for commands, each with its parts.
    pub(crate) fn refuses_all<A: Words>(&self, rows: impl IntoIterator<Item = (A, &'static str)>) {
        rows.into_iter().for_each(|(args, parts)| self.refuses(args, parts));
    }

    /// The summary of a run on the null engine.
    pub(crate) fn measured(&self, args: impl Words) -> Value {
        self.json(null("run", args))
    }

    /// A library made of `source`, in C, for LD_PRELOAD.
    pub(crate) fn library(&self, source: &str) -> PathBuf {
        let (code, library) = (self.path("library.c"), self.path("library.so"));
        std::fs::write(&code, source).unwrap();
        let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &code]).status().unwrap();
        assert!(made.success(), "no library of {source}");
        library
    }

    /// All events of the latest run.
    pub(crate) fn events(&self) -> Vec<Value> {
        json_lines(&self.text("export latest --as jsonl"))
    }
}

/// Waits until `holds` does; fails with `what` after five minutes: a busy host is slow.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(5);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Whether the host of a step had almost no CPU left, not counting stolen time.
pub(crate) fn host_was_full(step: &Value) -> bool {
    let share = |name: &str| step["cpu"][name].as_f64();
    let left = 1.0 - share("steal_share").unwrap_or(0.0);
    share("host_busy_share").is_some_and(|busy| busy > 0.85 * left)
}

/// Pauses of a run that leaves the CPUs to others. Every test that does not need full speed uses them.
pub(crate) const PAUSES: &str = "--think-time 50ms..50ms";

pub(crate) const HOOKS: [&str; 3] =
    ["--hook-before=echo $MINDFUL_PHASE", "--hook-after=echo $MINDFUL_PHASE", "--hook-end=echo $MINDFUL_PHASE"];

pub(crate) fn assert_hooks_ran(folder: &Path) {
    for phase in ["before", "after", "end"] {
        let output = std::fs::read_to_string(folder.join(format!("hook-{phase}.out"))).unwrap();
        assert_eq!(output, format!("{phase}\n"));
    }
}

/// `verb` on the null engine; its operations pause for a millisecond instead of using a CPU.
pub(crate) fn null(verb: &str, args: impl Words) -> Vec<String> {
    with_defaults(verb, "--target null: --scale 1000 --null-latency 1ms --warmup 0s --duration 1s", args)
}

/// A short run on a real engine, with its summary as JSON.
pub(crate) fn short_run(args: impl Words) -> Vec<String> {
    let short = "--format json --schemas 2 --scale 16MiB --sessions 2 --warmup 500ms --duration 2s";
    with_defaults("run", short, args)
}

/// `verb` with `args`, and with those of `defaults` that `args` do not set or exclude.
fn with_defaults(verb: &str, defaults: &str, args: impl Words) -> Vec<String> {
    let args = args.words();
    let given = |flag: &str| args.iter().any(|arg| arg.split('=').next() == Some(flag));
    let excluded = |flag: &str| flag == "--duration" && given("--ops") || flag == "--warmup" && given("--steady");
    let defaults = defaults.words();
    let added = defaults.chunks(2).filter(|default| !given(&default[0]) && !excluded(&default[0]));
    [verb.to_owned()].into_iter().chain(added.flatten().cloned()).chain(args.clone()).collect()
}

pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// The values of a text with one in each line.
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn text(output: &Output) -> String {
    assert!(matches!(output.status.code(), Some(0 | 1 | 4)), "{output:?}");
    printed(output)
}

/// The standard output of a command, whatever its exit code.
pub(crate) fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Standard output and standard error.
pub(crate) fn whole(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// The one line of a refusal with exit code 2.
pub(crate) fn refused(output: &Output) -> String {
    refused_with(2, output)
}

pub(crate) fn refused_with(code: i32, output: &Output) -> String {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let line = message(output);
    assert!(output.stdout.is_empty() && line.lines().count() == 1, "{output:?}");
    line
}

/// `text` with a single space at each end of a line or a column.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Changes each event of a record.
pub(crate) fn edit_record(log: &Path, edit: impl Fn(&mut Value)) {
    let edited = json_lines(&std::fs::read_to_string(log).unwrap()).into_iter().map(|mut event| {
        edit(&mut event);
        format!("{event}\n")
    });
    std::fs::write(log, edited.collect::<String>()).unwrap();
}

/// `text` contains all `parts`, which have `…` between them.
#[track_caller]
pub(crate) fn assert_has(text: impl AsRef<str>, parts: impl AsRef<str>) {
    assert_has_all(text.as_ref(), parts.as_ref(), "");
}

/// The same for the output of `args`.
#[track_caller]
fn assert_has_all(text: &str, parts: &str, args: impl Words) {
    let lacking: Vec<_> = parts.split('…').filter(|part| !text.contains(part)).collect();
    assert!(lacking.is_empty(), "no {lacking:?} {}: {text}", args.words().join(" "));
}

/// The cell of a CSV below `title`, in row `row` after the titles. Commas within quotes do not separate cells.
pub(crate) fn cell(csv: &str, row: usize, title: &str) -> String {
    let unquoted = |(at, part): (usize, &str)| if at % 2 == 1 { part.replace(',', ";") } else { part.to_owned() };
    let csv: String = csv.split('"').enumerate().map(unquoted).collect();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{csv}");
    let column = rows[0].iter().position(|name| *name == title).unwrap_or_else(|| panic!("no {title}: {csv}"));
    rows[row][column].to_owned()
}

/// Whether a command came to its end. A busy host may make a run invalid, which most tests accept.
pub(crate) fn ended(output: &Output) -> bool {
    matches!(output.status.code(), Some(0 | 1))
}

pub(crate) fn id(summary: &Value) -> &str {
    summary["id"].as_str().unwrap_or_else(|| panic!("no id: {summary:#}"))
}

pub(crate) fn codes(summary: &Value) -> Vec<&str> {
    let findings = summary["findings"].as_array().unwrap_or_else(|| panic!("no findings: {summary:#}"));
    findings.iter().filter_map(|finding| finding["code"].as_str()).collect()
}

/// The findings of that code.
pub(crate) fn findings<'a>(summary: &'a Value, code: &str) -> Vec<&'a Value> {
    let findings = summary["findings"].as_array().unwrap_or_else(|| panic!("no findings: {summary:#}"));
    findings.iter().filter(|finding| finding["code"] == code).collect()
}

pub(crate) fn steps(summary: &Value) -> &Vec<Value> {
    summary["steps"].as_array().unwrap_or_else(|| panic!("no steps: {summary:#}"))
}

pub(crate) fn figure(values: &Value, name: &str) -> f64 {
    values[name].as_f64().unwrap_or_else(|| panic!("{name} is not known: {values:#}"))
}

/// The folder of a stored run of format 1.
pub(crate) fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format-1").join(name)
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
