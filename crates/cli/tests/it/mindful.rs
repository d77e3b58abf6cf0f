//! The binary, with a store of its own.

pub mod alone;
pub mod measured;
pub mod proofs;
pub mod ratios;
pub mod shares;
#[cfg(feature = "postgres")]
pub mod template;

use std::path::Path;
use std::process::{Command, Output, Stdio};

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

/// The arguments of a short run: those given take the place of these.
pub fn short_run<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["run", "--format", "json"];
    for (flag, value) in
        [("--schemas", "2"), ("--scale", "16MiB"), ("--sessions", "2"), ("--warmup", "500ms"), ("--duration", "2s")]
    {
        if !args.contains(&flag) {
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
