//! Names the source and the profile that the binary was built of, for `--version` and for each stored run.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    let root = Path::new("../..");
    for source in ["crates", "engines", "Cargo.lock", ".git/logs/HEAD"] {
        if root.join(source).exists() {
            println!("cargo::rerun-if-changed=../../{source}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=BUILT_COMMIT={}", commit(root).as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=BUILT_PROFILE={}", profile().as_deref().unwrap_or("unknown"));
}

/// The commit, with a mark if tracked files differ from it. A package has no git but a file that contains it.
fn commit(root: &Path) -> Option<String> {
    if let Ok(text) = std::fs::read_to_string(".cargo_vcs_info.json") {
        let (_, after) = text.split_once("\"sha1\": \"")?;
        return after.get(..12).map(str::to_owned);
    }
    if !root.join(".git").exists() {
        return None;
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", "../../crates", "../../engines"])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}+changes") })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}

/// The profile by its folder, `target/PROFILE/build/CRATE/out`: the variable `PROFILE` has only two values.
fn profile() -> Option<String> {
    let folder = env::var_os("OUT_DIR")?;
    let name = Path::new(&folder).ancestors().nth(3)?.file_name()?.to_str()?.to_owned();
    Some(name)
}
