//! The binary, with a store of its own.

pub mod alone;
pub mod measured;
pub mod proofs;
pub mod ratios;
pub mod shares;
#[cfg(feature = "postgres")]
pub mod template;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

pub struct Mindful {
    store: tempfile::TempDir,
}

impl Mindful {
    pub fn new() -> Self {
        Self { store: tempfile::tempdir().unwrap() }
    }

    /// Where runs are stored, and where commands run.
    pub fn folder(&self) -> &Path {
        self.store.path()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mindful"));
        command.args(args).current_dir(self.folder()).env("MINDFUL_STORE", self.folder()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }
}

/// Waits until `child` has a handler for SIGINT: a signal before that ends it as it ends any process.
pub fn wait_for_handlers(child: &Child) {
    const SIGINT: u64 = 1 << 1;
    let begun = Instant::now();
    loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok());
        if caught.is_some_and(|caught| caught & SIGINT != 0) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "it has no handler of signals: {status}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether the host of a step had next to no CPU left: of what the hypervisor left it, most was used.
pub fn host_was_full(step: &Value) -> bool {
    let share = |name: &str| step["cpu"][name].as_f64();
    let left = 1.0 - share("steal_share").unwrap_or(0.0);
    share("host_busy_share").is_some_and(|busy| busy > 0.85 * left)
}

/// Pauses of a run that leaves the CPUs to others: what is not about full speed has them.
pub const PAUSES: [&str; 2] = ["--think-time", "50ms..50ms"];

/// The arguments of a short run: those given take the place of these.
pub fn short_run<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["run", "--format", "json"];
    for (flag, value) in
        [("--schemas", "2"), ("--scale", "16MiB"), ("--sessions", "2"), ("--warmup", "500ms"), ("--duration", "2s")]
    {
        let fixed_work = flag == "--duration" && args.contains(&"--ops");
        if !args.contains(&flag) && !fixed_work {
            all.extend([flag, value]);
        }
    }
    all.extend(args);
    all
}

pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// The one line of a refusal with exit code 2.
pub fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(output.stdout.is_empty() && text.lines().count() == 1, "{output:?}");
    text
}
