//! Ranks of one run as processes, and what they print.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use mindful_conformance::not_run;
use serde_json::Value;

use crate::mindful::{Mindful, Words, json, message, null, printed, wait_until};

/// A small plan without I/O, with ranks that meet in a folder.
const RUN: &str = "-q --sessions 8 --null-latency 10ms --warmup 1s --duration=2s";

pub(crate) fn rank_of(more: impl Words) -> Vec<String> {
    null("run", (RUN, more))
}

pub(crate) struct Ranks {
    pub mindful: Mindful,
    pub meet: String,
}

impl Ranks {
    pub(crate) fn new() -> Self {
        let mindful = Mindful::new();
        let meet = format!("dir:{}", mindful.path("meet").display());
        Self { mindful, meet }
    }

    /// One rank as an indexed Job starts it, with a store of its own.
    pub(crate) fn command(&self, rank: u32, of: u32, more: impl Words) -> Command {
        let mut command = self.mindful.command(rank_of((format!("--ranks {of} --meet {}", self.meet), more)));
        command.env("JOB_COMPLETION_INDEX", rank.to_string()).env("MINDFUL_STORE", self.store(rank));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn store(&self, rank: u32) -> PathBuf {
        self.mindful.path(format!("store-{rank}"))
    }

    pub(crate) fn start(&self, rank: u32, of: u32, more: impl Words) -> Child {
        self.command(rank, of, more).spawn().unwrap()
    }

    /// Waits until the row of a rank contains `text`.
    pub(crate) fn await_row(&self, rank: u32, text: &str) {
        let meet = self.mindful.path("meet");
        let row = || {
            let job = std::fs::read_dir(&meet).ok()?.flatten().find(|job| job.path().is_dir())?;
            std::fs::read_to_string(job.path().join(format!("rank-{rank}"))).ok()
        };
        wait_until(&format!("rank {rank} never says {text}"), || row().is_some_and(|row| row.contains(text)));
    }

    /// Whether the rendezvous is empty, except for a file with which a killed rank probed the time; a later job removes
    /// that.
    pub(crate) fn left_nothing(&self) -> bool {
        let meet = std::fs::read_dir(self.mindful.path("meet")).unwrap();
        meet.flatten().all(|left| left.path().is_file() && left.file_name().to_string_lossy().starts_with(".mindful-"))
    }

    pub(crate) fn part(&self, rank: u32) -> PathBuf {
        parts(&self.store(rank).join("runs")).remove(0)
    }
}

/// The runs in a folder that are parts of one, not merged.
pub(crate) fn parts(runs: &Path) -> Vec<PathBuf> {
    let runs = std::fs::read_dir(runs).unwrap().map(|run| run.unwrap().path());
    let log = |run: &PathBuf| std::fs::read_to_string(run.join("run.jsonl")).unwrap_or_default();
    runs.filter(|run| log(run).matches("\"event\":\"rank\"").count() == 1).collect()
}

/// Exit code, standard output and standard error of a process that ends.
pub(crate) fn outcome(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), printed(&output), message(&output))
}

/// The output of a launcher's four ranks: one run of eight sessions, and a line of each rank but the first.
pub(crate) fn four_ranks_of(output: &Output) -> Value {
    let message = message(output);
    assert!(output.status.success(), "{message}");
    let summary = json(output);
    assert_eq!(sessions_and_ranks(&summary["steps"][0]), (Some(8), Some(4)), "{message}");
    let lines = message.lines().filter(|line| line.contains(" of 4: 2 sessions, "));
    assert_eq!(lines.count(), 3, "each other rank has a line: {message}");
    summary
}

pub(crate) fn sessions_and_ranks(step: &Value) -> (Option<u64>, Option<usize>) {
    (step["sessions"].as_u64(), step["ranks"].as_array().map(Vec::len))
}

pub(crate) fn has_mpirun() -> bool {
    has_program("mpirun", "openmpi-bin")
}

fn has_program(name: &str, package: &str) -> bool {
    let has = Path::new("/usr/bin").join(name).exists();
    if !has {
        not_run(&format!("it needs {name} (Debian: {package})"));
    }
    has
}

pub(crate) fn mpirun(rank: &Command) -> Command {
    let mut mpirun = Command::new("/usr/bin/mpirun");
    mpirun.args(["--oversubscribe", "-n", "4"]);
    mpirun.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    launched(mpirun, rank)
}

/// `launcher` before the program, the arguments, the variables and the folder of `rank`.
pub(crate) fn launched(mut launcher: Command, rank: &Command) -> Command {
    launcher.arg(rank.get_program()).args(rank.get_args());
    launcher.envs(rank.get_envs().filter_map(|(name, value)| Some((name, value?))));
    launcher.current_dir(rank.get_current_dir().unwrap_or(Path::new(".")));
    launcher.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    launcher
}

/// The ranks of one run, started as an indexed Job starts them.
pub(crate) fn start_ranks(mindful: &Mindful, of: u32, args: impl Words) -> Vec<Child> {
    let mut command = mindful.command((args, format!("--ranks {of}")));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    (0..of).map(|rank| command.env("JOB_COMPLETION_INDEX", rank.to_string()).spawn().unwrap()).collect()
}

/// The summary of the first of `children`, which all end with one of `codes`.
pub(crate) fn report_of(children: Vec<Child>, codes: &[i32]) -> Value {
    let all: Vec<_> = children.into_iter().map(outcome).collect();
    assert!(all.iter().all(|(code, ..)| code.is_some_and(|code| codes.contains(&code))), "{all:?}");
    serde_json::from_str(&all[0].1).unwrap()
}

/// A command for `faketime` that sees another time of day. Waits use another clock, which is never set.
pub(crate) fn three_seconds_ahead() -> Option<Command> {
    let mut faketime = Command::new("/usr/bin/faketime");
    faketime.args(["-f", "+3s"]).env("NO_FAKE_STAT", "1");
    faketime.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("DONT_FAKE_MONOTONIC", "1");
    has_program("faketime", "faketime").then_some(faketime)
}
