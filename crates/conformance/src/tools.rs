//! Programs that tests run: foreign readers of exported files, and scripts of the tests.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::not_run;

/// The path of a reader from `.ci/tools`; if it is missing, prints a notice and returns `None`.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools").join(name);
    if path.exists() {
        return Some(path);
    }
    not_run(&format!("no target/tools/{name} here: .ci/tools fetches it"));
    None
}

/// The same for one that is a folder, once it is complete.
pub fn whole_tool(name: &str) -> Option<PathBuf> {
    tool(&format!("{name}/.whole"))?.parent().map(Path::to_owned)
}

/// Creates a program from a shell script. Another process writes it: a file written by this one cannot be run (text
/// file busy) while another test's child, forked meanwhile, still has it open.
pub fn write_program(path: &Path, script: &str) {
    let mut install = Command::new("install");
    let mut child = install.args(["-m", "755", "/dev/stdin"]).arg(path).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{}", path.display());
}
