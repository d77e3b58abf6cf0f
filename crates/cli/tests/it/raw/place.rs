//! A folder with files to measure, and `mindful` in it.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::mindful::host_was_full;

/// Pages that a file of someone else holds.
const FOREIGN_BYTES: usize = 16 << 20;
/// Short points: what is tested are not the rates.
pub const SHORT: [&str; 6] = ["--duration", "300ms", "--warmup", "100ms", "--large-size", "64KiB"];

pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// On a file system with O_DIRECT, which that of /tmp need not have.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn mindful(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mindful"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("MINDFUL_STORE", self.path("store")).output().unwrap()
    }

    /// A file that mindful made, as the bare argument.
    pub fn made(&self) -> String {
        let path = self.path("blocks").display().to_string();
        let loaded = self.mindful(&["load", "--target", &format!("raw:{path}"), "--schemas", "1", "--scale", "32MiB"]);
        assert!(loaded.status.success(), "{loaded:?}");
        path
    }

    /// A file that mindful did not make.
    pub fn foreign(&self) -> PathBuf {
        let path = self.path("foreign");
        let bytes: Vec<u8> = (0..FOREIGN_BYTES as u64).map(|at| (at.wrapping_mul(0x9E37_79B9) >> 13) as u8).collect();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub fn raw(&self, path: &str, args: &[&str]) -> Value {
        self.json(&[&["raw", path, "--format", "json"], &SHORT[..], args].concat())
    }

    /// What a command with `--format json` tells.
    pub fn json(&self, args: &[&str]) -> Value {
        let output = self.mindful(args);
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {output:?}"))
    }

    pub fn shown(&self) -> String {
        String::from_utf8(self.mindful(&["show", "--full"]).stdout).unwrap()
    }

    pub fn runs(&self) -> usize {
        fs::read_dir(self.path("store/runs")).map_or(0, Iterator::count)
    }
}

/// Exit code and the one line that says why.
pub fn refused(output: &Output) -> (i32, String) {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(output.stdout.is_empty(), "{output:?}");
    assert_eq!(text.trim_end().lines().count(), 1, "one line: {text}");
    (output.status.code().unwrap(), text)
}

pub fn steps(summary: &Value) -> &Vec<Value> {
    summary["steps"].as_array().unwrap()
}

/// Whether others left the session of a step no CPU, or so little that nobody could count.
pub fn disturbed(step: &Value) -> bool {
    step["cpu"]["host_busy_share"].is_null() || host_was_full(step)
}

/// Makes sure of `check` for what `measure` gives; where others disturbed it and it does not hold, for what is measured
/// then: what is compared are figures. The third stands as it is.
pub fn undisturbed(measure: impl Fn() -> Value, check: impl Fn(&Value)) {
    for _ in 0..2 {
        let measured = measure();
        let Err(failed) = catch_unwind(AssertUnwindSafe(|| check(&measured))) else { return };
        if !steps(&measured).iter().any(disturbed) {
            resume_unwind(failed);
        }
    }
    check(&measure());
}

pub fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value["point"]["values"][key].as_str().unwrap()
}
