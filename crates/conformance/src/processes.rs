//! Processes of a private server, and processes that own one for a test and are killed.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Far beyond any guard's patience.
const PATIENCE: Duration = Duration::from_mins(1);

pub fn working_in(folder: &Path) -> Vec<i32> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let works_there = |pid: &i32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&folder));
    all().filter(works_there).collect()
}

/// Waits until all have ended; returns how long that took.
///
/// # Errors
///
/// Those that are left after a minute.
pub fn gone(folder: &Path) -> Result<Duration, Vec<i32>> {
    let began = Instant::now();
    loop {
        let left = working_in(folder);
        if left.is_empty() {
            return Ok(began.elapsed());
        }
        if began.elapsed() > PATIENCE {
            return Err(left);
        }
        // Reading every process takes a millisecond of CPU.
        thread::sleep(Duration::from_millis(50));
    }
}

pub fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// The guard of the private server with its data in `folder`, and the guard's watcher: the server's parent, and that
/// parent's other child.
pub fn guards(folder: &Path) -> Vec<i32> {
    let stat = |pid: i32| fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let parent =
        |pid: i32| stat(pid).rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse::<i32>().ok());
    let is_guard =
        |pid: &i32| fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("mindful-guard"));
    let Some(guard) = working_in(folder).into_iter().filter_map(parent).find(is_guard) else { return Vec::new() };
    all().filter(|pid| (*pid == guard || parent(*pid) == Some(guard)) && is_guard(pid)).collect()
}

fn all() -> impl Iterator<Item = i32> {
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    fs::read_dir("/proc").unwrap().flatten().filter_map(number)
}

/// One test of this program in a process of its own, which holds a private server.
#[derive(Debug)]
pub struct Owner {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Owner {
    /// Starts the test `owner` of the module that `module_path!` names. It gets its folder in `variable`.
    pub fn start(module: &str, variable: &str, folder: &Path) -> Self {
        let (_program, module) = module.split_once("::").unwrap();
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", &format!("{module}::owner"), "--nocapture"])
            .env(variable, folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    pub fn wait_for(&mut self, word: &str) {
        let mut lines = (&mut self.output).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains(word)), "the owner ended before `{word}`");
    }

    /// Kills it alone.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// How long it takes until it prints a line with `word`. It is killed then.
    pub fn time_until(mut self, word: &str) -> Duration {
        let began = Instant::now();
        self.wait_for(word);
        self.kill();
        began.elapsed()
    }

    /// Its output since the last wait, after it is killed.
    pub fn printed(self) -> impl Iterator<Item = String> {
        self.output.lines().map_while(Result::ok)
    }
}
